"""The log port, its backends, and files that survive a crash."""
