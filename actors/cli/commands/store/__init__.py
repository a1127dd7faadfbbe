"""Commands on a store: what happened to it, whether it is intact, its files."""
