"""The benchmarks that scripts/bench runs; README.md beside this file shows what they measured."""

SEED = 20_261_121
"""Seed of every random choice, unless an option sets another."""
