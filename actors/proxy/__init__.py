"""Many windows on one store: thin pipes between agents' clients and the one process, the hub, that has the store open.

Nothing here imports the MCP SDK or anything that needs numpy, since that alone would take longer than most answers.
"""
