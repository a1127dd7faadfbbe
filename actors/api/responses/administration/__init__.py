"""Answers about the log and the store as a whole."""
