"""Storage of projections: growable arrays, and snapshots."""
