"""Secrets are found by their value, and hardly anything else is."""

import hashlib
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from actors.text.secrets import Secret, find, is_card_number, map_texts, redact, without_private
from tests.actors.text.planted_secrets import KINDS, planted

HELD_OUT = 1
"""Half of the installed files by a hash of their names; the patterns were made precise on the other half."""
REAL = {"transformers/testing_utils.py"}
"""Files that do hold a token."""


def sources(lines: int) -> Iterator[tuple[str, str]]:
    """Yield names and texts of installed Python files in a mixed order, up to a number of lines."""
    root = Path(typer.__file__).resolve().parents[1]
    names = {str(path.relative_to(root)): path for path in root.rglob("*.py")}
    order = sorted((hashlib.sha256(name.encode()).digest(), name) for name in names.keys() - REAL)
    for digest, name in order:
        if digest[0] % 2 == HELD_OUT and names[name].stat().st_size < 400_000:
            text = names[name].read_text("utf-8", errors="replace")
            yield name, text
            lines -= text.count("\n")
        if lines <= 0:
            return


@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.slow)])
def test_planted_secrets_of_every_kind_are_found_and_redacted(seed: int) -> None:
    found: Counter[str] = Counter()
    missed: list[str] = []
    count = 60
    for kind, value, line in planted(seed, count):
        clean = redact(line)
        parts = [one for one in value.replace("/", "=").replace("@", "=").replace(":", "=").split("=") if len(one) > 7]
        gone = [part for part in parts if part not in clean] if kind in {"azure-storage", "slack-webhook"} else []
        if gone or (value not in clean and find(line)):
            found[kind] += 1
        else:
            missed.append(line)
    assert len(KINDS) >= 20
    assert found.total() >= 0.95 * count * len(KINDS), missed
    assert {kind: found[kind] for kind in KINDS if found[kind] < 0.9 * count} == {}


@pytest.mark.parametrize(
    "options",
    [
        "-u deploy:{}",
        "-sSf -u 'deploy:{}'",
        "-sSfu deploy:{}",
        "-X POST --user=deploy:{}",
        '-fsS --proxy-user "deploy:{}"',
        "-X POST \\\n  -u deploy:{} \\\n ",
    ],
)
def test_a_password_that_a_command_passes_to_curl_is_found(options: str) -> None:
    line = f"curl {options.format('Tr4ctor!Blue9')} https://registry.example.org/v2/"
    assert "Tr4ctor" not in redact(line)
    plain = f"curl {options.format('$TOKEN')} https://registry.example.org:8443/v2/"
    assert find(plain) == ()
    assert find("curl -u deploy https://registry.example.org:8443/v2/a1B2c3D4") == ()


@pytest.mark.parametrize("lines", [30_000, pytest.param(500_000, marks=pytest.mark.slow)])
def test_code_without_secrets_gives_at_most_one_alarm_in_ten_thousand_lines(lines: int) -> None:
    alarms, read = [], 0
    for name, text in sources(lines):
        read += text.count("\n")
        alarms += [(name, text[one.start : one.end]) for one in find(text)]
    assert read >= lines
    assert len(alarms) <= read / 10_000, alarms


@pytest.mark.parametrize(
    "text",
    [
        "The password is wrong, and the token expired.",
        "password = os.environ['DB_PASSWORD']",
        "password: str | None = None",
        'api_key="YOUR_API_KEY"',
        "postgres://postgres:postgres@localhost/test",
        "postgresql://user:${PASSWORD}@db/app",
        "Set the secret: <your-secret-here>",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "tokens = tokenizer.encode(text, max_length=512)",
        "-----BEGIN PRIVATE KEY----- marks where a key begins",
        "order 1234 5678 9012 3456 arrived",
        "sk-learn and sk-image are libraries",
        "secret_key = settings.SECRET_KEY",
        "We pass token_count=5 to the next call.",
        "Now run the tests to verify that they all pass:\n\n_**Agent (model-4-5)**_",
        "Check that the tests pass:\r\n\r\n_**Agent (model-4-5)**_",
        "AKIAIOSFODNN7EXAMPLE is the key in the manual",
    ],
)
def test_words_references_and_placeholders_are_no_secrets(text: str) -> None:
    shown = [text[one.start : one.end] for one in find(text)]
    assert shown in ([], ["AKIAIOSFODNN7EXAMPLE"])


def test_a_secret_is_named_by_its_kind_and_span() -> None:
    text = "Log in with the password Tr4ctor!Blue9 on Monday; the card is 4242 4242 4242 4242."
    assert find(text) == (Secret("password", 25, 38), Secret("card-number", 62, 81))
    assert redact(text) == "Log in with the password [redacted password] on Monday; the card is [redacted card-number]."
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("label", ["pass:\n", "db_pass:\r\n", "login: root\npass:\n  ", "wifi pass:\n"])
def test_a_password_may_stand_below_its_label(label: str) -> None:
    assert redact(f"{label}Tr4ctor!Blue9") == f"{label}[redacted password]"


def test_the_key_that_a_text_stands_under_tells_of_it_as_words_before_it_do() -> None:
    value = {"password": "Tr4ctor!Blue9", "of": {"api_key": ["q8Zt5-Wk2Lp9xV"], "note": "Tr4ctor!Blue9"}}
    assert map_texts(value, redact) == {
        "password": "[redacted password]",
        "of": {"api_key": ["[redacted password]"], "note": "Tr4ctor!Blue9"},
    }
    assert find("Tr4ctor!Blue9", "password") == (Secret("password", 0, 13),)
    assert redact("token: q8Zt5-Wk2Lp9xV", "password") == "token: [redacted password]"


