"""The actors, the hub process that runs them, and their interfaces: MCP, JSON-RPC and the command line."""
