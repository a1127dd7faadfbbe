"""Events as bytes: msgpack maps, those that hold embeddings in an LZ4 block, brought up to date if their tag is old.

The tag stands in the log's `kind` column too, so that a reader of metadata needs no decoding.
UUIDs are 16 bytes, and vectors are the bytes that they already were.
"""

from collections.abc import Mapping
from typing import Any, Final, cast, get_args

import lz4.block  # pyright: ignore[reportMissingTypeStubs]
import msgspec

from events.storage.log import LogError
from events.vocabulary import Event, Known
from events.vocabulary.upcasting import UPCASTERS, Upcaster

_COMPRESSED: Final = frozenset({"memory_stored.2", "memory_stored.3"})
"""Tags, also past ones, whose maps are compressed: a fifth of a memory says again what another space says, or zero."""

_KNOWN: Final[tuple[type[Known], ...]] = get_args(Known)
_TAGS: Final[dict[type[Event], str]] = {event: str(event.__struct_config__.tag) for event in _KNOWN}
_SEALED: Final[frozenset[str]] = frozenset(_TAGS[event].rpartition(".")[0] for event in _KNOWN if event.sealed)

_BlockError: Final = cast("type[Exception]", lz4.block.LZ4BlockError)  # pyright: ignore[reportUnknownMemberType]

_encoder = msgspec.msgpack.Encoder(uuid_format="bytes")
_decoders: Final[dict[str, msgspec.msgpack.Decoder[Known]]] = {
    _TAGS[event]: msgspec.msgpack.Decoder(event) for event in _KNOWN
}


class UnknownKindError(LogError):
    """An event of a kind that this version doesn't know; a newer one may have written it."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"no event of kind {kind!r} is known to this version")
        self.kind = kind


def compress(text: str) -> bytes:
    """Return the text as UTF-8 in an LZ4 block that starts with its uncompressed size."""
    return _shorter(text.encode())


def decompress(data: bytes) -> str:
    """Return the text that `compress` was given; anything else is an `LZ4BlockError`."""
    return _longer(data).decode()


def kind_of(event: Event) -> str:
    """Return the tag of an event that may be written, such as `memory_stored.1`.

    Raises:
        UnknownKindError: for any other event, such as `Shredded`, which only readers meet.
    """
    try:
        return _TAGS[type(event)]
    except KeyError:
        raise UnknownKindError(type(event).__name__) from None


def is_sealed(kind: str) -> bool:
    """Tell whether events of this kind are encrypted: if one version of a tag is, they all are."""
    return kind.rpartition(".")[0] in _SEALED


def encode(event: Event) -> bytes:
    """Return the event as a msgpack map, compressed if its tag says so.

    Raises:
        UnknownKindError: the event isn't one that may be written.
        OverflowError: the metadata hold an integer beyond 64 bits.
        TypeError: the metadata hold something that msgpack can't say.
    """
    compressed = kind_of(event) in _COMPRESSED
    data = _encoder.encode(event)
    return _shorter(data) if compressed else data


def decode(kind: str, data: bytes, upcasters: Mapping[str, Upcaster] = UPCASTERS) -> Known:
    """Return the event, brought up to date if its tag is old.

    Args:
        kind: its tag.
        data: what `encode` returned, now or in an earlier version.
        upcasters: by old tag.

    Raises:
        UnknownKindError: the tag is neither current nor old.
        msgspec.DecodeError: the data are no event of this kind.
    """
    try:
        if kind in _COMPRESSED:
            data = _longer(data)
        while kind in upcasters:
            fields: dict[str, Any] = msgspec.msgpack.decode(data, type=dict[str, Any])
            fields.pop("type", None)
            kind, fields = upcasters[kind](fields)
            data = _encoder.encode(fields)
    except (_BlockError, LookupError, TypeError, ValueError) as error:
        raise msgspec.DecodeError(str(error)) from error
    try:
        decoder = _decoders[kind]
    except KeyError:
        raise UnknownKindError(kind) from None
    return decoder.decode(data)


def _shorter(data: bytes) -> bytes:
    return cast("bytes", lz4.block.compress(data, store_size=True))  # pyright: ignore[reportUnknownMemberType]


def _longer(data: bytes) -> bytes:
    return cast("bytes", lz4.block.decompress(data))  # pyright: ignore[reportUnknownMemberType]
