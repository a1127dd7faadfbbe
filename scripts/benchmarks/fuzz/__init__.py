"""Hostile clients: messages from Hypothesis, checks of every answer, and campaigns of any length."""
