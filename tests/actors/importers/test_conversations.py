"""WhatsApp chats with their senders and times, and transcripts of meetings."""

import re
from pathlib import Path

import pytest

from actors.importers.markup.captions import from_captions
from actors.importers.records import Broken, FormatError
from tests.actors.importers.test_markup import check_linear
from tests.actors.importers.test_sources import read

ANDROID = """05/03/2026, 22:01 - Messages and calls are end-to-end encrypted. Tap to learn more.
05/03/2026, 22:01 - Ana López: The dentist moved to Tuesday
25/03/2026, 9:02 - Ole: ok: fine
and bring the card
25/03/2026, 9:05 - Ana López: <Media omitted>
25/03/2026, 9:06 - Ole: ok
25/03/2026, 9:06 - Ole: ok
"""

IPHONE = (
    "\u200e[3/5/26, 10:01:33\u202fPM] Bees: \u200eMessages and calls are end-to-end encrypted.\n"
    "[3/5/26, 10:01:35\u202fPM] ~ Ana: The queen is marked. \u200e<This message was edited>\n"
    "\u200e[3/25/26, 12:02:00\u202fAM] Ole: \u200eimage omitted\n"
    "[3/25/26, 12:02:01\u202fAM] Ole: Blue?\n"
)

TEAMS = """\ufeffWEBVTT

NOTE recorded in the boathouse

8f-0
00:00:00.000 --> 00:00:03.500
<v Ana López>Let us start with</v>

8f-1
00:00:03.500 --> 00:00:06.000 align:start
<v Ana López>the <c.yellow>budget</c>.
It is 8 &amp; a half.</v>

8f-2
00:00:06.000 --> 00:00:08.000
<v Ole>Good.</v>
"""

ZOOM = "WEBVTT\n\n1\n00:00:00.000 --> 00:00:03.500\nAna: We start.\n\n2\n00:00:04.000 --> 00:00:05.000\nOle: Fine.\n"

SUBTITLES = "1\n00:00:00,000 --> 00:00:03,500\nHello\n\n2\n00:00:03,500 --> 00:00:06,000\nHello\n{\\an8}<i>there.</i>\n"


def test_messages_of_a_chat_keep_sender_and_time_in_either_order_of_day_and_month(tmp_path: Path) -> None:
    (tmp_path / "WhatsApp Chat with Ana.txt").write_text(ANDROID, "utf-8")
    name, items, broken, skipped = read(tmp_path / "WhatsApp Chat with Ana.txt")
    assert (name, broken) == ("a WhatsApp chat", [])
    assert [(item["metadata"]["speaker"], item["content"], item["created_at"]) for item in items] == [
        ("Ana López", "The dentist moved to Tuesday", "2026-03-05T22:01:00"),
        ("Ole", "ok: fine\nand bring the card", "2026-03-25T09:02:00"),
        ("Ole", "ok", "2026-03-25T09:06:00"),
        ("Ole", "ok", "2026-03-25T09:06:00"),
    ]
    assert len({item["id"] for item in items}) == 4
    assert {item["session"] for item in items} == {"WhatsApp Chat with Ana"}
    assert skipped == {"notices of the program, images and other media": 2}
    (tmp_path / "Bees").mkdir()
    (tmp_path / "Bees" / "_chat.txt").write_text(IPHONE, "utf-8")
    _, items, _, skipped = read(tmp_path / "Bees" / "_chat.txt")
    assert [(item["metadata"]["speaker"], item["content"], item["created_at"]) for item in items] == [
        ("Ana", "The queen is marked.", "2026-03-05T22:01:35"),
        ("Ole", "Blue?", "2026-03-25T00:02:01"),
    ]
    assert {item["session"] for item in items} == {"Bees"}


def test_a_sender_is_named_without_unseen_marks_and_a_text_does_not_say_that_it_was_edited(tmp_path: Path) -> None:
    file = tmp_path / "WhatsApp Chat with Bees.txt"
    file.write_text(
        "25/03/2026, 9:02 - \u202a+47 900 12 345\u202c: Bring smoke <This message was edited>\n"
        "25/03/2026, 9:03 - Ole: Write to <ole@bees.example>\n25/03/2026, 9:04 - Ole: a <b> <not now>\n"
        "25/03/2026, 9:05 - Ole: Sign as <your name here>\n",
        "utf-8",
    )
    assert [(item["metadata"]["speaker"], item["content"]) for item in read(file)[1]] == [
        ("+47 900 12 345", "Bring smoke"),
        ("Ole", "Write to <ole@bees.example>"),
        ("Ole", "a <b> <not now>"),
        ("Ole", "Sign as <your name here>"),
    ]


