"""Configuration of MCP clients: where each keeps it, how an entry is added to it and taken out again."""
