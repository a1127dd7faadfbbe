"""The atlas: everything that search reads of the memories, by row."""
