"""Judges new memories, and maintains the global workspace."""
