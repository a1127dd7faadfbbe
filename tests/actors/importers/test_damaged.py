"""Damaged files: whatever is wrong with one, what can be read of it is imported, and a store takes it."""

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from actors.importers.recogniser import recognise
from actors.importers.records import Broken, FormatError, Item, Options
from actors.importers.screening import screened
from actors.runtime.faults import Fault
from tests.actors.importers import samples
from tests.actors.importers.test_agent_sessions import STORY
from tests.actors.importers.test_conversations import ANDROID, TEAMS
from tests.actors.importers.test_mail import ANSWERED, ASKED, ORDER, mailbox, message
from tests.actors.importers.test_markup import ORG, PAGE, RST
from tests.actors.importers.test_messengers import CHAT, SLACK
from tests.actors.importers.test_sources import read
from tests.actors.importers.test_tables import BOOKS

INSERTED = (
    b"=?utf-8?q?",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\x00",
    b"<",
    b"<!--",
    b"<![",
    b"&#xD800;",
    b'"',
    b"\n\n",
    b"\n> ",
    b"--X",
    b"charset=",
    b"From ",
    b"References: ",
    b"\nMessage-ID: <>\n",
    b"\nFrom now on\n",
    b"\nFrom: a@\n",
    b"<script>",
    b"#+begin_comment\n",
    b"* COMMENT ",
    b"\n#+date: 2024-13-45\n",
    b"\n:date: 2024-13-45\n",
    b"Content-Type: message/rfc822\n",
    b"(",
    b"@",
    b";",
)
DAMAGED = 100
"""Files of each kind."""


@pytest.mark.parametrize("suffix", [".mbox", ".eml", ".csv", ".html", ".org", ".rst", ".txt", ".vtt", ".md"])
def test_what_can_be_read_of_a_damaged_file_is_what_a_store_takes(tmp_path: Path, suffix: str) -> None:
    rng = random.Random(suffix)
    mails = mailbox(tmp_path / "sound.mbox", ASKED, ANSWERED, ORDER).read_bytes()
    texts = {".csv": BOOKS, ".html": PAGE, ".org": ORG, ".rst": RST, ".eml": ASKED, ".txt": ANDROID, ".vtt": TEAMS}
    texts |= {".md": STORY}
    sound = mails if suffix == ".mbox" else texts[suffix].encode()
    file = tmp_path / f"damaged{suffix}"
    kept = 0
    for _ in range(DAMAGED):
        data = bytearray(sound)
        for _ in range(rng.randint(1, 10)):
            place = rng.randrange(len(data))
            data[place : place + rng.choice((0, 0, 1, 40))] = rng.choice((*INSERTED, b"", bytes([rng.randrange(256)])))
        file.write_bytes(data)
        with suppress(FormatError):
            kept += bool(read(file)[1])
    assert kept > DAMAGED // 4


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of all values within one, as keys and numbers from the outermost one."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield (*above, name)
        yield from places(one, (*above, name))


def replaced(value: Any, rng: random.Random) -> Any:
    """Return a value with another one in one of its places."""
    *above, name = rng.choice([*places(value)])
    changed = inner = deepcopy(value)
    for one in above:
        inner = inner[one]
    inner[name] = rng.choice((None, 5, -1.5, True, "x", "2026-13-45", [], [None], {}, {"a": 1}))
    return changed


def test_a_result_of_a_tool_with_a_part_that_has_no_text_ends_no_import(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": None}, {"type": "image"}, {"type": "text", "text": "a.py"}]
    result = {"type": "tool_result", "tool_use_id": "t1", "content": parts}
    file = samples.write_lines(tmp_path / "s.jsonl", [samples.turn("s", 0, "/srv/shop", "user", [result])])
    _, items, broken, _ = read(file, everything=True)
    assert ([item["content"] for item in items], broken) == (["a.py"], [])


@pytest.mark.parametrize(
    "make", [samples.chatgpt, samples.claude_ai, samples.mem0, samples.codex, samples.gemini, None]
)
def test_a_value_of_another_kind_than_a_program_writes_ends_no_import(tmp_path: Path, make: Any) -> None:
    rng = random.Random(make.__name__ if make else "telegram")
    if make in {samples.codex, samples.gemini}:
        file = make(tmp_path)
    else:
        file = tmp_path / "document.json"
        make(file) if make else file.write_text(json.dumps(CHAT), "utf-8")
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line != "{broken"]
    for _ in range(2 * DAMAGED):
        file.write_text("".join(json.dumps(line) + "\n" for line in replaced(lines, rng)), "utf-8")
        with suppress(Fault):  # the source or one of its items is refused
            read(file)


def test_what_is_nested_too_deep_to_be_read_ends_no_import(tmp_path: Path) -> None:
    deep = "[" * 15_000 + "]" * 15_000  # json of Python 3.13 reads 5,000
    database = samples.claude_mem(tmp_path / "claude-mem.db")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE observations SET facts = ?", (deep,))
    assert any(deep in item["content"] for item in read(database)[1])
    chat = samples.chatgpt(tmp_path / "conversations.json")
    chat.write_text(chat.read_text("utf-8").replace("Thyme", f"Thyme \\ue200entity\\ue202{deep}\\ue201"), "utf-8")
    assert "Thyme survives frost." in {item["content"] for item in read(chat)[1]}
    lines = tmp_path / "memories.jsonl"
    nested = f'{{"content": "x", "metadata": {{"a": {"[" * 900 + "]" * 900}}}}}'
    samples.write_lines(lines, [{"content": "The heron is back."}, nested])
    records = [*screened(recognise(lines, Options()).read())]
    assert [(one.line, type(one)) for one in records if isinstance(one, Item | Broken)] == [(1, Item), (2, Broken)]


def test_a_value_of_another_kind_than_slack_writes_ends_no_import(tmp_path: Path) -> None:
    rng = random.Random(1)
    for _ in range(DAMAGED):
        samples.write_files(tmp_path, {name: json.dumps(value) for name, value in replaced(SLACK, rng).items()})
        with suppress(Fault):
            read(tmp_path)


@pytest.mark.parametrize(
    ("charset", "body"),
    [("undefined", b"K\xfcche"), ("utf-7", b"+2AA-"), ("unicode_escape", b"\\ud800"), ("a\0b", b"\xfc")],
)
def test_a_message_of_an_encoding_that_is_none_ends_no_import(tmp_path: Path, charset: str, body: bytes) -> None:
    odd = f"From: y\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n".encode() + body
    _, items, broken, _ = read(mailbox(tmp_path / "m.mbox", odd, message("Well.")))
    assert (len(items), broken) == (2, [])


@pytest.mark.parametrize(
    ("name", "line", "created"),
    [
        ("a.org", "#+date: 2024-13-45", None),
        ("a.org", "#+date: 5 May 2026", None),
        ("a.org", "#+date: <2026-05-05 Tue 25:61>", None),
        ("a.org", "#+date: 2026-05-05", "2026-05-05"),
        ("a.rst", ".. date: 5 May 2026", None),
        ("a.rst", ":date: 2024-13-45", None),
        ("a.rst", ".. date: 2026-05-05 10:00", "2026-05-05T10:00"),
    ],
)
def test_a_date_that_is_not_understood_stays_in_the_text(
    tmp_path: Path, name: str, line: str, created: str | None
) -> None:
    (tmp_path / name).write_text(f"{line}\n\nFed the bees.\n", "utf-8")
    _, (item,), broken, _ = read(tmp_path / name)
    assert broken == []
    assert (line in item["content"]) == (created is None)
    assert item["created_at"] == created if created else not item.get("created_at", "").startswith("2024-13")
