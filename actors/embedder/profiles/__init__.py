"""Profiles: the model or formula of each of the thirteen spaces."""
