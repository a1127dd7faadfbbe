"""What AES-GCM adds to a message by XOR, so that a part of one can be decrypted without the rest.

It is AES of the nonce and the number of each block (counter mode, NIST SP 800-38D). The tag authenticates a message as
a whole, and says nothing about a part that is read later.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

BLOCK: Final = 16
"""Bytes that AES encrypts together."""
_FIRST: Final = 2
"""Number of the first block of a message."""


def keystream(key: bytes, nonces: npt.NDArray[np.uint8], blocks: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Return what is added to blocks of messages, shape (BLOCK · blocks,).

    Args:
        key: Of all messages.
        nonces: Of the message of each block, shape (blocks, 12).
        blocks: Numbers of the blocks in their messages, from 0.
    """
    counters = np.empty((len(blocks), BLOCK), np.uint8)
    counters[:, :12] = nonces
    counters[:, 12:] = (blocks + _FIRST).astype(">u4").view(np.uint8).reshape(-1, 4)
    encryptor = Cipher(AES(key), ECB()).encryptor()  # noqa: S305 -- of counters, each of which occurs once
    return np.frombuffer(encryptor.update(counters.tobytes()), np.uint8)
