"""What is left of a store whose processes are killed at any moment, and of one whose files are damaged."""
