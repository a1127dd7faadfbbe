"""Whether corrections supersede what they correct: `scripts/bench corrections`."""
