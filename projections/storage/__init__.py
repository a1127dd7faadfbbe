"""Storage of projections: growable arrays, byte strings, lazily loaded arrays, and snapshots."""
