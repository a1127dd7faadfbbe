"""Encoders of single spaces, pure functions."""
