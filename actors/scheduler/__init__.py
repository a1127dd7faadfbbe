"""Says when the store sleeps: what is due by the log, and what somebody changed of it."""
