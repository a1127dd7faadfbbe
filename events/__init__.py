"""The event vocabulary, fingerprints and the append-only log. Imports no other package of the product."""
