"""Whether questions find their memories: `scripts/bench retrieval`."""
