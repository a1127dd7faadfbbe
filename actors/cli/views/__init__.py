"""Rendering of answers for a terminal."""
