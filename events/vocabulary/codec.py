"""Events as bytes: msgpack maps, compressed by LZ4 where they hold embeddings, and migrated to the current version.

The tag is stored in the log's `kind` column too, so metadata can be read without decoding. UUIDs take 16 bytes.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import lz4.block  # pyright: ignore[reportMissingTypeStubs]
import msgspec

from events.storage.log import LogError
from events.vocabulary import Event, Shredded
from events.vocabulary.upcasting import UPCASTERS, Upcaster

_COMPRESSED: Final = frozenset({"memory_stored.2", "memory_stored.3"})
"""Current and earlier tags whose maps are compressed: a fifth of a memory repeats another space, or is zero."""

KINDS: Final[tuple[type[Event], ...]] = tuple(event for event in Event.__subclasses__() if event is not Shredded)
"""All events of the vocabulary that are written."""
_TAGS: Final[dict[type[Event], str]] = {event: str(event.__struct_config__.tag) for event in KINDS}
NAMES: Final[frozenset[str]] = frozenset(tag.rpartition(".")[0] for tag in _TAGS.values())
_SEALED: Final[frozenset[str]] = frozenset(_TAGS[event].rpartition(".")[0] for event in KINDS if event.sealed)

_lz4 = cast("Any", lz4.block)
_compress: Final[Callable[[bytes], bytes]] = _lz4.compress
_decompress: Final[Callable[[bytes], bytes]] = _lz4.decompress
BlockError: Final[type[Exception]] = _lz4.LZ4BlockError

_SIZE: Final = 4
"""Bytes of the uncompressed size, which precede an LZ4 block."""
_MOST_EXPANSION: Final = 255
"""Bytes that one byte of an LZ4 block can stand for."""

_encoder = msgspec.msgpack.Encoder(uuid_format="bytes")
_decoders: Final = {tag: msgspec.msgpack.Decoder(event) for event, tag in _TAGS.items()}


class UnknownKindError(LogError):
    """This version defines no such kind of event; a newer one may have written it."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"no event of kind {kind!r} is known to this version")
        self.kind = kind


def kind_of(event: Event) -> str:
    """Return the tag of an event, such as `memory_stored.1` (`UnknownKindError`: of one that is never written)."""
    try:
        return _TAGS[type(event)]
    except KeyError:
        raise UnknownKindError(type(event).__name__) from None


def name_of(kind: str) -> str:
    """Return a tag without its version, such as `memory_stored`."""
    return kind.rpartition(".")[0]


def is_memory(kind: str) -> bool:
    """Tell whether events of this kind store a memory."""
    return name_of(kind) == "memory_stored"


def is_sealed(kind: str) -> bool:
    """Tell whether events of this kind are encrypted, as all versions of a tag are or none."""
    return name_of(kind) in _SEALED


def encode(event: Event) -> bytes:
    """Return the event as a msgpack map, compressed if its tag says so.

    Raises:
        UnknownKindError: the event is of a kind that isn't written.
        OverflowError: the metadata hold an integer beyond 64 bits.
        TypeError: the metadata hold a value that msgpack has no form for.
    """
    compressed = kind_of(event) in _COMPRESSED
    data = _encoder.encode(event)
    return _compress(data) if compressed else data


def decode(kind: str, data: bytes, upcasters: Mapping[str, Upcaster] = UPCASTERS) -> Event:
    """Return the event, migrated to the current version of its kind.

    Raises:
        UnknownKindError: the tag is neither a current nor an earlier one.
        msgspec.DecodeError: the data are no event of this kind.
    """
    try:
        if kind in _COMPRESSED:
            data = _expanded(data)
        while kind in upcasters:
            fields: dict[str, Any] = msgspec.msgpack.decode(data, type=dict[str, Any])
            fields.pop("type", None)
            kind, fields = upcasters[kind](fields)
            data = _encoder.encode(fields)
    except (BlockError, LookupError, TypeError, ValueError) as error:
        raise msgspec.DecodeError(str(error)) from error
    try:
        decoder = _decoders[kind]
    except KeyError:
        raise UnknownKindError(kind) from None
    try:
        return decoder.decode(data)
    except (UnicodeDecodeError, RecursionError) as error:  # msgspec passes them on as they are
        raise msgspec.DecodeError(str(error)) from error


def compress(text: str) -> bytes:
    """Return the text in UTF-8 as an LZ4 block after its uncompressed size."""
    return _compress(text.encode())


def decompress(data: bytes) -> str:
    """Return the text that `compress` compressed; anything else is a `BlockError`."""
    return _expanded(data).decode()


def _expanded(data: bytes) -> bytes:
    """Decompress a block; a size that no block of its length can have is a `BlockError`, and takes no memory."""
    if int.from_bytes(data[:_SIZE], "little") > _MOST_EXPANSION * len(data):
        raise BlockError("its size is wrong")
    return _decompress(data)
