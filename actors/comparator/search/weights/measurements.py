"""What `auto` measures of a question among the memories that recall found: the inputs of its weights."""

from typing import Final

import numpy as np

from actors.comparator.messages import Search
from actors.comparator.search.fusion import Candidates, Scale
from actors.text.queries.query_hints import causal_subject
from events.fingerprint import Sparse
from events.spaces import E1, E6
from projections.atlas.atlas import Atlas
from projections.storage.arrays import Mask, Scores, top_k

Measurements = dict[str, float]

MEASURED: Final = (E1, E6)
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
    """
    rows, e1, e6 = candidates.rows, candidates.scores(E1), candidates.scores(E6)
    e1_scale, e6_scale = candidates.scale(E1), candidates.scale(E6)
    nearest = top_k(e1, NEAREST)
    # A time in the question that is no candidate's, as those of a long description often are, tells none from another.
    intervals = request.hints.intervals
    terms = request.embeddings.get(E6)
    known = atlas.known_share(E6, terms, eligible) if isinstance(terms, Sparse) else 1.0
    speakers = atlas.time_mentions.speakers(request.hints.words)
    spoken = float(atlas.time_mentions.speaker_scores(speakers, rows).mean()) if len(speakers) else 0.0
    return {
        "event": float(causal_subject(request.text) != request.text),
        "time": float(atlas.time_mentions.time_scores(intervals, rows).max()) if intervals else 0.0,
        "speaker": min(1.0, spoken / SPOKEN),
        "unknown_word": float(known < 1),
        "unknown_share": 1 - known,
        "code": float(atlas.facets.is_code(rows[nearest]).mean()),
        "session": float(atlas.facets.in_session(rows).mean()),
        "passages": float((atlas.passage_counts(rows) > 0).mean()),
        "question_length": float(np.log1p(len(request.text.split()))),
        "memory_length": float(np.log1p(atlas.term_counts(rows)).mean()),
        "nearness": float(e1.max()),
        "agreement": _correlation(e1, e1_scale, e6, e6_scale),
        "e1_tail": _tail(e1[nearest[:BEST]], e1_scale),
        "e6_tail": _tail(e6[top_k(e6, BEST)], e6_scale),
    }


def _correlation(first: Scores, of_first: Scale, second: Scores, of_second: Scale) -> float:
    """Return Pearson's correlation of two spaces over the candidates; 0 where one does not differ."""
    spread = of_first.deviation * of_second.deviation
    return float(((first - of_first.mean) * (second - of_second.mean)).mean() / spread)


def _tail(best: Scores, of_all: Scale) -> float:
    """Return by how many standard deviations the best scores exceed the mean of all; 0 where none differ."""
    return float((best.mean() - of_all.mean) / of_all.deviation)
