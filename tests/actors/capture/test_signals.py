"""Which sentences of a person are captured: rules, but nothing that is asked not to be stored."""

import pytest

from actors.capture.selection import MIN_SCORE
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


def kept(text: str) -> list[str]:
    """Return the sentences of a text that score enough to be stored."""
    found = ((sentence, signal(sentence, USER)) for sentence in sentences(text))
    return [sentence for sentence, one in found if one and one.score >= MIN_SCORE]


@pytest.mark.parametrize(
    "text",
    [
        "Please don’t add comments to every function.",
        "please dont add comments to every function",
        "Let’s use Postgres for the queue.",
        "Never commit directly to main!",
        "From now on, write commit messages in English.",
        "CRITICAL: always use uv, never pip, in this repo.",
        "we use pnpm, not npm, for all packages",
        "We don't use mocks in this repo, only fakes.",
        "Don't touch the migrations folder, ops owns it.",
        "I decided against the rewrite. It's too expensive before the release.",
    ],
)
def test_rules_are_kept_as_people_type_them(text: str) -> None:
    assert kept(text) == [text]


@pytest.mark.parametrize(
    "text",
    ["We decided to drop it because it was slow.", "Don't use that, it breaks.", "I hate rainy mondays so much!"],
)
def test_a_pronoun_that_nothing_explains_or_an_outcry_is_not_kept(text: str) -> None:
    assert kept(text) == []


@pytest.mark.parametrize(
    "line",
    [
        "2026-03-02 10:00:02 ERROR job crashed because worker-3 timed out",
        "[10:00:02] the job crashed because worker-3 of Fulda timed out",
        "ERROR [pool-3] com.acme.Job - export failed because tenant 17 has no currency",
        "Caused by: java.sql.SQLException: connection refused because the server is locked",
        "ValueError: the export of Fulda failed because tenant 17 has no currency",
        "fatal: push to origin failed because the tip of your branch is behind",
    ],
)
def test_a_line_of_a_log_is_not_captured(line: str) -> None:
    rule = "Never push to Fulda on Fridays."
    assert captured(f"Look at that:\n{line}\n{rule}") == [rule]


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


@pytest.mark.parametrize(
    "text",
    [
        "Decision: the invoices go out through Mailgun, not Brevo.",
        "Agreed: the gateway of Fulda listens on 8443 only.",
        "TODO: rotate the signing key of the invoices before March.",
        "Root cause: the runner had no swap, and the linter was killed by the kernel.",
        "ok. convention: every migration has a way back",
        "Requirement: exports must open in Excel 2016.",
        "Cause: the lexer of Fulda reads tabs as eight columns.",
    ],
)
def test_a_label_says_what_follows_it(text: str) -> None:
    assert kept(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "FYI: I'm going to lunch now, back at one.",
        "Reminder: stand up in five minutes please.",
        "Convention: what is the convention for names here",
        "Policy: do we have one for branches of contractors",
        "Requirement: numpy==1.26 from the lock file was not met",
        "Cause: unknown as of yet, keep looking at logs.",
        "Root cause: not found so far, the logs of Fulda are gone.",
    ],
)
def test_a_label_before_passing_talk_a_question_or_a_log_is_not_kept(text: str) -> None:
    assert kept(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "yep, and never log the tokens of tenants, we agreed that logs stay free of them",
        "sure, we'll stick with mercurial for the legacy tree",
        "Great, but we decided to drop Python 3.9 in May.",
        "okay thanks let's switch to ruff",
        "Right. From now on, write the docs in British English.",
    ],
)
def test_agreement_in_front_of_a_decision_does_not_hide_it(text: str) -> None:
    assert len(kept(text)) == 1


@pytest.mark.parametrize(
    "text", ["Great, works now, thanks a lot!", "ok I'll look at the job tomorrow", "yes please explain the new rule"]
)
def test_agreement_alone_is_not_kept(text: str) -> None:
    assert kept(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "It turned out that the runner had no swap, so the linter was killed.",
        "It turns out we never closed the pool of the importer.",
        "It was agreed with ops that backups run at noon.",
    ],
)
def test_a_sentence_whose_it_stands_for_nothing_is_clear_alone(text: str) -> None:
    assert kept(text) == [text]


@pytest.mark.parametrize(
    "text", ["It failed because the disk was full again.", "It turned out to be the lexer, which failed on tabs."]
)
def test_a_sentence_whose_it_stands_for_something_is_not(text: str) -> None:
    assert kept(text) == []


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("Noted, I'll run `just lint` instead of `ruff` from now on.", False),
        ("Understood, we'll no longer push to `main` directly.", False),
        ("As you prefer, we switched to `pnpm` everywhere.", False),
        ("I used `asyncpg` instead of psycopg because the pool leaked connections.", True),
        ("Decision: I will read the file first and then run the tests.", False),
        ("From now on I run `just lint` instead of `ruff`.", False),
        ("We will use Postgres instead of MySQL because of the JSON operators.", True),
        ("From now on we deploy with Terraform instead of Ansible.", True),
        ("Decision: we keep SQLite for the queue because `libsql` has no triggers.", True),
    ],
)
def test_an_assistant_that_repeats_the_person_decides_nothing(text: str, *, is_kept: bool) -> None:
    found = signal(text, "assistant")
    assert (found is not None and found.score >= MIN_SCORE) is is_kept
