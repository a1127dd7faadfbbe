"""Integrity checks of a store."""
