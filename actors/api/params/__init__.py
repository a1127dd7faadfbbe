"""Parameters of the operations: types, limits and parsing."""
