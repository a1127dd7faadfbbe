"""Exporters: a store's memories for other programs, and its history for another store."""
