"""Projections of goals, attention, learning, consolidation runs and their schedule."""
