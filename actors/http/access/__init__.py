"""Who sends a request: keys, tokens of an issuer, browser sessions, and rates."""
