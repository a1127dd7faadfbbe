"""Speaks MCP: schemas, tools and the operations behind them."""
