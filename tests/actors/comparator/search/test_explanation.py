"""Explaining a page: nothing is computed twice, and nothing that its receiver doesn't read."""

from collections import Counter
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest

from actors.comparator.compare.calibration import Calibration
from actors.comparator.messages import Found, Search
from actors.comparator.messages.search import MIN_POOL
from actors.comparator.search import pipeline
from actors.runtime.settings import SearchProfile
from actors.text.queries.query_hints import extract_hints
from events.fingerprint import Embedding
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.storage.arrays import Rows, Scores
from tests.actors.comparator.similar_memories import atlas_of, query, varied
from tests.events.samples import NOON


@cache
def atlas() -> Atlas:
    return atlas_of(varied(400))


def found(**overrides: Any) -> Found:
    text = "the tide"
    fields: dict[str, Any] = {
        "text": text,
        "hints": extract_hints(text, NOON),
        "embeddings": query(),
        "profile": SearchProfile.AUTO,
        "filter": Filter(),
        "limit": 10,
        "pool": MIN_POOL,
        **overrides,
    }
    return pipeline.search(atlas(), Calibration({}), Search(**fields), {})


@pytest.mark.parametrize("profile", [SearchProfile.AUTO, SearchProfile.BALANCED])
def test_no_row_is_scored_again_in_a_space_that_ranked_it(profile: SearchProfile, monkeypatch: pytest.MonkeyPatch):
    times = Counter[tuple[str, int]]()
    scores = Atlas.scores

    def counting(self: Atlas, key: str, embedding: Embedding, rows: Rows | None = None, **options: Any) -> Scores:
        times.update((key, row) for row in (np.arange(len(self)) if rows is None else rows).tolist())
        return scores(self, key, embedding, rows, **options)

    monkeypatch.setattr(Atlas, "scores", counting)
    assert found(profile=profile).hits
    # Words rank by BM25 and coverage, so their cosines are new; relevance reads those of E11 too.
    assert {key for (key, _), count in times.items() if count > 1} <= {"e11_entity"}


def test_who_reads_three_spaces_gets_the_same_hits_without_those_that_weigh_nothing():
    everything, some = found(), found(shown=3)
    without = [[msgspec.structs.replace(hit, spaces={}) for hit in one.hits] for one in (everything, some)]
    assert without[0] == without[1]
    for whole, part in zip(everything.hits, some.hits, strict=True):
        weighted = [key for key in whole.spaces if everything.weights[key] > 0]
        assert {*weighted} <= part.spaces.keys() < whole.spaces.keys()
        assert [*part.spaces.items()][:3] == [*whole.spaces.items()][:3]


def test_spaces_that_weigh_nothing_fill_up_where_more_are_read_than_have_weight():
    assert found(shown=13).hits == found().hits
