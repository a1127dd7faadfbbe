"""The way of memories into the log, and the operations that import many."""
