"""How many memories a store takes in from its clients, and how soon it answers after a start at any size."""
