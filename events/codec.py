"""Events as bytes: msgpack maps, and upcasters for the tags of the past.

The tag stands in the log's `kind` column too, so that a reader of metadata needs no decoding.
UUIDs are 16 bytes, and vectors are the bytes that they already were.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast, get_args

import lz4.block  # pyright: ignore[reportMissingTypeStubs]
import msgspec

from events.log import LogError
from events.vocabulary import Event, Known

Upcaster: TypeAlias = Callable[[dict[str, Any]], tuple[str, dict[str, Any]]]
"""Takes the fields of an old event; returns the tag that succeeded its own, and the fields of that."""

UPCASTERS: Final[Mapping[str, Upcaster]] = {}
"""By old tag. The tag that an upcaster returns may be old as well."""

_KNOWN: Final[tuple[type[Known], ...]] = get_args(Known)
_TAGS: Final[dict[type[Event], str]] = {event: str(event.__struct_config__.tag) for event in _KNOWN}
_SEALED: Final[frozenset[str]] = frozenset(_TAGS[event].rpartition(".")[0] for event in _KNOWN if event.sealed)

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
    return cast("bytes", lz4.block.compress(text.encode(), store_size=True))  # pyright: ignore[reportUnknownMemberType]


def decompress(data: bytes) -> str:
    """Return the text that `compress` was given; anything else is an `LZ4BlockError`."""
    return cast("bytes", lz4.block.decompress(data)).decode()  # pyright: ignore[reportUnknownMemberType]


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
    """Return the event as a msgpack map.

    Raises:
        UnknownKindError: the event isn't one that may be written.
        OverflowError: the metadata hold an integer beyond 64 bits.
        TypeError: the metadata hold something that msgpack can't say.
    """
    kind_of(event)
    return _encoder.encode(event)


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
    while kind in upcasters:
        fields: dict[str, Any] = msgspec.msgpack.decode(data, type=dict[str, Any])
        fields.pop("type", None)
        kind, fields = upcasters[kind](fields)
        data = _encoder.encode(fields)
    try:
        decoder = _decoders[kind]
    except KeyError:
        raise UnknownKindError(kind) from None
    return decoder.decode(data)
