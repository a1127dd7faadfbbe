"""What happened: the vocabulary, the fingerprint and the log. Knows nothing above it."""