def test_polls_captions_and_file_names_are_kept_without_what_the_program_adds(tmp_path: Path) -> None:
    (tmp_path / "_chat.txt").write_text(
        "[25.03.26, 10:01:35] Ana: \u200ePOLL:\nWho brings smoke?\n\u200eOPTION: Ole (2\u00a0votes)\n"
        "[25.03.26, 10:01:36] Ana: hives.pdf • \u200e4 pages \u200edocument omitted\n"
        "[25.03.26, 10:01:37] Ole: our stand \u200e<attached: 17-PHOTO.jpg>\n"
        "[25.03.26, 10:01:38] Ole: \u200e\u200fTwo lines\nof a text from right to left\n"
        "[25.03.26, 10:01:39] Ole: \u200eThis message was deleted.\n",
        "utf-8",
    )
    _, items, _, skipped = read(tmp_path / "_chat.txt")
    assert [item["content"] for item in items] == [
        "POLL:\nWho brings smoke?\nOPTION: Ole (2\u00a0votes)",
        "hives.pdf",
        "our stand",
        "\u200fTwo lines\nof a text from right to left",
    ]
    assert skipped == {"notices of the program, images and other media": 1}
    file = tmp_path / "WhatsApp Chat with Bees.txt"
    said = "IMG-1.jpg (file attached)", "IMG-2.jpg (file attached)\nour stand", "<Media omitted>\nit burns"
    said += (
        "This message was deleted",
        "You deleted this message",
        "You deleted",
        "see a.txt (the new one) ",
    )
    file.write_text("".join(f"25/03/2026, 9:02 - Ole: {one}\n" for one in said), "utf-8")
    _, items, _, skipped = read(file)
    assert [item["content"] for item in items] == [
        "our stand",
        "it burns",
        "You deleted",
        "see a.txt (the new one)",
    ]
    assert skipped == {"notices of the program, images and other media": 3}


def test_a_chat_that_has_grown_keeps_the_ids_of_its_messages(tmp_path: Path) -> None:
    file = tmp_path / "WhatsApp Chat with Ana.txt"
    file.write_text(ANDROID, "utf-8")
    before = [item["id"] for item in read(file)[1]]
    file.write_text(ANDROID + "26/03/2026, 9:06 - Ole: ok\n", "utf-8")
    assert [item["id"] for item in read(file)[1]][:-1] == before


@pytest.mark.parametrize(
    ("lines", "created"),
    [
        ("05.03.26, 10:01 - Ana: Hello\n", "2026-03-05T10:01:00"),
        ("5.3.2026 klo 10.01 - Ana: Hello\n", "2026-03-05T10:01:00"),
        ("[2026-03-05, 10:01:02] Ana: Hello\n", "2026-03-05T10:01:02"),
        ("2/9/25, 10:01 - Ana: Hello\n3/1/25, 10:01 - Ana: Hello\n", "2025-02-09T10:01:00"),
        ("05/05/2026, 10:01 - Ana: Hello\n", "2026-05-05T10:01:00"),
    ],
)
def test_dates_are_read_in_the_order_of_a_region(tmp_path: Path, lines: str, created: str) -> None:
    file = tmp_path / "Chat WhatsApp con Ana.txt"
    file.write_text(lines, "utf-8")
    (item, *_), broken = read(file)[1:3]
    assert (item["content"], item["created_at"], broken) == ("Hello", created, [])