@pytest.mark.parametrize(
    "value", ["hunter2Secret99x", "Foobarista!42", "9Contestant-Lane", "Nullarbor#1877", "tokenIsle7!Kelp"]
)
def test_a_password_may_contain_a_word_of_placeholders(value: str) -> None:
    assert value not in redact(f"The password is {value} for now.")


def test_a_token_of_parts_between_dots_is_no_name_of_a_variable() -> None:
    part = "hQ9wB4mT7cX2kL8vN3pR6sJ1dF5gZ0yAeW4tY7uI1oP"
    assert redact(f"My api key for the tiles is live.{part}.{part}, put it into .env") == (
        "My api key for the tiles is [redacted password], put it into .env"
    )
    assert find("secret_key = settings.storage.SIGNING_KEY_OF_THE_TILES") == ()


@pytest.mark.parametrize("value", ["password123", "my_secret_1", "test-token-42", "secret99", "YourApiKey1"])
def test_a_value_of_such_words_alone_is_a_placeholder(value: str) -> None:
    assert find(f"password = '{value}'") == ()


@pytest.mark.parametrize(
    "piece",
    (
        "-----BEGIN PRIVATE KEY-----|eyJ-|eyJaaaaaaaa.|password for |password        |a://b:cccc@|"
        "Authorization: Bearer |my pin |PIN for |pin: 4711 a|xoxb-|4242 |PuTTY-User-Key-File-2: |<private>|token = "
    ).split("|"),
)
def test_patterns_take_linear_time_on_repetitive_texts(piece: str) -> None:
    """With a pattern that backtracks for each of its ways to begin, this would take minutes."""
    token = "ghp_" + "k3J9xQ2mV7pL5sD8wR4tY6uB1nC0zA3eF5hG"
    text = piece * (65_536 // len(piece)) + f"\n{token}\n"
    assert token not in redact(without_private(text))


def test_a_header_that_is_nested_too_deep_is_of_no_web_token() -> None:
    header, claims = (urlsafe_b64encode(one).decode().rstrip("=") for one in (b'{"a":' * 5_000, b'{"sub": 1}'))
    assert find(f"It is {header}.{claims}.{'a' * 43}") == ()


def test_a_password_of_many_letters_and_a_sign_is_found_at_once() -> None:
    (found,) = find("password: " + "tulip" * 20 + "+")
    assert found.kind == "password"


def test_card_numbers_pass_the_luhn_check() -> None:
    assert is_card_number("4242 4242 4242 4242")
    assert not is_card_number("4242 4242 4242 4243")
    assert not is_card_number("0000000000000000")


def test_private_passages_are_taken_out_even_if_they_are_left_open() -> None:
    assert without_private("Lunch. <private>With\nRosa</private> At noon.") == "Lunch.  At noon."
    assert without_private("Lunch. <PRIVATE>With Rosa") == "Lunch."
    assert without_private("All of this is public.") == "All of this is public."


def test_code_in_a_private_passage_and_a_private_passage_in_code_are_taken_out() -> None:
    assert without_private("The key is <private>`tulip9`</private> now.") == "The key is  now."
    assert without_private("Run `<private>login tulip9</private>` now.") == "Run `` now."


def test_a_text_about_the_tags_of_private_passages_stays_whole() -> None:
    manual = "What stands between `<private>` and `</private>` is left out. The rest is kept."
    assert without_private(manual) == manual
    assert without_private(f"{manual} <private>With `Rosa`</private> At noon.") == f"{manual}  At noon."


def test_texts_are_changed_wherever_they_stand_in_a_value() -> None:
    value = {"a": ["x", {"b": "y"}, True], "c": ("z", None)}
    assert map_texts(value, str.__add__) == {"a": ["xa", {"b": "yb"}, True], "c": ("zc", None)}


def test_keys_are_changed_too_and_stay_apart() -> None:
    value = {"b": 1, "a": 2, "ab": {"ba": 3}}
    assert map_texts(value, lambda text, _: "".join(sorted(text)).replace("b", "a")) == {
        "a": 1,
        "a'": 2,
        "aa": {"aa": 3},
    }


def test_a_number_is_told_by_its_digits_and_its_key() -> None:
    value = {"card": 4242424242424242, "card_pin": 4711, "pins": 4711, "id": 4242424242424243, "at": 1.5, "paid": True}
    redacted = {"card": "[redacted card-number]", "card_pin": "[redacted pin]"}
    assert map_texts(value, redact) == value | redacted


@pytest.mark.parametrize(
    "text",
    [
        *("The PIN is 4711.", "PIN: 4711", "PIN: 1984", "puk=12345678", "pin=4711 user=ole"),
        *("card_pin: 4711", "Card-PIN: 4711", "sim-pin: 4711", "app.pin = 4711"),
        *("The pin for the gate is 0815.", "My pin is 4711 and", "Ana's card pin is 4711", "the pin code is 4711"),
    ],
)
def test_a_pin_is_four_or_eight_digits_after_its_name(text: str) -> None:
    assert "[redacted pin]" in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        *("pin: 13", "Pin code: 560034", "pin 4711 of the chip", "spin: 4711", "pin: 4711.5", "PIN is 2026-05-01"),
        *("The bowling pin is 2000 years old.", "The badge pin is 1914 and rare.", "Pin: 2012 Olympics, London."),
        *("My pin is 2000 years old.", "Pin: 4711 pieces", "The pin is 4711 mm long."),
    ],
)
def test_other_numbers_are_no_pins(text: str) -> None:
    assert redact(text) == text
