"""Profiles: which model or formula fills each of the thirteen spaces."""
