"""How much a store takes in, and how soon it answers when it holds much."""
