"""Requests by their idempotency key: the latest ones, and imports for ever."""

import pickle
from uuid import UUID, uuid4, uuid5

import msgspec
import pytest

from events.storage.log import Envelope
from events.vocabulary import MemoriesLinked, MemoryForgotten
from projections.memories import requests
from projections.memories.requests import Requests
from tests.events.samples import draft, stored

NAMESPACE = uuid4()


class History:
    """Applies events with their keys, as a log would."""

    def __init__(self) -> None:
        self.requests = Requests()
        self._seq = 0

    def append(self, key: UUID, event: object = None, actor: str = "front") -> int:
        self._seq += 1
        drafted = draft(event or stored("a memory"))
        fields = msgspec.structs.asdict(drafted) | {"correlation_id": key, "actor": actor}
        self.requests.apply(Envelope(seq=self._seq, **fields))
        return self._seq


def derived(number: int) -> UUID:
    return uuid5(NAMESPACE, str(number))


def test_imports_are_known_for_ever_and_other_requests_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "LATEST", 10)
    history = History()
    first = uuid4()
    history.append(first)
    seqs = {number: history.append(derived(number)) for number in range(200)}
    for _ in range(10):
        history.append(uuid4())
    assert history.requests.of(first) == ()
    assert all(history.requests.of(derived(number)) == (seq,) for number, seq in seqs.items())
    assert history.requests.of(derived(200)) == ()


def test_the_links_that_an_import_came_with_belong_to_its_request() -> None:
    history, key = History(), derived(1)
    first = history.append(key)
    link = MemoriesLinked(source=uuid4(), targets=(uuid4(),), relation="link_to", weight=1.0)
    history.append(key, link)
    history.append(derived(2))
    assert history.requests.of(key) == (first, first + 1)


def test_what_no_request_did_is_not_known() -> None:
    history, key = History(), uuid4()
    history.append(key, actor="reembed")
    assert history.requests.of(key) == ()
    history.append(key, MemoryForgotten(memory=uuid4()))
    assert history.requests.of(key) == (2,)


def test_a_copy_from_a_snapshot_knows_the_same() -> None:
    history = History()
    seqs = {number: history.append(derived(number)) for number in range(50)}
    copy: Requests = pickle.loads(pickle.dumps(history.requests, protocol=5))  # noqa: S301 -- made here
    assert copy.digest() == history.requests.digest()
    assert all(copy.of(derived(number)) == (seq,) for number, seq in seqs.items())
