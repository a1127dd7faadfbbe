"""Time expressions in texts, and calendar intervals."""
