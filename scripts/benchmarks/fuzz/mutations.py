"""Random changes of bytes and of decoded values: the structure of a valid file stays, one place or a few change."""

import random
from typing import Any

NUMBERS = (0, 1, -1, 2, 3, 7, 255, 256, 2**16, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63), 2**64 - 1)
"""Sizes, offsets and numbers at which a check may lack."""
VALUES = (None, True, "", "x" * 300, b"", b"\xff" * 40, [], {}, 0.0, float("nan"), -1e300, [[]], {"a": 1})


def mutate_bytes(content: bytes, rng: random.Random) -> bytes:
    """Change bits, numbers of four or eight bytes, or lengths of some bytes."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        at = rng.randrange(len(changed)) if changed else 0
        match rng.randrange(7):
            case 0 | 1 if changed:
                changed[at] ^= 1 << rng.randrange(8)
            case 2:
                size = rng.choice((4, 8))
                number = rng.choice(NUMBERS) % 2 ** (8 * size)
                changed[at : at + size] = number.to_bytes(size, rng.choice(("little", "big")))
            case 3:
                del changed[at : at + rng.choice((1, 8, 64, 4_096))]
            case 4:
                changed[at:at] = rng.randbytes(rng.choice((1, 8, 64, 4_096)))
            case 5:
                other = rng.randrange(len(changed)) if changed else 0
                size = rng.choice((8, 64, 512))
                changed[at : at + size] = changed[other : other + size]
            case _:
                del changed[at:]
    return bytes(changed)


def mutate_value(value: Any, rng: random.Random) -> Any:
    """Change one place of a tree of dictionaries, lists and scalars."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        match rng.randrange(12):
            case 0:
                return {name: one for name, one in value.items() if name != key}
            case 1:
                return {**value, f"{key}x": value[key]}
            case 2:
                return {**value, key: value[rng.choice(list(value))]}
            case _:
                return {**value, key: mutate_value(value[key], rng)}
    if isinstance(value, list | tuple) and value and rng.random() < 0.9:
        items = list(value)
        at = rng.randrange(len(items))
        match rng.randrange(10):
            case 0:
                del items[at]
            case 1:
                items.insert(at, items[rng.randrange(len(items))])
            case _:
                items[at] = mutate_value(items[at], rng)
        return items
    return _mutate_scalar(value, rng)


def _mutate_scalar(value: Any, rng: random.Random) -> Any:
    if isinstance(value, bytes) and value and rng.random() < 0.7:
        return mutate_bytes(value, rng)
    if isinstance(value, int) and rng.random() < 0.8:
        return rng.choice((*NUMBERS, value + 1, value - 1, -value, value * 2))
    if isinstance(value, str) and value and rng.random() < 0.6:
        return mutate_bytes(value.encode(), rng).decode("utf-8", "replace")
    return rng.choice((*VALUES, *NUMBERS))
