"""Computes the thirteen embeddings of memories and queries."""
