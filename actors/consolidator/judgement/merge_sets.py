"""Deduplication: sets of memories to merge, from exact copies and from similar pairs without a contradiction."""

from collections import Counter
from collections.abc import Hashable, Iterable
from datetime import datetime
from functools import cache
from hashlib import sha256
from itertools import product
from typing import Final, NamedTuple
from uuid import UUID

from actors.text.text_equivalence import NormalizedText, contradiction, normalize

MAX_NEIGHBOURS: Final = 2
"""Similar memories of different words with which a memory may still be merged. More of them share one template, as
reports and log lines do, and the one word that differs is their content. Of 24,519 texts of four corpora, and of 125
said again with another word, no more are merged without this limit; with 1, fewer are."""

MAX_TEXTS: Final = 8
"""Different texts in one set, which bounds the work on chains of similar texts."""


class DuplicateCandidate(NamedTuple):
    """Properties of a memory that decide how it is merged."""

    memory: UUID
    content: str
    code: bool
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


def exact_copies(candidates: Iterable[DuplicateCandidate]) -> list[list[DuplicateCandidate]]:
    """Return the groups of two or more candidates with the same kind and normalised text, by rank."""
    groups: dict[tuple[Hashable, ...], list[DuplicateCandidate]] = {}
    for one in candidates:
        digest = sha256(normalize(one.content, code=one.code).encode("utf-8", "surrogatepass")).digest()
        groups.setdefault((one.code, one.kind, digest), []).append(one)
    found = [sorted(group, key=_rank) for group in groups.values() if len(group) > 1]
    return sorted(found, key=lambda group: _rank(group[0]))


def merge_sets(
    candidates: Iterable[DuplicateCandidate], pairs: Iterable[tuple[UUID, UUID, float]], *, strict: bool
) -> list[MergeSet]:
    """Return the sets of memories to merge: exact copies, and chains of similar pairs.

    The most important memory of a set survives; of these the oldest; of these the first stored. Sets grow along the
    most similar pair first. Two sets are not joined if any of their members contradict each other, so that a chain of
    small changes never joins different contents. A memory with more than `MAX_NEIGHBOURS` similar ones is merged with
    its copies only. The result does not depend on the order of the arguments.

    Args:
        candidates: Of one namespace.
        pairs: Similar candidates with their similarity; copies may be missing.
        strict: Whether all words of a pair must be equal (see `text_equivalence`).
    """
    ranked = sorted(candidates, key=_rank)
    first = {one.memory: one for one in ranked}
    for group in exact_copies(ranked):
        first |= dict.fromkeys((one.memory for one in group), group[0])
    place = {one.memory: number for number, one in enumerate(ranked)}
    similar: dict[tuple[UUID, UUID], float] = {}
    for one, other, similarity in pairs:
        ends = sorted((first[one], first[other]), key=lambda end: place[end.memory])
        if ends[0] is not ends[1] and ends[0].kind == ends[1].kind:
            key = ends[0].memory, ends[1].memory
            similar[key] = max(similarity, similar.get(key, 0.0))
    degree = Counter(end for ends in similar for end in ends)
    similar = {
        ends: similarity for ends, similarity in similar.items() if max(degree[end] for end in ends) <= MAX_NEIGHBOURS
    }
    best_first = sorted(similar, key=lambda ends: (-similar[ends], place[ends[0]], place[ends[1]]))
    sets = _join({memory: one for memory, one in first.items() if memory in degree}, best_first, strict=strict)
    nearest: dict[UUID, float] = {}
    for (one, other), similarity in similar.items():
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


def _join(
    contents: dict[UUID, DuplicateCandidate], pairs: list[tuple[UUID, UUID]], *, strict: bool
) -> dict[UUID, UUID]:
    """Join sets along pairs, in order; return for each memory the representative of its set."""
    texts = {end: NormalizedText(contents[end].content, code=contents[end].code) for ends in pairs for end in ends}
    sets = {end: [end] for end in texts}

    @cache
    def contradict(one: UUID, other: UUID) -> bool:
        return contradiction(texts[one], texts[other], strict=strict) is not None

    for one, other in pairs:
        left, right = sets[one], sets[other]
        if left is right or len(left) + len(right) > MAX_TEXTS:
            continue
        if any(contradict(*sorted(ends)) for ends in product(left, right)):
            continue
        left.extend(right)
        sets |= dict.fromkeys(right, left)
    return {memory: joined[0] for memory, joined in sets.items()}


def _rank(one: DuplicateCandidate) -> tuple[float, datetime, int]:
    """Return a sort key by which the survivor comes first."""
    return -one.importance, one.created_at, one.row
