"""Deduplication: sets of memories to merge, from exact copies and from texts that state the same."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import combinations, product
from typing import Final, NamedTuple
from uuid import UUID

from actors.text.text_equivalence import NormalizedText, equivalent, normalize

MAX_TEXTS: Final = 8
"""Different texts in one set, which bounds the number of pairs."""


class DuplicateCandidate(NamedTuple):
    """Properties of a memory that decide how it is merged."""

    memory: UUID
    text: NormalizedText
    importance: float
    created_at: datetime
    row: int
    """Number of memories stored before it."""
    kind: tuple[Hashable, ...] = ()
    """Other properties, such as the speaker; memories of different kinds are never merged."""


class MergeSet(NamedTuple):
    """Memories with the same content."""

    survivor: UUID
    absorbed: tuple[UUID, ...]
    """By rank."""
    similarities: tuple[float, ...]
    """Of each absorbed memory to the most similar other of the set."""


def equivalent_pairs(candidates: Iterable[DuplicateCandidate], *, strict: bool) -> Iterator[tuple[UUID, UUID]]:
    """Yield the pairs of texts that state the same, each represented by the first of its exact copies.

    With `strict`, all words of a pair must be equal (see `text_equivalence`).
    """
    groups: dict[tuple[Hashable, ...], list[DuplicateCandidate]] = defaultdict(list)
    for one in dict.fromkeys(_representatives(candidates).values()):
        groups[one.text.code, one.kind, tuple(one.text.words) if strict else one.text.key].append(one)
    for group in groups.values():
        for one, other in combinations(group[:MAX_TEXTS], 2):
            if equivalent(one.text, other.text, strict=strict):
                yield one.memory, other.memory


def merge_sets(
    candidates: Iterable[DuplicateCandidate], pairs: Iterable[tuple[UUID, UUID, float]], above: float
) -> list[MergeSet]:
    """Return the sets of memories to merge: exact copies, and chains of similar pairs whose texts are all equivalent.

    The most important memory of a set survives; of these the oldest; of these the first stored. Sets grow along the
    most similar pair first. The result does not depend on the order of the arguments.
    A pair of a chain is more similar than `above`.
    """
    first = _representatives(candidates)
    similar = {frozenset((one, other)): similarity for one, other, similarity in pairs}
    place = {one.memory: number for number, one in enumerate(first)}
    chains = _chains(similar, place, above)
    members: dict[UUID, list[DuplicateCandidate]] = defaultdict(list)
    copies: dict[UUID, int] = defaultdict(int)
    for one, representative in first.items():  # by rank: the first of each set is the survivor
        joined = chains.get(representative.memory, [representative.memory])
        members[min(joined, key=place.__getitem__)].append(one)
        copies[representative.memory] += 1

    def nearest(one: DuplicateCandidate) -> float:
        end = first[one].memory
        others = (similar[frozenset((end, other))] for other in chains.get(end, ()) if other != end)
        return 1.0 if copies[end] > 1 else max(others)

    return [
        MergeSet(survivor.memory, tuple(one.memory for one in absorbed), tuple(map(nearest, absorbed)))
        for survivor, *absorbed in members.values()
        if absorbed
    ]


def _chains(
    similar: Mapping[frozenset[UUID], float], place: Mapping[UUID, int], above: float
) -> dict[UUID, list[UUID]]:
    """Return the chain of similar memories that each belongs to; any two of a chain are a similar pair."""
    chains = {end: [end] for ends in similar for end in ends}
    joining = (ends for ends in similar if similar[ends] > above)
    for ends in sorted(joining, key=lambda ends: (-similar[ends], sorted(place[end] for end in ends))):
        left, right = (chains[end] for end in ends)
        if left is not right and all(frozenset(pair) in similar for pair in product(left, right)):
            left.extend(right)
            chains |= dict.fromkeys(right, left)
    return chains


def _representatives(candidates: Iterable[DuplicateCandidate]) -> dict[DuplicateCandidate, DuplicateCandidate]:
    """Return the first memory with the same kind and normalised text as each memory, by rank."""
    seen: dict[tuple[Hashable, ...], DuplicateCandidate] = {}
    return {
        one: seen.setdefault((one.text.code, one.kind, normalize(one.text.text, code=one.text.code)), one)
        for one in sorted(candidates, key=_rank)
    }


def _rank(one: DuplicateCandidate) -> tuple[float, datetime, int]:
    """Return a sort key by which the survivor comes first."""
    return -one.importance, one.created_at, one.row
