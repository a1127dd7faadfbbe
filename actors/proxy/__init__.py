"""The proxy between each agent's client and the hub, the one process that has the store open.

Nothing here imports the MCP SDK or numpy: their import alone would take longer than most answers.
"""
