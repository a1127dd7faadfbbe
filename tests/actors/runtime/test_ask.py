"""Asks from the event loop: order, failures, timeouts, cancellation."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from threading import Timer

import anyio
import pytest

from actors.runtime.actor import Actor
from actors.runtime.ask import ask_all, ask_streaming
from actors.runtime.faults import InternalFault, NotFoundFault, StorageFault
from actors.runtime.reply import Reply
from events.storage.log import LogError


class Echo(Actor):
    """Answers what it is told, and raises what is an error."""

    def on_receive(self, message: object) -> object:
        if isinstance(message, Exception):
            raise message
        return message


class Pending:
    """Stands for a reference to an actor; its asks return the message, a reply, without another thread."""

    def ask(self, message: Reply[object], *, block: bool) -> Reply[object]:
        assert not block
        return message


def asked(*messages: object, patience: float = 60.0) -> list[object]:
    echo = Echo.start()
    try:
        return anyio.run(partial(ask_all, [(echo, message) for message in messages], patience))
    finally:
        echo.stop()


def test_answers_come_in_the_order_of_what_was_asked() -> None:
    assert asked(*range(20)) == [*range(20)]
    assert asked() == []


def test_a_failure_is_the_answer_to_its_own_request() -> None:
    gone = NotFoundFault("Memory not found: 7")
    one, missing, broken, other = asked("one", gone, LogError("the disk is gone"), "other")
    assert (one, missing, other) == ("one", gone, "other")
    assert isinstance(broken, StorageFault)
    assert "the disk is gone" in broken.message


def test_no_answer_in_time_is_a_fault() -> None:
    answered: Reply[object] = Reply()
    answered.set("one")
    unanswered, other = anyio.run(ask_all, [(Pending(), Reply()), (Pending(), answered)], 0.05)
    assert isinstance(unanswered, InternalFault)
    assert other == "one"


def test_answers_that_come_together_wake_the_loop_once(monkeypatch: pytest.MonkeyPatch) -> None:
    replies: list[Reply[object]] = [Reply() for _ in range(20)]
    woken: list[object] = []

    async def ask() -> list[object]:
        loop = asyncio.get_running_loop()
        wake = loop.call_soon_threadsafe

        def count(callback: Callable[[], object]) -> object:
            woken.append(callback)
            return wake(callback)

        monkeypatch.setattr(loop, "call_soon_threadsafe", count)
        loop.call_later(0, lambda: [reply.set(number) for number, reply in enumerate(replies)])
        return [*await ask_all([(Pending(), reply) for reply in replies], 60.0)]

    assert anyio.run(ask) == [*range(20)]
    assert len(woken) == 1


def test_the_timeout_holds_for_each_next_answer() -> None:
    replies = [Reply[object]() for _ in range(4)]
    timers = [Timer(0.5 * (place + 1), reply.set, (place,)) for place, reply in enumerate(replies)]
    for timer in timers:
        timer.start()
    assert asked(*replies, patience=1.8) == [0, 1, 2, 3], "the last comes after 2 s"


def test_available_answers_are_passed_on_in_order_and_together() -> None:
    first, second, third = (Reply[object]() for _ in range(3))
    gone = NotFoundFault("Memory not found: 2")
    calls: list[list[object]] = []

    def on_answers(answers: Sequence[object]) -> None:
        calls.append([*answers])
        if len(calls) == 1:  # in the thread of the event loop, which therefore wakes up after both
            third.set("three")
            second.set_exception((type(gone), gone, None))

    first.set("one")
    anyio.run(ask_streaming, [(Pending(), reply) for reply in (first, second, third)], on_answers)
    assert calls == [["one"], [gone, "three"]]


def test_after_a_timeout_the_other_answers_are_still_passed_on() -> None:
    told: list[object] = []
    answered: Reply[object] = Reply()
    answered.set("one")
    anyio.run(ask_streaming, [(Pending(), Reply()), (Pending(), answered)], told.extend, 0.05)
    unanswered, other = told
    assert isinstance(unanswered, InternalFault)
    assert other == "one"
