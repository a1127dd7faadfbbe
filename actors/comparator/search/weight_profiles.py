"""Choose the weight of each space for a query: a fixed profile, or `auto`, which depends on the kinds of the query.

`auto.json` holds one row of weights for each kind, fitted by `scripts/train/fusion.py`. The rows of all kinds of a
query are summed.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from actors.comparator.messages import Search
from actors.comparator.messages.profiles import FIXED_PROFILES, Weights
from actors.comparator.search.recall import SPARSE
from actors.runtime.settings import SearchProfile
from actors.text.query_classifier import QueryKind, classify
from events.fingerprint import Sparse
from events.spaces import SPACES
from events.vocabulary.values import Modality
from projections.memories.atlas import Atlas
from projections.storage.arrays import Mask

AUTO: Final = msgspec.json.decode(Path(__file__).with_name("auto.json").read_bytes(), type=dict[QueryKind, Weights])
"""Weights by kind; spaces of weight 0 are left out. The rows of the three main kinds sum to 1."""


def query_kinds(atlas: Atlas, request: Search, eligible: Mask) -> frozenset[QueryKind]:
    """Return the kinds of a query, from its text and the eligible rows.

    Only eligible rows are read: otherwise the weights would leak what other namespaces hold.
    """
    kinds = classify(request.text, request.hints)
    if QueryKind.GENERAL in kinds and atlas.facets.mostly(Modality.CODE, eligible):
        kinds = kinds - {QueryKind.GENERAL} | {QueryKind.CODE}
    speakers = atlas.time_mentions.speakers(request.hints.words)
    if atlas.time_mentions.speaker_scores(speakers, np.flatnonzero(eligible)).any():
        # What people say about themselves in a conversation repeats the words of a question about them.
        kinds = kinds - {QueryKind.CAUSE} | {QueryKind.SPEAKER}
        if not kinds & {QueryKind.GENERAL, QueryKind.CODE}:
            kinds |= {QueryKind.GENERAL}
    terms = request.embeddings.get(SPARSE[0])
    if isinstance(terms, Sparse) and not atlas.contains_terms(SPARSE[0], terms, eligible):
        kinds |= {QueryKind.UNKNOWN_WORD}
    return kinds


def profile_weights(profile: SearchProfile, kinds: frozenset[QueryKind]) -> Weights:
    """Return the weights of a profile for all thirteen spaces."""
    if profile is not SearchProfile.AUTO:
        return FIXED_PROFILES[profile]
    rows = [AUTO[kind] for kind in QueryKind if kind in kinds]
    return normalised({space.key: sum(row.get(space.key, 0.0) for row in rows) for space in SPACES})


def applied_weights(profile: SearchProfile, kinds: frozenset[QueryKind], available: Collection[str]) -> Weights:
    """Return the weights of a profile over the spaces for which the query has an embedding; they sum to 1."""
    weights = profile_weights(profile, kinds)
    return normalised({key: weight for key, weight in weights.items() if key in available})


def normalised(weights: Weights) -> Weights:
    """Return weights scaled to sum 1; unchanged if all are 0."""
    total = sum(weights.values()) or 1.0
    return {key: weight / total for key, weight in weights.items()}
