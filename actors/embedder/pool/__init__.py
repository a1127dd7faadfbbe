"""Bulk embedding: batches of contents on several threads, processes or machines, in a fixed order."""
