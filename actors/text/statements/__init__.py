"""What statements say: causes and effects, corrections, and whether two say the same."""
