"""The chain key of a store: it authenticates rows and heads, and signs anchors.

`verify` notices each event that was changed, appended, removed or reordered without it. Each use has a key of its own,
derived by HMAC-SHA256 from one secret that lies in the header of the key file.
"""

import hmac
import os
from functools import cached_property
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SECRET: Final = 32
TAG: Final = 32


class ChainKey:
    """Derives the keys of a chain from `SECRET` random bytes.

    `first` is the first event under it; earlier ones have plain hashes. The row key depends on it, so another number in
    a forged header breaks the chain.
    """

    def __init__(self, secret: bytes, first: int) -> None:
        self.secret: Final = secret
        self.first: Final = first
        self._row_key = self._derive(b"rows from %d" % first)
        self._head_key = self._derive(b"heads from %d" % first)

    @classmethod
    def create(cls, first: int) -> "ChainKey":
        """Generate a secret."""
        return cls(os.urandom(SECRET), first)

    def row_hash(self, encoded: bytes) -> bytes:
        """Return the keyed hash of an encoded row."""
        return hmac.digest(self._row_key, encoded, "sha256")

    def head_tag(self, encoded: bytes) -> bytes:
        """Return the tag of an encoded head."""
        return hmac.digest(self._head_key, encoded, "sha256")

    @cached_property
    def signing_key(self) -> Ed25519PrivateKey:
        """The key that signs anchors."""
        return Ed25519PrivateKey.from_private_bytes(self._derive(b"anchors"))

    def _derive(self, purpose: bytes) -> bytes:
        return hmac.digest(self.secret, b"context-graph " + purpose, "sha256")
