"""Replies resolve every wait for them, in whichever way they are set."""

import anyio
import pykka
import pytest

from actors.runtime.actor import Actor
from actors.runtime.ask import ask_all
from actors.runtime.faults import NotFoundFault
from actors.runtime.reply import Reply, gather

GONE = NotFoundFault("Memory not found: 7")


def refused(reply: Reply[object]) -> None:
    reply.set_exception((type(GONE), GONE, None))


def test_who_waits_is_told_once_whether_the_answer_is_there_or_not() -> None:
    told: list[str] = []
    for answer in (lambda one: one.set("here"), refused):
        reply: Reply[object] = Reply()
        reply.add_done_callback(lambda: told.append("later"))
        assert not told
        assert not reply.done
        answer(reply)
        assert reply.done
        reply.add_done_callback(lambda: told.append("now"))
        assert told == ["later", "now"]
        told.clear()


def test_a_reply_that_is_another_reply_says_what_that_one_says() -> None:
    first, second, third = (Reply[object]() for _ in range(3))
    second.set(third)
    first.set(second)
    assert not first.done
    with pytest.raises(pykka.Timeout):
        first.get(timeout=0)
    third.set("in the end")
    assert first.get(timeout=0) == second.get(timeout=0) == "in the end"
    outer, inner = Reply[object](), Reply[object]()
    outer.set(inner)
    refused(inner)
    with pytest.raises(NotFoundFault):
        outer.get(timeout=0)


def test_what_is_gathered_is_there_with_the_last_and_fails_with_any() -> None:
    replies = [Reply[int]() for _ in range(3)]
    whole = gather(replies, sum)
    for number, reply in enumerate(reversed(replies)):
        assert not whole.done
        reply.set(number)
    assert whole.get(timeout=0) == 3
    one, other = Reply[object](), Reply[object]()
    whole = gather([one, other], list)
    refused(one)
    assert not whole.done, "the other may still be doing something"
    other.set("done")
    with pytest.raises(NotFoundFault):
        whole.get(timeout=0)


class Slow(Actor):
    """Answers with what it is told, a reply that somebody else gives."""

    def on_receive(self, message: object) -> object:
        return message


def test_an_answer_that_comes_when_nobody_waits_any_more_does_no_harm() -> None:
    slow, late = Slow.start(), Reply[object]()
    try:
        (nothing,) = anyio.run(ask_all, [(slow, late)], 0.05)
        assert "no answer within" in nothing.message
        late.set("too late, the event loop is closed")
        assert slow.ask("still there", timeout=60) == "still there"
    finally:
        slow.stop()


def test_what_nobody_expected_is_raised_where_it_is_waited_for() -> None:
    slow, broken = Slow.start(), Reply[object]()
    error = ZeroDivisionError("a mistake of ours")
    broken.set_exception((type(error), error, None))
    try:
        with pytest.raises(ZeroDivisionError):
            anyio.run(ask_all, [(slow, "fine"), (slow, broken)], 60.0)
    finally:
        slow.stop()
