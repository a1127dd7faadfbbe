"""The operations on a store; MCP tools, JSON-RPC methods and the command line all run these."""
