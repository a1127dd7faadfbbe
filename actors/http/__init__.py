"""The HTTP server inside the hub: keys, checks of every request, MCP at `/mcp`, pages, metrics."""
