"""Indexes of the embedding spaces."""
