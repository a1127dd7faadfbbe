"""A part of a message that AES-GCM encrypted is decrypted without the rest."""

import os

import numpy as np
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from events.crypto.counter_mode import BLOCK, keystream


def test_any_blocks_of_messages_of_one_key_are_decrypted_together() -> None:
    key = AESGCM.generate_key(256)
    nonces = [os.urandom(12), os.urandom(12)]
    plain = [os.urandom(10_000), os.urandom(10_000)]
    sealed = [AESGCM(key).encrypt(nonce, one, None) for nonce, one in zip(nonces, plain, strict=True)]
    wanted = [(0, 0), (1, 600), (0, 17), (1, 3)]
    content = b"".join(sealed[message][BLOCK * block : BLOCK * (block + 1)] for message, block in wanted)
    stream = keystream(
        key,
        np.array([np.frombuffer(nonces[message], np.uint8) for message, _ in wanted]),
        np.array([block for _, block in wanted]),
    )
    assert bytes(np.frombuffer(content, np.uint8) ^ stream) == b"".join(
        plain[message][BLOCK * block : BLOCK * (block + 1)] for message, block in wanted
    )
