"""The dashboard: pages on which a person looks into a store, served by the hub."""
