"""Judges what arrives: learning metrics, Johari windows, purpose."""
