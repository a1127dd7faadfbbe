"""Shared by all actors: the actor base, typed asks, replies, faults, metrics, settings, snapshot I/O."""
