"""The timer that waits for a quiet interval, by a clock that stands still."""

import pytest

from actors.runtime.actor import Actor, Debounce


class Deaf(Actor):
    """Hears nothing in time."""


def test_a_trigger_with_a_limit_brings_no_later_end_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("actors.runtime.actor.monotonic", lambda: now)
    debounce = Debounce(Deaf.start(), "the interval is over")
    debounce.trigger(40.0)
    now = 30.0
    debounce.trigger(40.0)
    debounce.trigger(40.0, longest=20.0)
    now = 69.0
    assert not debounce.elapsed()
    now = 70.0
    assert debounce.elapsed()


def test_triggers_extend_an_interval_up_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("actors.runtime.actor.monotonic", lambda: now)
    debounce = Debounce(Deaf.start(), "the interval is over")
    for second in (0.0, 30.0, 60.0, 90.0):
        now = second
        debounce.trigger(40.0, longest=100.0)
    now = 99.0
    assert not debounce.elapsed()
    now = 100.0
    assert debounce.elapsed()
