"""A consolidation run: its steps, its decision, and how it is undone."""