@pytest.mark.parametrize(
    ("lines", "line", "reason"),
    [
        (
            "4/4/24, 10:01 p. m. - Ana: Hello\n\n4/6/24, 10:01 p. m. - Ana: Hello\n",
            3,
            (
                "its dates can be read in two ways (4/6/24 is 2024-06-04 or 2024-04-06): "
                "import it once it has a day after the 12th, or write its dates as 2024-06-04"
            ),
        ),
        (
            "31/31/2026, 10:01 - Ana: Hello\n",
            1,
            "its dates exist in no order of day and month, or are in the future",
        ),
    ],
)
def test_nothing_of_a_chat_is_imported_whose_dates_can_be_read_in_two_ways_or_in_none(
    tmp_path: Path, lines: str, line: int, reason: str
) -> None:
    file = tmp_path / "Chat WhatsApp con Ana.txt"
    file.write_text(lines, "utf-8")
    with pytest.raises(FormatError, match=re.escape(f"line {line}: {reason}; nothing was imported")):
        read(file)
    (tmp_path / "bees.md").write_text("Bees.", "utf-8")
    _, items, broken, _ = read(tmp_path)
    assert [item["content"] for item in items] == ["bees\n\nBees."]
    assert broken == [Broken(str(file), line, reason)]
    if line == 3:
        file.write_text(lines + "4/25/24, 10:01 p. m. - Ana: Hello\n", "utf-8")
        assert [item["created_at"][:10] for item in read(file)[1]] == ["2024-04-04", "2024-04-06", "2024-04-25"]


@pytest.mark.parametrize(
    "log",
    [
        "[2026-03-05 10:01:02] INFO: started\n[2026-03-05 10:01:03] INFO: ready\n",
        "05/03/2026, 10:01 - Woke up late.\n06/03/2026, 9:01 - Fed the bees: sugar.\n",
    ],
)
def test_a_log_with_times_is_a_note(tmp_path: Path, log: str) -> None:
    (tmp_path / "server.txt").write_text(log, "utf-8")
    (tmp_path / "WhatsApp Chat.txt").write_text(ANDROID, "utf-8")
    name, items, _, _ = read(tmp_path)
    assert name == "a folder of notes, WhatsApp chats"
    assert items[0]["content"] == log.strip()
    assert len(items) == 5


def test_a_transcript_has_a_paragraph_for_what_each_person_says_in_a_row(tmp_path: Path) -> None:
    (tmp_path / "GMT20260305-100133_Recording.transcript.vtt").write_text(TEAMS, "utf-8")
    _, (item,), broken, _ = read(tmp_path)
    assert broken == []
    assert item["content"].endswith("\n\nAna López: Let us start with the budget.\nIt is 8 & a half.\n\nOle: Good.")
    assert item["created_at"] == "2026-03-05"
    assert from_captions(ZOOM)[1] == "Ana: We start.\n\nOle: Fine."


def test_a_long_transcript_is_divided_and_a_line_of_subtitles_that_stays_is_said_once(tmp_path: Path) -> None:
    cues = "".join(f"{number}\n00:00:00,000 --> 00:00:01,000\nBed {number} grows leeks.\n\n" for number in range(200))
    (tmp_path / "film.srt").write_text(cues, "utf-8")
    items = read(tmp_path / "film.srt")[1]
    assert len(items) > 2
    assert max(len(item["content"]) for item in items) < 2_100
    for end in ("\r\n", "\r"):
        (tmp_path / "short.srt").write_bytes(SUBTITLES.replace("\n", end).encode())
        (item,) = read(tmp_path / "short.srt")[1]
        assert item["content"] == "short\n\nHello there."


@pytest.mark.parametrize(
    ("cues", "text"),
    [
        ("<v Ana>We need two things\nfirst: tests</v>", "Ana: We need two things first: tests"),
        ("<v Ana>We start.</v>\n\n-->\nNote: it rains.", "Ana: We start.\nNote: it rains."),
        ("Ana: We need two things\nfirst: tests", "Ana: We need two things first: tests"),
        ("if a < b and c > d then", "if a < b and c > d then"),
        ("a List<String> of <b>two</b>", "a List<String> of two"),
        ("<00:00:01.500><c.loud>Stop</c> <FONT color='red'>now</FONT>", "Stop now"),
    ],
)
def test_colons_and_brackets_in_what_is_said_name_no_speaker_and_are_kept(cues: str, text: str) -> None:
    assert from_captions(f"WEBVTT\n\n-->\n{cues}\n")[1] == text


def test_captions_are_read_in_time_that_grows_with_their_length() -> None:
    for piece in ("1\n-->\nAna: <v a\n\n", "<v ", "a: ", "\n \n", "-->\n<<", " . ", "'"):
        check_linear(lambda text: from_captions(f"1\n-->\n.{text}\nb"), piece)
