"""All that is stored, by row: fingerprints, the memories that they belong to, and what rows are filtered by."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt

from events.fingerprint import Bits, Dense, Embedding, Sparse, levels
from events.spaces import SPACES
from events.storage.log import Envelope
from events.vocabulary import MemoryStored, PurposesRealigned, SpacesDeclared
from projections.memories.facets import Facets
from projections.memories.lifecycle import Change, Lifecycle
from projections.mind.clusters import Clusters
from projections.projection import MemoryState, digest_of, is_shredded_memory
from projections.spaces.binary import BinarySpace
from projections.spaces.dense import DenseSpace
from projections.spaces.directed import Direction
from projections.spaces.fingerprints import CONTEXT, COUNTED, WINDOWED, Fingerprints, mismatch, windows
from projections.spaces.purpose import PurposeSpace
from projections.spaces.sparse import SparseSpace
from projections.spaces.tokens import TokenStore
from projections.spaces.windowed import Span, WindowedSpace
from projections.storage.arrays import Mask, Rows, Scores, best
from projections.time.time_mentions import SILENT, QueryHints, TimeMentions

EXPANSION: Final = "e13_splade"
"""The space of the inverted index that the seeds know."""
PREFIX: Final = 128
"""So many first dimensions of E1 carry most of it (Matryoshka); recall reads no more."""
RECENCY: Final = "e2_temporal_recent"
"""The space of when something happened: for a question that names a time, memories that tell of it come first."""
ORDER: Final = "e4_temporal_positional"
"""The space of turns: for a question that names an end of its session, the turn that stands there comes first."""
CLOSENESS: Final = 64
"""The power of E4's cosine that counts then: two turns away that is .982, of which .3 is left, four away .014."""
ENTITIES: Final = "e11_entity"
"""The space of facts: of who and what a question names, when it was, and who says it."""
DATED: Final = 0.15
"""What telling of the very time that is named counts there, where holding all words of the question counts 1."""
SPOKEN: Final = 0.3
"""What being said by somebody who is named counts there."""
LETTERS: Final = "e9_hdc"
"""The space of hypervectors."""
SKETCH: Final = 2_048
"""So many first bits of a hypervector say who its nearest may be; recall reads no more, in a fifth of the time."""
SHORTLIST: Final = 4
"""Times as many as are wanted are compared by all bits."""


