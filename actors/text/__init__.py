"""Text processing without a model: tokenising, entities, windows, and whether two texts say the same."""
