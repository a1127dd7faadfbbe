"""How the event loop asks actors many things at once."""

from collections.abc import Sequence
from functools import partial
from threading import Timer

import anyio

from actors.runtime.actor import Actor
from actors.runtime.ask import ask_all, ask_streaming
from actors.runtime.faults import InternalFault, NotFoundFault, StorageFault
from actors.runtime.reply import Reply
from events.storage.log import LogError


class Echo(Actor):
    """Answers what it is told, raises what is an error, and owes an answer to silence."""

    def on_receive(self, message: object) -> object:
        if isinstance(message, Exception):
            raise message
        return Reply() if message == "silence" else message


def asked(*messages: object, patience: float = 5.0) -> list[object]:
    echo = Echo.start()
    try:
        return anyio.run(partial(ask_all, [(echo, message) for message in messages], patience))
    finally:
        echo.stop()


def test_answers_come_in_the_order_of_what_was_asked() -> None:
    assert asked(*range(20)) == [*range(20)]
    assert asked() == []


def test_what_goes_wrong_with_one_is_the_answer_to_that_one() -> None:
    gone = NotFoundFault("Memory not found: 7")
    one, missing, broken, other = asked("one", gone, LogError("the disk is gone"), "other")
    assert (one, missing, other) == ("one", gone, "other")
    assert isinstance(broken, StorageFault)
    assert "the disk is gone" in broken.message


def test_no_answer_in_time_is_a_fault() -> None:
    unanswered, answered = asked("silence", "one", patience=0.2)
    assert isinstance(unanswered, InternalFault)
    assert answered == "one"


def test_patience_is_had_for_each_next_answer() -> None:
    replies = [Reply[object]() for _ in range(4)]
    timers = [Timer(0.3 * (place + 1), reply.set, (place,)) for place, reply in enumerate(replies)]
    for timer in timers:
        timer.start()
    assert asked(*replies, patience=0.8) == [0, 1, 2, 3], "the last comes after 1.2 s"


def test_answers_are_told_of_in_order_as_soon_as_there_are_any() -> None:
    first, second, third = (Reply[object]() for _ in range(3))
    gone = NotFoundFault("Memory not found: 2")
    told: list[list[object]] = []

    def tell(answers: Sequence[object]) -> None:
        told.append([*answers])
        if len(told) == 1:
            third.set("three")
            second.set_exception((type(gone), gone, None))

    echo = Echo.start()
    try:
        first.set("one")
        anyio.run(ask_streaming, [(echo, future) for future in (first, second, third)], tell)
    finally:
        echo.stop()
    assert told == [["one"], [gone, "three"]]


def test_who_gets_no_answer_in_time_is_told_so_and_the_rest_still_comes() -> None:
    told: list[object] = []
    echo = Echo.start()
    try:
        anyio.run(ask_streaming, [(echo, "silence"), (echo, "one")], told.extend, 0.2)
    finally:
        echo.stop()
    unanswered, answered = told
    assert isinstance(unanswered, InternalFault)
    assert answered == "one"
