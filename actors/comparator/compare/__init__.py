"""Comparing memories with each other: similarity per space, strategies, neighbours."""
