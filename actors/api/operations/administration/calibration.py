"""The operation that calibrates a chosen model on texts of the store.

The packaged model, whose similarities are calibrated by people's grades, scores the same pairs of texts. Each level of
its curve is carried over to the chosen model by the share of pairs above it.
"""

from typing import Annotated, Final
from uuid import UUID

import numpy as np
from msgspec import Meta

from actors.api.context import Context, append, wait_until_ready
from actors.api.operations.ingest.pending_memory import stored_event
from actors.api.params.parsing import Params
from actors.comparator.compare.calibration import equate, shipped_curves
from actors.comparator.messages import ReadIndexes, ReadRawScores
from actors.comparator.messages.memories import ReadColumns
from actors.embedder.messages import Content, EmbedContent
from actors.runtime.ask import MODEL_TIMEOUT, ask
from actors.runtime.faults import InvalidParamsFault, StorageFault
from actors.runtime.types import JsonObject
from actors.store.messages import ReadLive, ReadStatus
from events.fingerprint import Dense
from events.quantization import Float32
from events.spaces import E1, E8, SPACES
from events.storage.log import Envelope
from events.vocabulary import SimilaritiesCalibrated
from events.vocabulary.codec import decompress
from events.vocabulary.values import SpaceModel
from projections.storage.arrays import Scores

MIN_TEXTS: Final = 50
"""Memories that a calibration needs."""
MIN_RELATED: Final = 20
"""Pairs of these texts that the packaged model must call related."""


class StoreCalibrate(Params, frozen=True, kw_only=True):
    """Calibrate the similarities of a model that `--embedder` chose on texts of the store."""

    texts: Annotated[int, Meta(ge=MIN_TEXTS, le=2_000)] = 400
    """How many live memories are compared with each other; they are spread evenly over the store."""


async def store_calibrate(context: Context, params: StoreCalibrate) -> JsonObject:
    await wait_until_ready(context)
    models = await _uncalibrated(context)
    memories = await _sample(context, params.texts)
    packaged = await _packaged_scores(context, memories)
    level = shipped_curves()[E1].half
    related = int((packaged > level).sum())
    if related < MIN_RELATED:
        raise StorageFault(
            f"of {len(packaged)} pairs of texts {related} are about one subject; a calibration needs {MIN_RELATED}"
        )
    scores = await _raw_scores(context, memories)
    # E8 holds E1 of other memories.
    by_space = {model.key: scores[E1 if model.key == E8 else model.key] for model in models}
    try:
        curves = tuple(equate(model, by_space[model.key], packaged) for model in models)
    except ValueError as error:
        raise StorageFault(
            "the model can't be calibrated: it scores too many pairs of these texts alike; store texts on more "
            "subjects, or choose another model"
        ) from error
    await append(context, SimilaritiesCalibrated(texts=len(memories), related=related, curves=curves))
    return {
        "texts": len(memories),
        "pairs": len(packaged),
        "related": related,
        "spaces": {one.key: {"unrelated": one.unrelated, "half": one.half} for one in curves},
    }


async def _uncalibrated(context: Context) -> list[SpaceModel]:
    state = await ask(context.hub.store, ReadStatus())
    indexes = await ask(context.hub.comparator, ReadIndexes())
    shipped = {key for key, own in indexes.calibrated.items() if not own}
    if state.declared is None or E1 in shipped:
        raise StorageFault(
            "the packaged model fills E1 and is calibrated; only a model that --embedder chose needs this"
        )
    return [model for model in state.declared.spaces if model.key not in shipped]


async def _sample(context: Context, count: int) -> list[Envelope]:
    columns = await ask(context.hub.comparator, ReadColumns())
    memories: tuple[UUID, ...] = () if columns is None else columns.memories
    if len(memories) < MIN_TEXTS:
        raise StorageFault(f"the store holds {len(memories)} memories; a calibration needs {MIN_TEXTS}")
    rows = np.unique(np.linspace(0, len(memories) - 1, min(count, len(memories)), dtype=np.int64))
    return [*await ask(context.hub.store, ReadLive(memories=tuple(memories[int(row)] for row in rows)))]


async def _packaged_scores(context: Context, memories: list[Envelope]) -> Scores:
    """Return the similarity of each pair by the packaged model, shape (pairs,)."""
    vectors: list[Float32] = []
    for done, envelope in enumerate(memories):
        await context.progress(done, len(memories), "texts embedded")
        stored = stored_event(envelope)
        request = EmbedContent(content=Content(decompress(stored.content), stored.modality, stored.created_at))
        packaged = (await ask(context.hub.embedder, request, MODEL_TIMEOUT)).packaged
        if not isinstance(packaged, Dense):
            raise InvalidParamsFault("the profile 'full' can't be calibrated: the packaged model is no part of it")
        vectors.append(packaged.array)
    matrix = np.array(vectors, np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.clip(matrix @ matrix.T, 0.0, 1.0)[np.triu_indices(len(memories), 1)]


async def _raw_scores(context: Context, memories: list[Envelope]) -> dict[str, Scores]:
    """Return the similarity of each pair before calibration by space, each of shape (pairs,)."""
    ids = tuple(envelope.id for envelope in memories)
    rows = [
        await ask(context.hub.comparator, ReadRawScores(reference=one, targets=ids[at + 1 :]))
        for at, one in enumerate(ids[:-1])
    ]
    return dict(zip((space.key for space in SPACES), np.concatenate(rows).T, strict=True))
