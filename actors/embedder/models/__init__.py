"""Neural models: the MiniLM backbone of the embedded profile, and the hub models of the full profile."""
