"""Times that a text names."""
