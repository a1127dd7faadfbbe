"""Explain ranked rows: the similarity of every space, and the parts of the score."""

from collections.abc import Iterator, Mapping
from itertools import islice
from math import isnan
from typing import NamedTuple

from actors.comparator.compare.similarity import Similarities
from actors.comparator.messages import Hit, Search, SpaceScore
from actors.comparator.search.passages import best_passages
from projections.atlas.atlas import Atlas
from projections.storage.arrays import Rows, Scores


class RankedRows(NamedTuple):
    """Rows, best first, and the parts of their scores, each of shape (rows,)."""

    rows: Rows
    contributions: dict[str, Scores]
    bonuses: dict[str, Scores]
    """By the field of `Hit` that shows them; a penalty is below 0."""

    def at(self, places: Rows | slice) -> "RankedRows":
        """Return the rows at these places, in their order."""
        contributions, bonuses = (
            {key: values[places] for key, values in parts.items()} for parts in (self.contributions, self.bonuses)
        )
        return RankedRows(self.rows[places], contributions, bonuses)


def explain_page(
    atlas: Atlas, similarities: Similarities, ranked: RankedRows, request: Search, weights: Mapping[str, float]
) -> tuple[Hit, ...]:
    """Return the hits of the requested page, and one more if there is a next page."""
    page = slice(request.offset, request.offset + request.limit + 1)
    if request.min_similarity == 0:  # no row is left out, so that those of the page alone need explaining
        return tuple(_explain(atlas, similarities, request, weights, ranked.at(page)))
    hits = _explain(atlas, similarities, request, weights, ranked)
    return tuple(islice((hit for hit in hits if hit.similarity >= request.min_similarity), page.start, page.stop))


def _explain(
    atlas: Atlas, similarities: Similarities, request: Search, weights: Mapping[str, float], ranked: RankedRows
) -> Iterator[Hit]:
    """Yield a hit for each row, with the similarities of the spaces that have something to say of query and row."""
    rows = ranked.rows
    similarity = {key: similarities(key, rows).tolist() for key in request.embeddings}
    contributions = {key: values.tolist() for key, values in ranked.contributions.items()}
    bonuses = {name: values.tolist() for name, values in ranked.bonuses.items()}
    passages = best_passages(atlas, request.embeddings, rows)
    for index, memory in enumerate(atlas.ids(rows)):
        spaces = {
            key: SpaceScore(
                similarity=values[index], contribution=contributions[key][index] if key in contributions else 0.0
            )
            for key, values in similarity.items()
            if not isnan(values[index])
        }
        # A space without weight comes last: its contribution of 0 would be above negative ones. Contributions are all 0
        # where candidates do not differ; then the weighted similarity decides the order.
        shares = {key: weights.get(key, 0.0) for key in spaces}
        order = sorted(
            spaces, key=lambda key: (shares[key] > 0, spaces[key].contribution, shares[key] * spaces[key].similarity)
        )
        weighted = sum(shares[key] * space.similarity for key, space in spaces.items())
        extra = {name: values[index] for name, values in bonuses.items()}
        yield Hit(
            memory=memory,
            score=sum(space.contribution for space in spaces.values()) + sum(extra.values()),
            similarity=weighted / (sum(shares.values()) or 1),
            spaces={key: spaces[key] for key in reversed(order)},
            passage=passages[index],
            **extra,
        )
