"""The only writer of the log, and the keeper of the catalog."""
