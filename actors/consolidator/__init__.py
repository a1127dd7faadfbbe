"""Consolidator: goals, drift, and consolidation runs that merge, prune, cluster and dream."""
