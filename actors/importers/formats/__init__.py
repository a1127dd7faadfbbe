"""Readers of sources: one module per kind of program."""
