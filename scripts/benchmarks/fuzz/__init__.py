"""Hostile clients: seeded messages, what must hold for every answer, and a campaign of as many as are asked for."""
