"""What consolidation does to ten thousand memories with known duplicates and low-value texts among them."""
