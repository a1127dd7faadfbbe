"""What statements say: whether one corrects another, and whether two say the same."""
