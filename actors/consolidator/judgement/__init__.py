"""How much memories matter, which group together, and which are merged."""
