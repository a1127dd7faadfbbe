"""`scripts/bench causes`: causal edges and paths, and questions about causes."""
