"""Sample events for tests of logs and projections.

The fingerprints are seeded random numbers of the right shapes. They mean nothing, so no test about
embedding or ranking quality may use them.
"""

import hashlib
import math
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid4

import numpy as np
import numpy.typing as npt

from events import vocabulary as ev
from events.fingerprint import Bits, Dense, Directed, Embedding, Fingerprint, Sparse, Tokens
from events.spaces import SPACES, Kind
from events.storage.log import Draft
from events.vocabulary.causes import CausalLink, Clause, Phrase
from events.vocabulary.codec import compress
from events.vocabulary.values import (
    WIDTH,
    Counts,
    DriftLevel,
    Group,
    JohariRow,
    Learning,
    Mode,
    Outcome,
    Pruned,
    Salience,
    Shortcut,
    Step,
    Strengthened,
    Trigger,
)

DIMENSIONS: Final[dict[str, int]] = {
    "e1_semantic": 384,
    "e2_temporal_recent": 512,
    "e3_temporal_periodic": 512,
    "e4_temporal_positional": 512,
    "e5_causal": 768,
    "e6_sparse": 30_522,
    "e7_code": 1_536,
    "e8_graph": 384,
    "e9_hdc": 10_000,
    "e10_multimodal": 768,
    "e11_entity": 384,
    "e12_late_interaction": 128,
    "e13_splade": 30_522,
}
"""The dimension of each space by key, as the embedded profile has them."""

NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""When samples happen unless told otherwise."""


def unit(rng: np.random.Generator, dimension: int) -> npt.NDArray[np.float32]:
    """Return a random unit vector."""
    vector = rng.standard_normal(dimension, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def _embedding(rng: np.random.Generator, kind: Kind, dimension: int, *, tokens: int, terms: int) -> Embedding:
    match kind:
        case Kind.DENSE:
            return Dense.of(unit(rng, dimension))
        case Kind.DIRECTED:
            return Directed.of(unit(rng, dimension), unit(rng, dimension))
        case Kind.SPARSE:
            ids = rng.choice(dimension, terms, replace=False)
            return Sparse.of({int(term): float(rng.uniform(0.1, 4.0)) for term in ids})
        case Kind.BINARY:
            return Bits(rng.bytes(dimension // 8))
        case Kind.TOKENS:
            return Tokens.of(rng.integers(0, 30_522, tokens), rng.standard_normal((tokens, dimension)))


def random_fingerprint(seed: int, *, tokens: int = 8, terms: int = 12) -> Fingerprint:
    """Return thirteen random embeddings; equal arguments give equal bytes.

    Args:
        seed: of the random generator.
        tokens: rows of the token embedding.
        terms: entries of each sparse embedding.
    """
    rng = np.random.default_rng(seed)
    return Fingerprint.of(
        {space.key: _embedding(rng, space.kind, DIMENSIONS[space.key], tokens=tokens, terms=terms) for space in SPACES}
    )


def stored(content: str = "The tide is high at noon.", **overrides: Any) -> ev.MemoryStored:
    """Return a small valid memory, whose fingerprint is seeded by its content unless one is given."""
    digest = hashlib.sha256(content.encode()).digest()
    fields: dict[str, Any] = {
        "content": compress(content),
        "sha256": digest,
        "created_at": NOON,
        "namespace": "default",
        "purpose": tuple(round(0.2 + 0.05 * space, 2) for space in range(WIDTH)),
        "johari": tuple(JohariRow((0.4, 0.3, 0.2, 0.1), confidence=0.5) for _ in SPACES),
        "learning": Learning(
            entropy=0.5,
            coherence=0.5,
            surprise=0.5,
            emotional_weight=1.0,
            phase=math.pi / 4,
            learning_score=0.6,
            delta_s=(0.5,) * WIDTH,
            delta_c=(0.5,) * WIDTH,
        ),
        **overrides,
    }
    if "fingerprint" not in fields:
        fields["fingerprint"] = random_fingerprint(int.from_bytes(digest[:4]))
    return ev.MemoryStored(**fields)


def draft(event: ev.Event, **overrides: Any) -> Draft:
    """Wrap an event for appending, with random ids and at `NOON` unless told otherwise."""
    fields: dict[str, Any] = {
        "id": uuid4(),
        "at": NOON,
        "actor": "test",
        "correlation_id": UUID(int=1),
        "event": event,
        **overrides,
    }
    return Draft(**fields)


RUN: Final = UUID("5b0f6a52-6c4e-4d0c-8a38-6f1f0f0d9a77")
ONE, TWO, THREE, FOUR = (UUID(int=number) for number in range(101, 105))


def started(
    run: UUID, mode: Mode = Mode.LIGHT, trigger: Trigger = Trigger.REQUEST, **fields: Any
) -> ev.ConsolidationStarted:
    """Return the beginning of a run over all namespaces."""
    told: dict[str, Any] = {"namespace": None, "salience_threshold": 0.3, "max_memories": 0, "dry_run": False}
    return ev.ConsolidationStarted(run=run, mode=mode, trigger=trigger, **told | {"thorough": True} | fields)


SLEEP: Final[tuple[ev.Event, ...]] = (
    ev.ConsolidationStarted(
        run=RUN,
        mode=Mode.DREAM,
        trigger=Trigger.IDLE,
        namespace="sea",
        salience_threshold=0.3,
        max_memories=100,
        dry_run=False,
        thorough=True,
        rationale="much was said today",
    ),
    ev.MemoriesMerged(run=RUN, survivor=ONE, absorbed=(TWO, THREE), similarities=(1.0, 0.97)),
    ev.MemoriesPruned(
        run=RUN,
        pruned=(Pruned(FOUR, Salience(importance=0.1, recency=0.05, access=0.04, alignment=0.02, ignition=0.01)),),
    ),
    ev.MemoriesMoved(run=RUN, source="sea", target="ocean", memories=(ONE, TWO), renamed=True),
    ev.ClustersFormed(run=RUN, namespace="sea", clusters=(Group((ONE, TWO), (0.9, 0.8)),)),
    ev.LinksStrengthened(run=RUN, links=(Strengthened(Step(ONE, TWO, "cites"), 0.75, 0.6),)),
    ev.ShortcutsDrawn(run=RUN, shortcuts=(Shortcut(Step(ONE, FOUR, "shortcut"), 0.5, 0.8, (TWO, THREE)),)),
    ev.MemoriesReplayed(run=RUN, memories=(ONE, TWO)),
    ev.CausalClausesFound(
        memory=ONE,
        rules=1,
        clauses=(
            Clause(
                "because",
                Phrase((8, 21), Dense.of(np.eye(4)[0]), Tokens.of([7, 9], np.eye(4)[:2]), Sparse.of({3: 1.0})),
                Phrase((23, 40), Dense.of(np.eye(4)[1]), Tokens.of([8], np.eye(4)[2:3]), Sparse.of({5: 1.0}), "Ana"),
            ),
        ),
    ),
    ev.CausesLinked(
        run=RUN,
        examined=(ONE, TWO),
        links=(
            CausalLink(FOUR, ONE, "because", 0.8, ONE, (8, 21), (23, 40), (0, 12)),
            CausalLink(ONE, TWO, "e5", 0.7),
        ),
    ),
    ev.PatternDiscovered(
        run=RUN,
        pattern=UUID(int=105),
        namespace="sea",
        description="tide, moon",
        terms=("tide", "moon"),
        members=(ONE, TWO),
        coherence=0.85,
        confidence=0.7,
    ),
    ev.GoalAdjusted(run=RUN, namespace="sea", previous=UUID(int=106), goal=UUID(int=107), level=DriftLevel.HIGH),
    ev.ConsolidationFinished(
        run=RUN,
        outcome=Outcome.FINISHED,
        counts=Counts(looked_at=4, merged=2, pruned=1, clusters=1, goals_adjusted=1, moved=3),
        memories=1,
        milliseconds=12.5,
        reason="none",
    ),
    ev.ConsolidationUndone(run=RUN, memories=(TWO,)),
    ev.ConsolidatorChanged(epoch=3, hub=TWO, host="harbour, process 12"),
    ev.ConsolidationSkipped(mode=Mode.REM, trigger=Trigger.MADE_UP, reason="something else was under way"),
    ev.ScheduleChanged(mode=Mode.DEEP, when="0 3 * * *"),
    ev.ScheduleSwitched(paused=True),
    ev.PruningPermitted(permitted=True),
)
"""One of each event of sleep, no field of which has its default."""
