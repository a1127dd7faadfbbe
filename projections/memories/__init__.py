"""Projections over memories: content, life cycle, filters, links, sessions."""
