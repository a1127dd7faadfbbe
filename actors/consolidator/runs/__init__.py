"""Consolidation runs: planned in slices, written in one transaction, undone as a whole."""
