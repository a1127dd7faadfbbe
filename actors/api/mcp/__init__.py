"""The MCP face: server, flow control, tool schemas, resources and prompts."""
