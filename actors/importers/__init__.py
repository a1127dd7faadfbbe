"""Importers: memories from the files of other programs."""
