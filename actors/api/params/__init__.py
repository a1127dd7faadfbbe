"""Parameters of operations: names, types and limits."""
