"""The log port, its backends, and the files that survive a crash."""
