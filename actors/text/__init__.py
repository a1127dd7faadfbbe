"""Text processing without a model: tokens, entities, source code, windows, and whether two texts are equivalent."""
