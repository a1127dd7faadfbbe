"""Capture: what is worth keeping of a finished session, taken from its transcript by rules."""
