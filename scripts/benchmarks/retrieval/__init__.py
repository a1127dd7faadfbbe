"""How well searches find what answers a question."""
