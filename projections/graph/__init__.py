"""Edges between memories: explicit links, cluster spokes and session order."""
