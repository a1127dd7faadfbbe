"""Projections of goals, workspace, learning, consolidation runs and schedules."""
