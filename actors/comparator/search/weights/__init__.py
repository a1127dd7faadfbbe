"""The weights of a search: those of a profile, or of `auto`, which measures the question."""
