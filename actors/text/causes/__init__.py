"""Causes and effects that a text states."""
