"""What is left of a damaged store: a mended copy, the events that can be proved, and a new store from them."""
