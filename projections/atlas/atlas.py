"""The atlas: everything that search reads, by row: fingerprints, filter columns, time mentions and purposes."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt

from events.fingerprint import Bits, Dense, Directed, Embedding, Sparse, of_kind
from events.quantization import Levels, levels
from events.spaces import E1, E2, E4, E6, E8, E9, E11, E13, SPACES
from events.storage.log import Envelope
from events.vocabulary import MemoriesMoved, MemoryStored, MemoryTagged, PurposesRealigned, SpacesDeclared
from events.vocabulary.codec import decompress
from projections.atlas.facets import Facets
from projections.atlas.fingerprints import Fingerprints, holds_stems, semantic_vectors
from projections.atlas.graph_space import ConnectedContext, E8Inputs, follows_connections
from projections.atlas.pairs import SpaceStore
from projections.atlas.purpose import PurposeSpace
from projections.graph.clusters import Clusters
from projections.memories.lifecycle import Lifecycle, StateChange
from projections.memories.supersessions import Supersessions
from projections.projection import MemoryState, digest_of, is_shredded_memory
from projections.spaces.binary import BinarySpace
from projections.spaces.dense import DenseSpace
from projections.spaces.directed import DirectedSpace, Direction
from projections.spaces.graph import Graph
from projections.spaces.sparse import SparseSpace
from projections.spaces.tokens import TokenSpace
from projections.spaces.windowed import WindowedSpace
from projections.storage.arrays import Mask, Rows, Scores, best
from projections.time.time_mentions import NO_HINTS, QueryHints, TimeMentions

PREFIX_DIMENSIONS: Final = 128
"""Leading dimensions of E1 that recall compares; they carry most of it (Matryoshka)."""
SKETCH_BITS: Final = 2_048
"""Leading bits of a hypervector that recall compares, in a fifth of the time that all bits take."""
_SKETCH_OVERSAMPLING: Final = 4
"""Candidates by sketch for each wanted row; all bits then rank these."""
_ORDER_EXPONENT: Final = 64
"""Power of E4's cosine for a query about an end of its session: two turns away .982 becomes .3, four away .014."""
_TIME_WEIGHT: Final = 0.15
"""Weight of a match of the query's time in E11's score, where containing all terms of the query weighs 1."""
_SPEAKER_WEIGHT: Final = 0.3
"""Weight of a speaker whom the query names, in E11's score."""


