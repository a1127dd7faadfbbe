"""How fast and how large stores are: operations, starts, pages and the index."""
