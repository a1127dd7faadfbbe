"""What `auto` measures of a question among the memories that recall found: the inputs of its weights."""

from typing import Final

import numpy as np

from actors.comparator.messages import Search
from actors.comparator.search.fusion import Candidates
from actors.comparator.search.recall import SPARSE
from actors.text.queries.query_hints import causal_subject
from events.fingerprint import Sparse
from events.spaces import E1
from projections.atlas.atlas import Atlas
from projections.storage.arrays import Mask, Scores, top_k

Measurements = dict[str, float]

MEASURED: Final = (E1, SPARSE[0])
"""The spaces whose scores are measured."""

NEAREST: Final = 32
"""Best candidates in E1, whose modality tells whether the question is about code."""
BEST: Final = 10
"""Best candidates of a space, whose mean distance from all others is its tail."""
SPOKEN: Final = 0.05
"""Share of the candidates said by those whom the question names from which on it surely asks what they said. The title
"Information: a review" begins like a line of a transcript, but few memories begin so."""


def measure(atlas: Atlas, request: Search, eligible: Mask, candidates: Candidates) -> Measurements:
    """Measure a question and its candidates, which the spaces of `MEASURED` have scored.

    Only eligible rows are read: otherwise the weights would leak what other namespaces hold.

    Args:
        atlas: The atlas of the rows.
        request: The parsed query.
        eligible: The rows that the search admits.
        candidates: The recalled rows.
    """
    rows, e1, e6 = candidates.rows, candidates.scores(E1), candidates.scores(SPARSE[0])
    terms = request.embeddings.get(SPARSE[0])
    known = isinstance(terms, Sparse)
    speakers = atlas.time_mentions.speakers(request.hints.words)
    return {
        "event": float(causal_subject(request.text) != request.text),
        "time": float(bool(request.hints.intervals)),
        "speaker": min(1.0, float(atlas.time_mentions.speaker_scores(speakers, rows).mean()) / SPOKEN),
        "unknown_word": float(known and not atlas.contains_terms(SPARSE[0], terms, eligible)),
        "code": float(atlas.facets.is_code(rows[top_k(e1, NEAREST)]).mean()),
        "session": float(atlas.facets.in_session(rows).mean()),
        "passages": float((atlas.passage_counts(rows) > 0).mean()),
        "question_length": float(np.log1p(len(request.text.split()))),
        "memory_length": float(np.log1p(atlas.term_counts(rows)).mean()),
        "nearness": float(e1.max()),
        "agreement": _correlation(e1, e6),
        "e1_tail": _tail(e1),
        "e6_tail": _tail(e6),
    }


def _correlation(first: Scores, second: Scores) -> float:
    """Return Pearson's correlation of two spaces over the candidates; 0 where one does not differ."""
    spread = first.std() * second.std()
    return float(((first - first.mean()) * (second - second.mean())).mean() / spread) if spread > 1e-6 else 0.0


def _tail(scores: Scores) -> float:
    """Return by how many standard deviations the best candidates exceed the mean; 0 where none differ."""
    deviation = scores.std()
    return float((scores[top_k(scores, BEST)].mean() - scores.mean()) / deviation) if deviation > 1e-6 else 0.0
