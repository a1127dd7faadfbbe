"""Encryption keys of sealed events, and the passphrase that wraps them."""
