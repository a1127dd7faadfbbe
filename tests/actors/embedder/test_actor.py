"""The embedder as an actor: shared slices, failures that stay where they belong, a bounded inbox."""

import threading
import weakref
from datetime import UTC, datetime
from typing import Any

import pytest

from actors.embedder.actor import BoundedInbox, Embedder
from actors.embedder.jobs import SLICE_TOKENS
from actors.embedder.messages import Content, EmbedMemory, EmbedQuery, LoadModels
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.runtime.faults import EmbeddingFault
from actors.runtime.metrics import Latencies
from events.quantization import Float32
from events.vocabulary.values import Modality
from tests.actors.conftest import Borrowed

PATIENCE = 60.0


def memory(content: str, **more: Any) -> EmbedMemory:
    return EmbedMemory(content=Content(content, Modality.TEXT, datetime(2026, 1, 1, tzinfo=UTC)), namespace="n", **more)


class RecordingProfile(Borrowed):
    """The real profile with a record of its batches, and a fault on demand."""

    def __init__(self, profile: EmbeddedProfile) -> None:
        super().__init__(profile)
        self.batches: list[int] = []
        self.broken = False

    def forward(self, rows: list[Any]) -> list[Float32]:
        if self.broken:
            raise RuntimeError("out of memory")
        self.batches.append(len(rows))
        assert sum(map(len, rows)) <= SLICE_TOKENS
        return self.profile.forward(rows)


@pytest.fixture
def watched(profile: EmbeddedProfile) -> RecordingProfile:
    return RecordingProfile(profile)


def test_waiting_requests_share_a_forward_pass(watched: RecordingProfile) -> None:
    embedder = Embedder.start(lambda: watched, Latencies())
    embedder.ask(LoadModels(), timeout=PATIENCE)
    futures = [embedder.ask(memory(f"The fox jumps {n} times."), block=False) for n in range(40)]
    fingerprints = [future.get(timeout=PATIENCE).fingerprint for future in futures]
    assert len(fingerprints) == 40
    assert sum(watched.batches) == 40
    assert max(watched.batches) > 1


def test_stopping_the_embedder_releases_its_models(profile: EmbeddedProfile) -> None:
    """At `stop`, not at the end of the thread: tensors freed during interpreter shutdown abort the process."""
    loaded: list[weakref.ref[RecordingProfile]] = []
    stopped: list[Embedder] = []

    class Outliving(Embedder):
        """Is kept alive after its thread, as the thread's frames may be."""

        def on_start(self) -> None:
            super().on_start()
            stopped.append(self)

    def load() -> RecordingProfile:
        watching = RecordingProfile(profile)
        loaded.append(weakref.ref(watching))
        return watching

    embedder = Outliving.start(load, Latencies())
    embedder.ask(memory("The fox jumps."), timeout=PATIENCE)
    (models,) = loaded
    assert models() is not None
    still = memory("Hour after hour the fox jumps over the dog. " * 200)
    embedder.ask(still, block=False)
    embedder.stop()
    assert models() is None


def test_waiting_turns_keep_their_order(watched: RecordingProfile) -> None:
    embedder = Embedder.start(lambda: watched, Latencies())
    futures = [embedder.ask(memory(f"Turn {n}.", session="s"), block=False) for n in range(20)]
    assert [future.get(timeout=PATIENCE).position for future in futures] == list(range(20))


def test_a_short_turn_waits_for_its_long_predecessor_and_a_query_for_neither(watched: RecordingProfile) -> None:
    embedder = Embedder.start(lambda: watched, Latencies())
    embedder.ask(LoadModels(), timeout=PATIENCE)
    contents = {"long": "Hour after hour the fox jumps over the dog. " * 100, "short": "It is tired.", "last": "Good."}
    futures = {name: embedder.ask(memory(text, session="s"), block=False) for name, text in contents.items()}
    asked = embedder.ask(EmbedQuery(text="fox", at=datetime.now(UTC), namespace="n"), block=False)
    asked.get(timeout=PATIENCE)
    assert len(watched.batches) <= 3, "of the five windows"
    positions = {name: future.get(timeout=PATIENCE).position for name, future in futures.items()}
    assert positions == {"long": 0, "short": 1, "last": 2}


@pytest.mark.requirement("INTEG-001/errors/embedding")
def test_a_failing_model_fails_the_waiting_requests_and_no_later_one(watched: RecordingProfile) -> None:
    embedder = Embedder.start(lambda: watched, Latencies())
    watched.broken = True
    with pytest.raises(EmbeddingFault, match="out of memory"):
        embedder.ask(memory("The fox."), timeout=PATIENCE)
    watched.broken = False
    assert embedder.ask(memory("The fox."), timeout=PATIENCE).position == 0


def test_models_that_cannot_be_loaded_are_an_error_reply_and_the_actor_lives_on() -> None:
    attempts = []

    def load() -> Any:
        attempts.append(1)
        raise EmbeddingFault("Embedding failed: no weights")

    embedder = Embedder.start(load, Latencies())
    for _ in range(2):
        with pytest.raises(EmbeddingFault, match="no weights"):
            embedder.ask(EmbedQuery(text="x", at=datetime.now(UTC), namespace="n"), timeout=PATIENCE)
    assert len(attempts) == 2


def test_a_full_inbox_blocks_other_threads_but_never_the_actor_itself() -> None:
    inbox = BoundedInbox()
    for n in range(inbox.maxsize):
        inbox.put(n)
    inbox.owner = threading.get_ident()
    inbox.put("from the actor itself")
    stranger = threading.Thread(target=inbox.put, args=("from another thread",))
    stranger.start()
    taken = [inbox.get(timeout=PATIENCE) for _ in range(inbox.maxsize + 2)]
    stranger.join(PATIENCE)
    assert taken[-2:] == ["from the actor itself", "from another thread"]