class Atlas(Fingerprints):
    """One row per stored memory in the order of arrival, never reused.

    A memory that can't be found keeps its row, unless it is erased: then it leaves an empty one, also when its event
    could not be read any more (`Shredded`), so that rows are the same however late a log is replayed.
    """

    def __init__(self, dimensions: Mapping[str, int]) -> None:
        """Make empty spaces; `dimensions` gives the size of each by its key, and a missing one is a KeyError."""
        super().__init__(dimensions)
        self._prefix = WindowedSpace(min(PREFIX, self.dimensions[WINDOWED]))
        self._sketch = BinarySpace(min(SKETCH, self.dimensions[LETTERS]))
        self.purposes = PurposeSpace(len(SPACES))
        self.facets = Facets()
        self.telling = TimeMentions()
        self._presence = Lifecycle()
        self._clusters = Clusters()

    @classmethod
    def of(cls, declared: SpacesDeclared) -> "Atlas":
        """Make empty spaces of the declared dimensions."""
        return cls({space.key: space.dimension for space in declared.spaces})

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log; spaces declared with other dimensions are a ValueError."""
        match envelope.event:
            case SpacesDeclared(spaces=spaces):
                if {space.key: space.dimension for space in spaces} != self.dimensions:
                    raise ValueError("the log declares other dimensions than those of the atlas")
            case MemoryStored() as stored:
                self._append(envelope.id, stored)
            case PurposesRealigned() as realigned:
                self._realign(realigned)
            case event if is_shredded_memory(event):
                self._append(envelope.id, None)
            case _:
                pass
        for change in self._presence.apply(envelope):
            self._follow(change)
        self._lean(self._clusters.apply(envelope))

    def survivor(self, memory: UUID) -> UUID:
        """Return the memory that answers for this one: itself, unless it was absorbed."""
        return self._presence.root(memory)

    def counts(self) -> dict[str, int]:
        """Return how many memories stand in the fingerprints, the E1 prefix, the inverted and the purpose index."""
        return {
            "fingerprints": int((~self.facets.erased).sum()),
            "e1_prefix": self._prefix.count(),
            "inverted": self._sparse(EXPANSION).count(),
            "purpose": self.purposes.count(),
        }

    def relevance(self, key: str, query: Mapping[str, Embedding], rows: Rows, cues: QueryHints = SILENT) -> Scores:
        """Return what ranks these rows for a query in one space: the raw similarity, but for four spaces.

        BM25 for plain counts, which has no upper end; in E2 how well a memory tells of the time that is named; in E4
        how right at the end that is asked for a turn stands; in E11 how much of what is asked a memory names, by the
        words of E6, and whether it tells of that time and is said by who is named. So relevances of two spaces compare
        only after they were standardised.

        Args:
            key: Of the space.
            query: Its embeddings by space; one without that of this space, or for E11 of E6, is a KeyError.
            rows: Shape (rows,).
            cues: What it says beside.
        """
        if key == ENTITIES:
            return self._facts(query[COUNTED], rows, cues)
        space, embedding = self._spaces[key], query[key]
        if key == COUNTED and isinstance(space, SparseSpace) and isinstance(embedding, Sparse):
            return space.bm25(embedding)[rows]
        if key == RECENCY and cues.intervals:
            return self.telling.times(cues.intervals, rows)
        scores = self.scores(key, embedding, rows, direction=cues.direction)
        return scores**CLOSENESS if key == ORDER and (cues.start or cues.end) else scores

    def nearest(
        self, key: str, embedding: Embedding, count: int, eligible: Mask, *, direction: Direction | None = None
    ) -> tuple[Rows, Scores]:
        """Return the `count` best eligible rows of one whole space, best first, with their raw similarities."""
        space = self._spaces[key]
        if isinstance(space, WindowedSpace | DenseSpace) and isinstance(embedding, Dense):
            return space.nearest(embedding.levels, count, eligible)
        rows = np.flatnonzero(eligible)
        if 2 * len(rows) > len(self):  # most of them: all at once is faster than a gather
            scores = self.scores(key, embedding, direction=direction)[rows]
        else:
            scores = self.scores(key, embedding, rows, direction=direction)
        order = best(scores, count)
        return rows[order], scores[order]

    def recall_prefix(self, query_e1: npt.NDArray[np.floating], count: int, eligible: Mask) -> Rows:
        """Return the `count` eligible rows, best first, nearest to a unit E1 vector by its first dimensions.

        A row is as near as the nearest of its whole and its passages.
        """
        return self._prefix.nearest(levels(query_e1[:PREFIX]), count, eligible)[0]

    def recall_sketch(self, query: Bits, count: int, eligible: Mask) -> Rows:
        """Return the `count` eligible rows, best first, nearest in E9 among those nearest by its first bits."""
        rows = np.flatnonzero(eligible)
        likely = rows[best(self._sketch.scores(self._sketched(query))[rows], SHORTLIST * count)]
        return likely[best(self.scores(LETTERS, query, likely), count)]

    def recall_sparse(self, key: str, query: Sparse, count: int, eligible: Mask) -> Rows:
        """Return up to `count` eligible rows, best first, that share a term with the query; BM25 ranks plain counts."""
        space = self._sparse(key)
        scores = space.bm25(query) if key == COUNTED else space.cosine(query)
        rows = np.flatnonzero((scores > 0) & eligible)
        return rows[best(scores[rows], count)]

    def knows(self, key: str, query: Sparse, eligible: Mask) -> bool:
        """Tell whether every term of a question stands in some eligible row."""
        return self._sparse(key).knows(query, eligible)

    def passage_scores(self, query_e1: npt.NDArray[np.floating], rows: Rows) -> tuple[Scores, list[Span | None]]:
        """Return the E1 scores of these rows, and the span of each one's best passage (None where it has none)."""
        return self._semantic.passages(levels(query_e1), rows)

    def digest(self) -> bytes:
        """Return the SHA-256 of all spaces, facets and ids."""
        spaces = [space.digest() for space in self._spaces.values()]
        ids = b"".join(memory.bytes for memory in self._ids)
        folds = (self.purposes, self.facets, self.telling, self._presence, self._clusters)
        return digest_of(*spaces, self._prefix.digest(), *(fold.digest() for fold in folds), ids)

    def _facts(self, words: Embedding, rows: Rows, cues: QueryHints) -> Scores:
        """Return how much these rows tell of what is asked: who and what, when, and who says it, shape (rows,)."""
        if not isinstance(words, Sparse):
            raise mismatch(COUNTED, words)
        scores = self._sparse(COUNTED).coverage(words, rows)
        if cues.intervals:
            scores += DATED * self.telling.times(cues.intervals, rows)
        if len(voices := self.telling.voices(cues.words)):
            scores += SPOKEN * self.telling.spoken(voices, rows)
        return scores

    def _append(self, memory: UUID, stored: MemoryStored | None) -> None:
        self.facets.append(stored)
        self.telling.append(stored)
        if stored is None:
            self.purposes.append(None)
        else:
            self.purposes.append(stored.purpose, stored.north_star)
        fingerprint, passages = (None, ()) if stored is None else (stored.fingerprint, stored.passages)
        self.append(memory, fingerprint, passages)
        vectors, spans = windows(fingerprint, passages, self.dimensions[WINDOWED])
        self._prefix.append(levels(vectors[:, :PREFIX]), spans)
        self._sketch.append(None if fingerprint is None else self._sketched(fingerprint.take(LETTERS, Bits)))

    def _sketched(self, bits: Bits) -> npt.NDArray[np.uint8]:
        return bits.array[: min(SKETCH, self.dimensions[LETTERS]) // 8]

    def _realign(self, realigned: PurposesRealigned) -> None:
        for memory, purpose in zip(realigned.memories, realigned.rows(), strict=True):
            row = self._rows[memory]
            if self.facets.state(row) is not MemoryState.ERASED:
                self.purposes.realign(row, purpose, realigned.goal)

    def _follow(self, change: Change) -> None:
        """Let a row that isn't empty follow its memory; statistics count live rows alone."""
        row = self._rows[change.memory]
        if self.facets.state(row) is MemoryState.ERASED:
            return
        for space in self._spaces.values():
            if isinstance(space, SparseSpace | TokenStore):
                if change.before is MemoryState.LIVE:
                    space.hide(row)
                elif change.after is MemoryState.LIVE:
                    space.show(row)
        if change.after is MemoryState.ERASED:
            for held in (self.facets, self.telling, self._prefix, self._sketch, self.purposes, *self._spaces.values()):
                held.clear(row)
        elif change.after is MemoryState.LIVE:
            self.facets.show(row)
        else:
            survivor = self._presence.survivor(change.memory)
            self.facets.hide(row, change.after, None if survivor is None else self._rows[survivor])

    def _lean(self, memories: tuple[UUID, ...]) -> None:
        """Let memories lean towards the most central other one of their clusters, where both spaces have one size."""
        if not memories or self.dimensions[CONTEXT] != self.dimensions[WINDOWED]:
            return
        held = ~self.facets.erased
        rows = {memory: row for memory in memories if held[row := self._rows[memory]]}
        self._context.straighten(np.array([*rows.values()], np.int64))
        spokes = [(row, *spoke) for memory, row in rows.items() if (spoke := self._clusters.spoke(memory)) is not None]
        leaning = [(row, self._rows[middle], share) for row, middle, share in spokes if held[self._rows[middle]]]
        if leaning:
            lean, middles, shares = zip(*leaning, strict=True)
            distinct, which = np.unique(middles, return_inverse=True)
            vectors = np.stack([self._semantic.at(middle).array for middle in distinct.tolist()])
            self._context.lean(np.array(lean), vectors[which], np.array(shares, np.float32))
