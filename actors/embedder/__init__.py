"""Turns content into all thirteen embeddings, or fails."""
