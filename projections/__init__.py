"""What is known: pure folds over events. Imports `events` alone."""
