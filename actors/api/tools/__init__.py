"""The table of operations, and the one dispatcher that runs them."""
