"""Finding memories for a query: classification, recall, fusion, re-ranking, explanation."""
