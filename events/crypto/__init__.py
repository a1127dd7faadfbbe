"""Keys of encrypted events, and the passphrase that protects them."""