class Atlas(Fingerprints):
    """One row for each stored memory in the order of arrival, never reused.

    A memory that is excluded from search keeps its row. An erased one leaves an empty row, also in a replay where its
    event is shredded, so that row numbers don't depend on the time of the replay.
    """

    def __init__(self, dimensions: Mapping[str, int], *, connected: bool = False, stems: bool = True) -> None:
        """Create empty spaces, as `Fingerprints` does."""
        super().__init__(dimensions, connected=connected, stems=stems)
        self._prefix = WindowedSpace(min(PREFIX_DIMENSIONS, self.dimensions[E1]), indexed=True)
        self._sketch = BinarySpace(min(SKETCH_BITS, self.dimensions[E9]), indexed=True)
        self.purposes = PurposeSpace(len(SPACES))
        self.facets = Facets()
        self.time_mentions = TimeMentions()
        self._lifecycle = Lifecycle()
        self._supersessions = Supersessions()
        self._superseded: frozenset[int] | None = None
        """Rows of the memories that something superseded; None after a change that may concern them."""
        self._clusters = Clusters()
        self._connected_context = ConnectedContext() if connected else None
        """None where E8 stays as it was stored."""

    @classmethod
    def of(cls, declared: SpacesDeclared) -> "Atlas":
        """Create empty spaces of the declared dimensions."""
        dimensions = {space.key: space.dimension for space in declared.spaces}
        return cls(dimensions, connected=follows_connections(declared), stems=holds_stems(declared))

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log; a declaration of other dimensions is a ValueError."""
        if self._connected_context is None:
            self._fold(envelope)
        else:
            self._connected_context.before(envelope, self._e8_inputs)
            self._connected_context.after(envelope, self._e8_inputs, *self._fold(envelope))

    def _fold(self, envelope: Envelope) -> tuple[Sequence[UUID], Sequence[StateChange]]:
        """Fold an event; return the memories whose spoke may have changed, and the changed states."""
        match envelope.event:
            case SpacesDeclared(spaces=spaces):
                if {space.key: space.dimension for space in spaces} != self.dimensions:
                    raise ValueError("the log declares other dimensions than those of the atlas")
            case MemoryStored() as stored:
                self._append(envelope.id, stored)
            case PurposesRealigned() as realigned:
                for memory, purpose in zip(realigned.memories, realigned.rows(), strict=True):
                    row = self._rows[memory]
                    if self.facets.state(row) is not MemoryState.ERASED:
                        self.purposes.realign(row, purpose, realigned.goal)
            case MemoriesMoved(memories=memories, target=target):
                rows = np.array([self._rows[memory] for memory in memories], np.int64)
                self.facets.move(rows[~self.facets.erased[rows]], target)
            case MemoryTagged(memory=memory, tags=tags):
                self.facets.retag(self._rows[memory], tags)
            case event if is_shredded_memory(event):
                self._append(envelope.id, None)
            case _:
                pass
        changes = self._lifecycle.apply(envelope)
        for change in changes:
            self._change_state(change)
        if self._supersessions.apply(envelope) or changes:
            self._superseded = None
        return self._clusters.apply(envelope), changes

    def survivor(self, memory: UUID) -> UUID:
        """Return the last survivor of a merged memory, or the memory itself."""
        return self._lifecycle.root(memory)

    def successors(self, eligible: Mask, rows: Rows | None = None) -> dict[int, int]:
        """Return the row of the latest eligible version of each row that an eligible one superseded."""
        if self._superseded is None:
            memories = self._supersessions.superseded()
            self._superseded = frozenset(self._rows[self._lifecycle.root(memory)] for memory in memories)
        superseded = self._superseded
        if superseded and rows is not None:
            superseded = superseded.intersection(rows.tolist())
        found: dict[int, int] = {}
        for row in sorted(superseded):
            memory = self._ids[row]
            later = self._supersessions.successor(memory, self._lifecycle, lambda one: bool(eligible[self._rows[one]]))
            if later is not None:
                found[row] = self._rows[later]
        return found

    def counts(self) -> dict[str, int]:
        """Return the number of rows in the fingerprints, the E1 prefix, the inverted index and the purposes."""
        return {
            "fingerprints": int((~self.facets.erased).sum()),
            "e1_prefix": self._prefix.count(),
            "inverted": self._of_kind(E13, SparseSpace).count(),
            "purpose": self.purposes.count(),
        }

    def graphs(self) -> dict[str, Graph]:
        """Return the graphs of the spaces that are searched as a whole, by the name of the index."""
        spaces: dict[str, DenseSpace | BinarySpace] = {"e1_prefix": self._prefix.vectors, E9: self._sketch}
        spaces |= {key: space for key, space in self._spaces.items() if isinstance(space, DenseSpace)}
        return {name: space.graph for name, space in spaces.items() if space.graph is not None}

    def prepare(self) -> None:
        """Build and load what the next search would otherwise wait for."""
        super().prepare()
        for graph in self.graphs().values():
            if graph.covered:
                graph.open()

    def ranking_scores(
        self, key: str, query: Mapping[str, Embedding], rows: Rows, hints: QueryHints = NO_HINTS
    ) -> Scores:
        """Return the scores that rank these rows for a query in one space, comparable within that space only.

        That is the raw similarity, except for plain term counts (BM25, unbounded), E2 if the query names a time (match
        of time mentions), E4 if it asks for an end of its session (sharpened cosine), and E11 (coverage of the query's
        terms, plus matches of time and speaker). A query without an embedding of this space, or of E6 for E11, is a
        KeyError.
        """
        if key == E11:
            return self._entity_scores(query[E6], rows, hints)
        space, embedding = self._space(key), query[key]
        if key == E6 and isinstance(space, SparseSpace) and isinstance(embedding, Sparse):
            return space.bm25(embedding, rows)
        if key == E2 and hints.intervals:
            return self.time_mentions.time_scores(hints.intervals, rows)
        scores = self.scores(key, embedding, rows, direction=hints.direction)
        return scores**_ORDER_EXPONENT if key == E4 and (hints.start or hints.end) else scores

    def nearest(
        self, key: str, embedding: Embedding, count: int, eligible: Mask, *, direction: Direction | None = None
    ) -> tuple[Rows, Scores]:
        """Return the best `count` eligible rows of one whole space, best first, with their raw similarities."""
        space = self._space(key)
        if isinstance(space, WindowedSpace) and isinstance(embedding, Dense):
            return space.nearest_by_prefix(self._prefix, embedding.levels, count, eligible)
        if isinstance(space, DenseSpace) and isinstance(embedding, Dense):
            return space.nearest(embedding.levels, count, eligible)
        if isinstance(space, DirectedSpace) and isinstance(embedding, Directed) and direction is not None:
            return space.nearest(embedding, count, eligible, direction)
        rows = np.flatnonzero(eligible)
        return best(rows, self.scores(key, embedding, rows, direction=direction), count)

    def recall_prefix(self, query_e1: npt.NDArray[np.floating], count: int, eligible: Mask) -> Rows:
        """Return the `count` eligible rows nearest to a unit E1 vector by its prefix, best first, passages included."""
        return self._prefix.nearest(levels(query_e1[:PREFIX_DIMENSIONS]), count, eligible)[0]

    def prefixes(self, rows: Rows) -> Levels:
        """Return the E1 prefix of rows that aren't erased, shape (rows, dimensions)."""
        return self._prefix.wholes(rows)

    def recall_sketch(self, query: Bits, count: int, eligible: Mask) -> Rows:
        """Return the `count` eligible rows nearest in E9 among those nearest by sketch, best first."""
        likely, _ = self._sketch.nearest(self._sketch_of(query), _SKETCH_OVERSAMPLING * count, eligible)
        return best(likely, self.scores(E9, query, likely), count)[0]

    def recall_sparse(self, key: str, query: Sparse, count: int, eligible: Mask) -> Rows:
        """Return up to `count` eligible rows that share a term with the query, best first; BM25 ranks plain counts."""
        return self._of_kind(key, SparseSpace).recall(query, count, eligible)

    def known_share(self, key: str, query: Sparse, eligible: Mask) -> float:
        """Return the share of a query's terms that occur in some eligible row."""
        return self._of_kind(key, SparseSpace).known_share(query, eligible)

    def coverage(self, key: str, query: Sparse, rows: Rows) -> Scores:
        """Return the share of a query's terms, all alike, that each row contains, in [0, 1], shape (rows,)."""
        space = self._of_kind(key, SparseSpace)
        shares = np.zeros(space.width, np.float32)
        shares[query.ids] = 1 / max(1, len(query.ids))
        return space.coverage(shares, rows)

    def holders(self, key: str, terms: npt.NDArray[np.uint16], eligible: Mask) -> npt.NDArray[np.intp]:
        """Return the number of eligible rows that contain each of these terms, shape (terms,)."""
        return self._of_kind(key, SparseSpace).holders(terms, eligible)

    def digest(self) -> bytes:
        """Return the SHA-256 of all spaces, filter columns, time mentions, states, clusters and ids."""
        spaces = [self._space(key).digest() for key in self._spaces]
        ids = b"".join(memory.bytes for memory in self._ids)
        folds = (self.purposes, self.facets, self.time_mentions, self._lifecycle, self._supersessions, self._clusters)
        spaces += [self._prefix.digest(), self._passage_terms.digest()]
        connections = b"" if self._connected_context is None else self._connected_context.digest()
        return digest_of(*spaces, connections, *(fold.digest() for fold in folds), ids)

    def refresh(self) -> None:
        """Compute E8 of the rows whose connections changed, for which the next search would otherwise wait."""
        if self._connected_context is not None:
            self._connected_context.refresh(self._e8_inputs)

    def _space(self, key: str) -> SpaceStore:
        if key == E8:
            self.refresh()
        return super()._space(key)

    @property
    def _e8_inputs(self) -> E8Inputs:
        space = self._of_kind(E8, DenseSpace)
        return E8Inputs(self._ids, self._rows, self.facets, self._semantic, self._clusters, self._lifecycle, space)

    def _entity_scores(self, terms: Embedding, rows: Rows, hints: QueryHints) -> Scores:
        """Return how well these rows match the terms, times and speakers of a query, shape (rows,)."""
        space = self._of_kind(E6, SparseSpace)
        scores = space.coverage(space.shares(of_kind(terms, Sparse, E6)), rows)
        if hints.intervals:
            scores += _TIME_WEIGHT * self.time_mentions.time_scores(hints.intervals, rows)
        if len(speakers := self.time_mentions.speakers(hints.words)):
            scores += _SPEAKER_WEIGHT * self.time_mentions.speaker_scores(speakers, rows)
        return scores

    def _append(self, memory: UUID, stored: MemoryStored | None) -> None:
        self.facets.append(stored)
        self.time_mentions.append(stored)
        self.purposes.append(stored and stored.purpose, stored and stored.north_star)
        fingerprint, passages = (None, ()) if stored is None else (stored.fingerprint, stored.passages)
        self.append(memory, fingerprint, passages, decompress(stored.content) if stored and passages else "")
        vectors, spans = semantic_vectors(fingerprint, passages, self.dimensions[E1])
        self._prefix.append(levels(vectors[:, :PREFIX_DIMENSIONS]), spans)
        self._sketch.append(None if fingerprint is None else self._sketch_of(fingerprint.take(E9, Bits)))

    def _sketch_of(self, bits: Bits) -> npt.NDArray[np.uint8]:
        return bits.array[: min(SKETCH_BITS, self.dimensions[E9]) // 8]

    def _change_state(self, change: StateChange) -> None:
        """Apply a state change to the memory's row, unless it is erased; statistics count live rows only."""
        row = self._rows[change.memory]
        if self.facets.state(row) is MemoryState.ERASED:
            return
        for space in self._spaces.values():
            if isinstance(space, SparseSpace | TokenSpace):
                if change.before is MemoryState.LIVE:
                    space.exclude(row)
                elif change.after is MemoryState.LIVE:
                    space.include(row)
        if change.after is MemoryState.ERASED:
            by_row = (self.facets, self.time_mentions, self._prefix, self._sketch, self._passage_terms, self.purposes)
            for part in (*by_row, *self._spaces.values()):
                part.clear(row)
        elif change.after is MemoryState.LIVE:
            self.facets.show(row)
        else:
            survivor = self._lifecycle.survivor(change.memory)
            self.facets.hide(row, change.after, None if survivor is None else self._rows[survivor])
