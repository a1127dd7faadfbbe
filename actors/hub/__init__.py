"""The process that serves a store: composition root, connection listener, historical views, re-embedding."""
