"""Retrieval quality on sets in the BEIR layout: as a whole, by profile, and with each space left out."""
