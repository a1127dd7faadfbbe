"""Edges between memories: paths and neighbourhoods."""
