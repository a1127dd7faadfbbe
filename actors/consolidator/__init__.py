"""Finds what the memories serve, and tidies them in their sleep."""
