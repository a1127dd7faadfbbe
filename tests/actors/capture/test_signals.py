"""Which sentences of a person are captured: rules, but nothing that is asked not to be stored."""

import pytest

from actors.capture.signals import USER, sentences, signal


def captured(text: str) -> list[str]:
    return [sentence for sentence in sentences(text) if signal(sentence, USER)]


@pytest.mark.parametrize(
    "text",
    [
        "Let's always use the order id. And never retry more than 3 times.",
        "But always use uv, never pip.",
        "From now on, never store them.",
        "Always keep passwords in Vault and never store them.",
    ],
)
def test_a_rule_is_captured_whole_and_also_where_it_opens_a_message(text: str) -> None:
    assert captured(text) == [text]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("good. remember: all ports of the API are odd", "remember: all ports of the API are odd"),
        ("Please keep in mind that Rosa signs the invoices.", None),
        ("thanks! we should never call NOAA from handlers", "we should never call NOAA from handlers"),
        ("now the forecasts. use dramatiq not celery for them", "use dramatiq not celery for them"),
    ],
)
def test_what_a_person_asks_to_remember_or_to_use_is_captured_without_what_precedes_it(
    text: str, kept: str | None
) -> None:
    assert captured(text) == [kept or text]


@pytest.mark.parametrize(
    "text",
    [
        "My supervisor Prof. Dahl wants notes in Chicago style, never in the text.",
        "my therapist is prof. amelie brandt, on tuesdays.",
        "We always ask for Dr. Weiss at the clinic.",
    ],
)
def test_a_title_before_a_name_ends_no_sentence(text: str) -> None:
    assert list(sentences(text)) == [text]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The p99 went from 90 to 40 ms.", "We decided to use Redis for the sessions."),
        ("I live on Main St.", "We moved here from Rome last spring."),
        ("The depot is now at 5 Oak Dr.", "We never deploy on Mondays because of it."),
    ],
)
def test_a_unit_or_a_street_before_a_point_ends_a_sentence(one: str, other: str) -> None:
    assert other in list(sentences(f"{one} {other}"))


@pytest.mark.parametrize(
    "text", ["I remember that we had lunch in Oslo.", "Remember the ferry to Oslo last May, etc. and so on."]
)
def test_a_recollection_is_no_request_to_remember(text: str) -> None:
    assert captured(text) == []


@pytest.mark.parametrize("request_", ["don't store it", "don’t store it", "do not record them", "off the record"])
def test_what_a_person_asks_not_to_store_is_not_captured(request_: str) -> None:
    fact = "I always prefer tabs over spaces in Python code"
    assert captured(f"{fact}.") == [f"{fact}."]
    assert captured(f"{fact}, {request_}.") == []
