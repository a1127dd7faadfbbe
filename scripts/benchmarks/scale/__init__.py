"""How many memories a store takes in through its windows, and how soon it answers after a start at any size."""
