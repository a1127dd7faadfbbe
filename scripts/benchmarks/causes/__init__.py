"""`scripts/bench causes`: causal edges and paths."""
