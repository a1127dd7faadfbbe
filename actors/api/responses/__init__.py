"""Answers of operations, as JSON objects.

Field names are the published API of the tools, so they mix `camelCase` and `snake_case` (`fingerprintId`,
`duplicate_of`). They cannot be changed without breaking clients.
"""
