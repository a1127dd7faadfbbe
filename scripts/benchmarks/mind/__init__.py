"""Whether the mind acts: what was promised of it, measured on a stream of real memories."""
