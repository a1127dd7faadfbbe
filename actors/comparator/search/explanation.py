"""What an answer says of each memory: what every space thinks of it, and what made up its rank."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from actors.comparator.messages import Hit, Search, SpaceScore
from actors.comparator.search.ranking import Similarities
from actors.comparator.search.weight_profiles import Weights
from events.fingerprint import Dense, Embedding, Float32
from projections.memories.atlas import Atlas
from projections.storage.arrays import Rows, Scores

MEANING = "e1_semantic"


class RankedPage(NamedTuple):
    """Rows, the best first, and what made up the score of each, all of shape (rows,)."""

    rows: Rows
    contributions: dict[str, Scores]
    lent: Scores
    served: Scores | None
    """By serving the North Star; None where that doesn't count."""
    primed: Scores
    renewed: Scores
    """By being a later version of what another says."""


def meaning(query: Mapping[str, Embedding]) -> Float32:
    """Return E1 of a question, shape (dimension,); another kind of embedding is a TypeError."""
    embedding = query[MEANING]
    if not isinstance(embedding, Dense):
        raise TypeError(f"{MEANING} is dense")
    return embedding.array


def page(atlas: Atlas, of: Similarities, request: Search, weights: Weights, ranking: RankedPage) -> tuple[Hit, ...]:
    """Return the hits of the page that is asked for, and one more if there is any."""
    # Without a threshold only those that are asked for need explaining; one more tells whether there is another page.
    places = slice(None)
    skip, until = request.offset, request.offset + request.limit + 1
    if request.min_similarity == 0:
        places = slice(skip, until)
        skip, until = 0, until - skip
    hits = _explained(atlas, of, request.embeddings, weights, ranking, places)
    return tuple(islice((hit for hit in hits if hit.similarity >= request.min_similarity), skip, until))


def _explained(
    atlas: Atlas,
    of: Similarities,
    query: Mapping[str, Embedding],
    weights: Weights,
    ranking: RankedPage,
    places: slice,
) -> Iterator[Hit]:
    """Say of each memory what every space that the question speaks to thinks of it, whether it weighs or not."""
    rows = ranking.rows[places]
    similarity = {key: of(key, rows) for key in query}
    contributions = {key: values[places].tolist() for key, values in ranking.contributions.items()}
    lent, primed = ranking.lent[places].tolist(), ranking.primed[places].tolist()
    renewed = ranking.renewed[places].tolist()
    served = None if ranking.served is None else ranking.served[places].tolist()
    _, passages = atlas.passage_scores(meaning(query), rows)
    for place, (memory, passage) in enumerate(zip(atlas.ids(rows), passages, strict=True)):
        spaces = {
            key: SpaceScore(
                similarity=float(values[place]),
                contribution=contributions[key][place] if key in contributions else 0.0,
            )
            for key, values in similarity.items()
        }
        # Where nothing tells candidates apart, as with a single one, the weighted similarity says what found it.
        ranked = sorted(
            spaces, key=lambda key: (spaces[key].contribution, weights.get(key, 0) * spaces[key].similarity)
        )
        extra = lent[place] + (served[place] if served else 0.0) + primed[place] + renewed[place]
        yield Hit(
            memory=memory,
            score=sum(space.contribution for space in spaces.values()) + extra,
            similarity=sum(weights.get(key, 0) * space.similarity for key, space in spaces.items()),
            spaces={key: spaces[key] for key in reversed(ranked)},
            passage=passage,
            context=lent[place],
            alignment=served[place] if served else None,
            priming=primed[place],
            renewal=renewed[place],
        )
