"""Commands that connect agents and other programs to a store."""
