"""Anchors: short signed heads that a person keeps elsewhere, and that prove what came before them.

A head's hash covers all events before it, so a log that contains it was neither changed nor cut before it, not even
with every key. The signature (Ed25519, by a key that follows from the chain key) tells whose head it is.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from events.crypto.chain_key import ChainKey
from events.storage.chain import Row
from events.storage.log import Head, LogError
from events.verify.report import Problem

ANCHOR: Final = "anchor"
"""Stands for a file in problems of anchors."""

_PREFIX: Final = "context-graph-anchor:"
_TEXT: Final = re.compile(r"context-graph-anchor:1:(\d{1,18}):([\w-]{43}):([\w-]{43}):([\w-]{86})", re.ASCII)


class Anchor(NamedTuple):
    """A head, and who signed it."""

    head: Head
    public: bytes
    """Of the store, 32 bytes."""


def sign_head(head: Head, chain: ChainKey) -> str:
    """Return the anchor of a head, in one line."""
    public = _public(chain)
    signature = chain.signing_key.sign(_signed(head, public))
    return f"context-graph-anchor:1:{head.seq}:{_encode(head.hash)}:{_encode(public)}:{_encode(signature)}"


def parse_anchors(text: str) -> list[Anchor]:
    """Return all anchors in a text (`LogError`: there is none, one is incomplete, or its signature doesn't fit)."""
    found: list[Anchor] = []
    for match in _TEXT.finditer(text):
        head, public = Head(int(match[1]), _decode(match[2])), _decode(match[3])
        try:
            Ed25519PublicKey.from_public_bytes(public).verify(_decode(match[4]), _signed(head, public))
        except InvalidSignature:
            raise LogError(f"the anchor of event {head.seq} was changed: its signature doesn't fit") from None
        found.append(Anchor(head, public))
    if len(found) < text.count(_PREFIX):
        raise LogError(f"{text.count(_PREFIX) - len(found)} of the anchors given are incomplete or changed")
    if not found:
        raise LogError(
            f"there is no anchor in '{text[:40]}': "
            f"give what `context-graph anchor` prints, {_PREFIX}1:…, or a file of it"
        )
    return found


def is_anchors(text: str) -> bool:
    """Tell whether a text consists of anchors alone, or of nothing."""
    return all(_TEXT.fullmatch(line) for line in text.split())


def anchor_problems(text: str, chain: ChainKey | None, rows: Callable[[int, int], Iterator[Row]]) -> list[Problem]:
    """Compare a log, whose chain is verified besides, with the anchors in a text that has some."""
    problems: list[Problem] = []
    for anchor in parse_anchors(text):
        what = _contradiction(anchor, chain, next((row.hash for row in rows(anchor.head.seq, anchor.head.seq)), None))
        if what is not None:
            problems.append(Problem(ANCHOR, anchor.head.seq, what, ""))
    return problems


def _contradiction(anchor: Anchor, chain: ChainKey | None, found: bytes | None) -> str | None:
    if chain is None or _public(chain) != anchor.public:
        return "another store made this anchor, or the chain key was replaced"
    if found is None:
        return f"event {anchor.head.seq} is missing: the log was cut off after the anchor was made"
    if found != anchor.head.hash:
        return f"event {anchor.head.seq}, or one before it, was changed or removed after the anchor was made"
    return None


def _public(chain: ChainKey) -> bytes:
    return chain.signing_key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def _signed(head: Head, public: bytes) -> bytes:
    return b"context-graph anchor 1 %d " % head.seq + head.hash + public


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
