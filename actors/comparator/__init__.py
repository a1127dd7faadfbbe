"""Finds and compares memories in the thirteen spaces."""
