"""Answers about goals, the global workspace and sleep."""
