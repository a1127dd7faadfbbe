"""Which memories are merged: copies by their words, and pairs that look alike unless they say different things."""

from collections import Counter
from collections.abc import Hashable, Iterable
from datetime import datetime
from functools import cache
from hashlib import sha256
from itertools import product
from typing import Final, NamedTuple
from uuid import UUID

from actors.text.text_equivalence import NormalizedText, contradiction, normalize

NEIGHBOURS: Final = 2
"""Others, of different words, that a memory may look like to be merged with one of them. Where more texts are of one
mould, as reports and lines of a log are, the one word that differs is what each of them says. Of 24,519 texts of four
corpora, and of 125 said again with another word, no more are merged without this limit; with 1 instead, fewer are."""

LARGEST: Final = 8
"""Different texts that one set holds at most, which bounds the work where texts are alike in chains."""


class DuplicateCandidate(NamedTuple):
    """What decides how a memory is merged."""

    memory: UUID
    content: str
    code: bool
    importance: float
    created_at: datetime
    row: int
    """How many were stored before it."""
    kind: tuple[Hashable, ...] = ()
    """What else it is, such as who said it; memories of different kinds are never merged."""


class MergeSet(NamedTuple):
    """Memories that say the same, the one that stays, and how alike each of the others is to the most alike of all."""

    survivor: UUID
    absorbed: tuple[UUID, ...]
    """In the order in which they would have survived."""
    similarities: tuple[float, ...]


def copies(candidates: Iterable[DuplicateCandidate]) -> list[list[DuplicateCandidate]]:
    """Return the groups, of two or more, whose kind and normalised text are the same, by rank."""
    groups: dict[tuple[Hashable, ...], list[DuplicateCandidate]] = {}
    for one in candidates:
        digest = sha256(normalize(one.content, code=one.code).encode("utf-8", "surrogatepass")).digest()
        groups.setdefault((one.code, one.kind, digest), []).append(one)
    found = [sorted(group, key=_rank) for group in groups.values() if len(group) > 1]
    return sorted(found, key=lambda group: _rank(group[0]))


def merge_sets(
    candidates: Iterable[DuplicateCandidate], pairs: Iterable[tuple[UUID, UUID, float]], *, strict: bool
) -> list[MergeSet]:
    """Return which memories are absorbed by which: copies, and what similar pairs lead to, chains in one set.

    In each set the most important one survives, of these the oldest, of these the one stored first. Sets grow along
    the most similar pair first, and two don't become one if any of their members contradict each other; so a chain of
    small changes never joins what differs. What has more than `NEIGHBOURS` near others is merged with its copies only,
    and no set holds more than `LARGEST` different texts. The result doesn't depend on the order of either argument.

    Args:
        candidates: Of one namespace.
        pairs: Of candidates that are similar enough, with their similarity; copies needn't be among them.
        strict: Whether all words of a pair must be the same, as `contradiction` says.
    """
    ranked = sorted(candidates, key=_rank)
    first = {one.memory: one for one in ranked}
    for group in copies(ranked):
        first |= dict.fromkeys((one.memory for one in group), group[0])
    place = {one.memory: number for number, one in enumerate(ranked)}
    alike: dict[tuple[UUID, UUID], float] = {}
    for one, other, similarity in pairs:
        ends = sorted((first[one], first[other]), key=lambda end: place[end.memory])
        if ends[0] is not ends[1] and ends[0].kind == ends[1].kind:
            key = ends[0].memory, ends[1].memory
            alike[key] = max(similarity, alike.get(key, 0.0))
    degree = Counter(end for ends in alike for end in ends)
    alike = {ends: similarity for ends, similarity in alike.items() if max(degree[end] for end in ends) <= NEIGHBOURS}
    likeliest = sorted(alike, key=lambda ends: (-alike[ends], place[ends[0]], place[ends[1]]))
    sets = _grow({memory: one for memory, one in first.items() if memory in degree}, likeliest, strict=strict)
    nearest: dict[UUID, float] = {}
    for (one, other), similarity in alike.items():
        if sets[one] == sets[other]:
            nearest |= {end: max(similarity, nearest.get(end, 0.0)) for end in (one, other)}
    members: dict[UUID, list[UUID]] = {}
    for one in ranked:  # the first of each set is the survivor
        representative = first[one.memory].memory
        members.setdefault(sets.get(representative, representative), []).append(one.memory)
    copied = {memory for memory, count in Counter(one.memory for one in first.values()).items() if count > 1}
    return [
        MergeSet(
            survivor, tuple(absorbed), tuple(1.0 if first[one].memory in copied else nearest[one] for one in absorbed)
        )
        for survivor, *absorbed in members.values()
        if absorbed
    ]


def _grow(
    contents: dict[UUID, DuplicateCandidate], pairs: list[tuple[UUID, UUID]], *, strict: bool
) -> dict[UUID, UUID]:
    """Return for each memory of a pair one that stands for its set, having joined sets along these pairs in order."""
    read = {end: NormalizedText(contents[end].content, code=contents[end].code) for ends in pairs for end in ends}
    sets = {end: [end] for end in read}

    @cache
    def contradict(one: UUID, other: UUID) -> bool:
        return contradiction(read[one], read[other], strict=strict) is not None

    for one, other in pairs:
        left, right = sets[one], sets[other]
        if left is right or len(left) + len(right) > LARGEST:
            continue
        if any(contradict(*sorted(ends)) for ends in product(left, right)):
            continue
        left.extend(right)
        sets |= dict.fromkeys(right, left)
    return {memory: joined[0] for memory, joined in sets.items()}


def _rank(one: DuplicateCandidate) -> tuple[float, datetime, int]:
    """Return what is least for the memory that survives."""
    return -one.importance, one.created_at, one.row
