"""Answers of searches, comparisons, lists and the graph."""
