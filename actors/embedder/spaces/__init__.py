"""Encoders of single spaces."""
