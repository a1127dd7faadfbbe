"""Neural models: the MiniLM backbone of the embedded profile, the hub models of the full profile."""
