"""Mailboxes: what is kept of a message, what is left out, and what of a broken one can be read."""

from email.headerregistry import HeaderRegistry
from email.message import EmailMessage
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from actors.importers.recogniser import recognise
from actors.importers.records import FormatError, Ignored, Item, Options
from tests.actors.importers.test_markup import check_linear
from tests.actors.importers.test_sources import read

ASKED = """From: =?utf-8?q?Ana_L=C3=B3pez?= <ana@example.org>
To: Ole <ole@example.org>
Subject: Hive inspection
Date: Mon, 04 May 2026 10:00:00 +0200
Message-ID: <1@example.org>
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

The queen in hive two is laying well =E2=80=93 eight frames of brood.
>From now on we feed less.

--=20
Ana L=C3=B3pez, +34 555 0199
"""

ANSWERED = """From: Ole <ole@example.org>
To: Ana
Subject: Re: Hive inspection
Date: Mon, 04 May 2026 12:00:00 +0200
Message-ID: <2@example.org>
References: <1@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="X"

--X
Content-Type: multipart/alternative; boundary="Y"

--Y
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: 8bit

Good. I\u2019ll bring the smoker on Saturday.

On Mon, May 4, 2026 at 10:00 AM Ana L\u00f3pez
<ana@example.org> wrote:
> The queen in hive two is laying well
>
> > eight frames

And the veil.
--Y
Content-Type: text/html; charset=utf-8

<p>Good.</p>
--Y--
--X
Content-Type: application/pdf
Content-Disposition: attachment; filename="invoice.pdf"
Content-Transfer-Encoding: base64

JVBERi0=
--X--
"""

ORDER = """From: shop@example.org
Subject: Order
Date: Tue, 05 May 2026 12:00:00 +0000
Content-Type: text/html; charset=utf-8

<html><head><style>p{}</style><script>track()</script></head><body><h1>Order 7</h1><p>Two&nbsp;jars &amp; a lid</p>
<div>On Mon, 4 May 2026 10:00 Ole wrote:<blockquote>please send two jars</blockquote></div></body></html>
"""


def mailbox(file: Path, *messages: str | bytes) -> Path:
    """Write messages as an mbox file; texts in Windows 1252, whatever they declare."""
    data = [one if isinstance(one, bytes) else one.encode("cp1252") for one in messages]
    file.write_bytes(b"".join(b"From x@example.org Mon May  4 10:00:00 2026\n" + one + b"\n" for one in data))
    return file


def message(body: str, **headers: str) -> bytes:
    written = EmailMessage()
    for name, value in {"From": "Ole <ole@example.org>", "Date": "Tue, 05 May 2026 12:00:00 +0000", **headers}.items():
        written[name] = value
    written.set_content(body)
    return bytes(written)


def contents(file: Path, **options: Any) -> list[str]:
    return [item["content"] for item in read(file, **options)[1]]


def test_a_message_is_its_subject_and_what_its_sender_wrote(tmp_path: Path) -> None:
    name, items, broken, skipped = read(mailbox(tmp_path / "mail.mbox", ASKED, ANSWERED, ORDER))
    assert (name, broken) == ("a mailbox", [])
    assert [item["content"] for item in items] == [
        "Hive inspection\n\nThe queen in hive two is laying well – eight frames of brood.\nFrom now on we feed less.",
        "Re: Hive inspection\n\nGood. I’ll bring the smoker on Saturday.\n\n\nAnd the veil.\n\nAttached: invoice.pdf",
        "Order\n\n# Order 7\n\nTwo jars & a lid",
    ]
    assert skipped == {"attachments": 1}
    assert [item["metadata"]["speaker"] for item in items] == ["Ana López", "Ole", "shop@example.org"]
    assert [item["created_at"] for item in items] == [
        "2026-05-04T10:00:00+02:00",
        "2026-05-04T12:00:00+02:00",
        "2026-05-05T12:00:00+00:00",
    ]
    assert items[0]["session"] == items[1]["session"], "an answer is of the conversation that it refers to"
    assert items[0]["metadata"]["recipients"] == "Ole <ole@example.org>"


def test_quotations_and_signatures_come_on_request(tmp_path: Path) -> None:
    file = mailbox(tmp_path / "mail.mbox", ASKED, ANSWERED)
    asked, answered = contents(file, everything=True)
    assert asked.endswith("-- \nAna López, +34 555 0199")
    assert "> > eight frames" in answered
    assert "<ana@example.org> wrote:" in answered


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Yes.\n\nAm 4. Mai 2026 um 10:00 schrieb Ana:\n> Kommst du?\n", "Yes."),
        ("Le lun. 4 mai 2026, Ana a écrit :\n\n> Tu viens ?\n\n> Ou pas ?\n\nOui.\n", "Oui."),
        ("> When?\nAt eight.\n> Where?\nAt the hives.\n", "At eight.\nAt the hives."),
        ("What she said:\n> Never.\nis wrong.\n", "What she said:\nis wrong."),
        ("a\nb\nThe meeting is in 2027, so:\n> No.\n", "a\nb"),
        ("Yes.\n\nAna López wrote:\n> Are you coming?\n", "Yes."),
        ("Yes.\n\nOn Mon Ana wrote:\n\n> Are you coming?\n", "Yes."),
        ("Ja.\n\nAm Montag schrieb Ana:\n> Kommst du?\n", "Ja."),
        ("Ana asked:\n> When?\nAt eight.\n", "Ana asked:\nAt eight."),
        ("I mended the script that Ana wrote:\n> import os\n", "I mended the script that Ana wrote:"),
        ("> only quoted\n", None),
    ],
)
def test_a_quotation_goes_with_the_line_that_says_whose_it_is(tmp_path: Path, text: str, own: str | None) -> None:
    file = mailbox(tmp_path / "mail.mbox", message(text))
    _, items, _, skipped = read(file)
    assert [item["content"] for item in items] == ([] if own is None else [own])
    assert skipped == ({"messages without text of their own": 1} if own is None else {})


@pytest.mark.parametrize(
    "said",
    [
        "On Tuesday I mended the script that Ana wrote:",
        "On second thought, I like what you wrote:",
        "El informe lo he leído y me gusta lo que Ana escribió:",
        "Am Ende hat mir gefallen, was Ana schrieb:",
        "Le passage que Ana a écrit:",
        "Il mio capo mi ha detto che ha scritto:",
    ],
)
def test_a_sentence_of_the_sender_stays_though_it_begins_as_an_attribution_does(tmp_path: Path, said: str) -> None:
    assert contents(mailbox(tmp_path / "mail.mbox", message(f"{said}\n> import os\n"))) == [said]


def test_a_message_is_stored_once_by_its_id_and_one_without_by_what_it_holds(tmp_path: Path) -> None:
    first = read(mailbox(tmp_path / "inbox.mbox", ASKED, ORDER))[1]
    again = read(mailbox(tmp_path / "archive.mbox", ORDER, ASKED.replace("To: Ole", "X-Label: Archive\nTo: Ole")))[1]
    assert [item["id"] for item in again] == [item["id"] for item in reversed(first)]


def test_a_mailbox_without_its_suffix_is_told_by_its_first_line(tmp_path: Path) -> None:
    assert read(mailbox(tmp_path / "Inbox", ASKED))[0] == "a mailbox"
    (tmp_path / "empty.mbox").write_text("nothing\n", "utf-8")
    with pytest.raises(FormatError, match=r"empty\.mbox, line 1: no message"):
        read(tmp_path / "empty.mbox")


def test_what_of_a_message_cannot_be_read_is_named_with_the_line_at_which_it_begins(tmp_path: Path) -> None:
    odd = message("Well.").replace(b"Tue, 05 May 2026 12:00:00 +0000", b"some day")
    unknown = b"From: y\nContent-Type: text/plain; charset=klingon\nContent-Transfer-Encoding: base64\n\nSGkg/yE=\n"
    file = mailbox(tmp_path / "mail.mbox", odd, unknown, ORDER)
    _, items, broken, _ = read(file)
    assert [item["content"].split("\n")[0] for item in items] == ["Well.", "Hi \ufffd!", "Order"]
    assert broken == []
    records = recognise(file, Options()).read()
    assert [(one.line, one.reason.partition(":")[0]) for one in records if isinstance(one, Ignored)] == [
        (1, "its date can't be read"),
        (10, "its text is neither klingon nor UTF-8"),
        (10, "it has no date"),
    ]


def ignored(file: Path) -> list[tuple[int, str]]:
    return [(one.line, one.reason) for one in recognise(file, Options()).read() if isinstance(one, Ignored)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Message-ID", "<[a1b2]@outlook.com>"),
        ("Message-ID", "<>"),
        ("From", "a@"),
        ("To", "a:;b:;"),
        ("To", '"' * 20_000),
    ],
)
def test_a_malformed_header_is_named_and_the_message_is_kept(tmp_path: Path, name: str, value: str) -> None:
    headers = {"Subject": "Hives", "From": "Ole", "Date": "Tue, 05 May 2026 12:00:00 +0000", name: value}
    written = "".join(f"{header}: {text}\n" for header, text in headers.items())
    file = mailbox(tmp_path / "mail.mbox", f"{written}\nEight frames.\n", ORDER)
    _, items, broken, _ = read(file)
    assert broken == []
    assert [item["content"] for item in items] == ["Hives\n\nEight frames.", "Order\n\n# Order 7\n\nTwo jars & a lid"]
    if len(value) == 20_000 or fails_in_the_library(name, value):
        line, reason = ignored(file)[0]
        assert line == 1
        assert reason.lower().startswith(f"its header {name.lower()} is ")


def fails_in_the_library(name: str, value: str) -> bool:
    """Return whether the parser of this Python fails on a header; since 3.13 it repairs some."""
    try:
        HeaderRegistry()(name, value)
    except (AttributeError, IndexError):
        return True
    return False


def test_a_malformed_parameter_costs_no_more_than_the_parameters(tmp_path: Path) -> None:
    file = mailbox(tmp_path / "mail.mbox", "From: a\nContent-Type: text/html; charset*\n\n<p>Eight <b>frames</b>.\n")
    assert contents(file) == ["Eight frames."]


@pytest.mark.parametrize(
    "head", ["Content-Type: text/plain" + ";" * 10_000, "To: " + '"' * 20_000, "From: " + "(" * 20_000]
)
def test_a_header_that_is_too_long_is_read_in_part(tmp_path: Path, head: str) -> None:
    file = mailbox(tmp_path / "mail.mbox", f"{head}\nSubject: Hives\n\nEight frames.\n")
    begun = process_time()
    assert contents(file) == ["Hives\n\nEight frames."]
    assert process_time() - begun < 2
    name, _, value = head.partition(": ")
    assert (1, f"its header {name} is read to 4,000 of its {len(value):,} characters") in ignored(file)


@pytest.mark.parametrize("piece", ["x\n>q\n", "x:\n\n>q\n", "\n>q\n", ">", "x"])
def test_quotations_are_left_out_in_linear_time(tmp_path: Path, piece: str) -> None:
    check_linear(lambda text: contents(mailbox(tmp_path / "mail.mbox", f"From: a\n\n{text}")), piece)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("X-Mozilla-Status: 0009", "deleted messages"),
        ("X-Gmail-Labels: Trash,Unread", "spam and trash"),
        ("X-Gmail-Labels: Opened, Spam", "spam and trash"),
        ("X-Mozilla-Status: 0001", None),
        ("X-Mozilla-Status: new", None),
        ("X-Gmail-Labels: Inbox,Spam reports", None),
    ],
)
def test_deleted_messages_spam_and_trash_come_on_request(tmp_path: Path, header: str, reason: str | None) -> None:
    file = mailbox(tmp_path / "mail.mbox", f"{header}\n".encode() + message("Eight frames."))
    _, items, _, skipped = read(file)
    assert (len(items), skipped) == ((0, {reason: 1}) if reason else (1, {}))
    assert contents(file, everything=True) == ["Eight frames."]


def test_texts_around_a_picture_are_one_and_a_text_with_a_name_is_attached(tmp_path: Path) -> None:
    parts = [
        "Content-Type: text/plain; charset=us-ascii\n\nBefore.\n-- \nOle",
        'Content-Type: image/png; name="hive.png"\nContent-Disposition: inline; filename="hive.png"\n\nx',
        "Content-Type: text/plain\n\nAfter.",
        'Content-Type: text/plain; name="log.txt"\n\nmuch',
        "Content-Type: multipart/alternative; boundary=Y\n",
    ]
    written = "".join(f"--X\n{part}\n" for part in parts)
    written += "--Y\nContent-Type: text/plain\n\nFooter.\n--Y\nContent-Type: text/html\n\n<p>Footer.\n--Y--\n"
    file = mailbox(tmp_path / "mail.mbox", f"From: a\nContent-Type: multipart/mixed; boundary=X\n\n{written}--X--\n")
    assert contents(file) == ["Before.\n\nAfter.\n\nFooter.\n\nAttached: hive.png, log.txt"]


@pytest.mark.parametrize(
    "first",
    [
        "From - Mon May 04 10:00:00 2026",
        "From 17@xxx Mon May 04 08:00:00 +0000 2026",
        "From ole at example.org  Mon May  4 10:00:00 2026",
        "From x@example.org Mon May  4 10:00:00 2026 +0200",
        "From x@example.org Mon, 4 May 2026 10:00:00",
        "From x@example.org Mon May  4 10:00:00 CEST 2026\r",
    ],
)
def test_a_sentence_that_begins_with_from_divides_no_message(tmp_path: Path, first: str) -> None:
    bodies = ["Hello.\n\nFrom now on we feed less,\nalso in 2027.\n\nFrom May on none", "Second."]
    (tmp_path / "mail.mbox").write_text("".join(f"{first}\nFrom: a\n\n{body}\n\n" for body in bodies), "utf-8")
    records = [one for one in recognise(tmp_path / "mail.mbox", Options()).read() if isinstance(one, Item)]
    assert [(one.line, one.value["content"]) for one in records] == [(1, bodies[0]), (11, bodies[1])]


def test_lines_before_messages_are_dated_in_linear_time(tmp_path: Path) -> None:
    file = tmp_path / "mail.mbox"
    check_linear(lambda text: (file.write_text(f"From x\n\nKept.\nFrom {text}x"), read(file)), "1:11 2026  ")


def saved(file: Path, message: EmailMessage | bytes) -> Path:
    """Write a message as programs save one by itself; Apple Mail adds its length and what it keeps of it."""
    data = bytes(message)
    if file.suffix == ".emlx":
        data = str(len(data)).encode() + b"      \n" + data + b'<?xml version="1.0"?>\n<plist version="1.0"></plist>\n'
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def composed(subject: str, number: int) -> EmailMessage:
    one = EmailMessage()
    one["From"], one["To"], one["Subject"] = "Zoë Müller <zoe@example.org>", "ole@example.org", subject
    one["Date"], one["Message-ID"] = "Tue, 05 May 2026 12:00:00 +0200", f"<{number}@example.org>"
    return one


@pytest.mark.parametrize("suffix", [".eml", ".EML", ".emlx"])
def test_a_message_in_a_file_of_its_own_is_that_of_a_mailbox(tmp_path: Path, suffix: str) -> None:
    one = composed("Über den Honig", 1)
    one.set_content("<h1>Honey</h1><p>Twelve <b>kilos</b> of it.</p>", subtype="html")
    one.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="Übersicht.pdf")
    name, (item,), broken, skipped = read(saved(tmp_path / f"one{suffix}", one))
    assert (name, broken, skipped) == ("a message", [], {"attachments": 1})
    assert item["content"] == "Über den Honig\n\n# Honey\n\nTwelve kilos of it.\n\nAttached: Übersicht.pdf"
    assert (item["created_at"], item["metadata"]["speaker"]) == ("2026-05-05T12:00:00+02:00", "Zoë Müller")
    assert read(mailbox(tmp_path / "m.mbox", bytes(one)))[1] == [item]


def test_a_message_whose_length_is_a_number_of_thousands_of_digits_ends_no_import(tmp_path: Path) -> None:
    one = composed("Frames", 1)
    one.set_content("They are full.")
    saved(tmp_path / "sound.emlx", one)
    (tmp_path / "damaged.emlx").write_bytes(b"9" * 5_000 + b"\n" + bytes(one))
    _, items, broken, _ = read(tmp_path)
    assert [item["content"] for item in items] == ["Frames\n\nThey are full."]
    assert [Path(one.file).name for one in broken] == ["damaged.emlx"]


def test_a_folder_of_messages_and_notes_is_read_as_both(tmp_path: Path) -> None:
    for number in range(2):
        one = composed(f"Frame {number}", number)
        one.set_content("It is full.")
        one.add_alternative("<p>It is full.</p>", subtype="html")
        saved(tmp_path / "Inbox" / f"{number}.eml", one)
    saved(tmp_path / "none.eml", b"Buy milk\nand bread.\n")
    saved(tmp_path / "empty.eml", b"\n")
    name, items, (broken,), skipped = read(tmp_path)
    assert (name, skipped) == ("a folder of messages", {"empty files": 1})
    assert [item["content"] for item in items] == ["Frame 0\n\nIt is full.", "Frame 1\n\nIt is full."]
    assert (Path(broken.file).name, broken.line) == ("none.eml", 1)
    assert broken.reason == "not a message: it has no header such as From, Date or Subject"
    (tmp_path / "todo.md").write_text("Buy milk.\n")
    name, items, _, _ = read(tmp_path)
    assert (name, len(items)) == ("a folder of notes, messages", 3)


def test_a_mailbox_that_apple_mail_exports_as_a_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "Inbox.mbox").mkdir()
    mailbox(tmp_path / "Inbox.mbox" / "mbox", ASKED)
    (tmp_path / "Inbox.mbox" / "table_of_contents").write_bytes(b"\0")
    name, items, _, _ = read(tmp_path / "Inbox.mbox")
    assert (name, len(items)) == ("a mailbox", 1)


def test_a_file_that_is_no_message_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"line 1: not a message: it has no header .*; nothing was imported"):
        read(saved(tmp_path / "none.eml", b"Buy milk\nand bread.\n"))


def test_a_message_that_is_attached_to_another_is_one_of_its_own_sender_and_day(tmp_path: Path) -> None:
    inner = composed("Queen", 1)
    inner.set_content("She was marked blue.")
    inner.replace_header("Date", "Fri, 01 May 2026 08:00:00 +0200")
    forwarding = EmailMessage()
    forwarding["From"], forwarding["Subject"] = "Ole <ole@example.org>", "Fwd: Queen"
    forwarding["Date"] = "Tue, 05 May 2026 12:00:00 +0000"
    forwarding.set_content("See what Zoë wrote.")
    forwarding.add_attachment(inner)
    _, items, broken, skipped = read(saved(tmp_path / "a.eml", forwarding))
    assert (broken, skipped) == ([], {})
    assert [(item["content"], item["metadata"]["speaker"], item["created_at"][:10]) for item in items] == [
        ("Queen\n\nShe was marked blue.", "Zoë Müller", "2026-05-01"),
        ("Fwd: Queen\n\nSee what Zoë wrote.", "Ole", "2026-05-05"),
    ]


def test_a_message_that_names_no_encoding_is_told_from_one_that_names_a_wrong_one(tmp_path: Path) -> None:
    file = saved(tmp_path / "a.eml", b"From: a@example.org\nDate: Tue, 05 May 2026 12:00:00 +0000\n\nDie K\xfcche.\n")
    records = list(recognise(file, Options()).read())
    assert [one.reason.partition(":")[0] for one in records if isinstance(one, Ignored)] == [
        "its text names no encoding and isn't UTF-8"
    ]
    assert len(records) == 2


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_headers_with_bytes_beyond_ascii_are_read_and_a_time_of_an_unknown_zone_is_in_utc(
    tmp_path: Path, encoding: str
) -> None:
    file = tmp_path / "boat.eml"
    headers = 'From: "Böe, Åse" <ase@example.org>\nSubject: Båt – 400 €\nDate: Mon, 04 May 2026 10:00:00 -0000\n'
    file.write_bytes(f"{headers}\nBring the rope.\n".encode(encoding))
    (item,) = read(file)[1]
    assert item["content"] == "Båt – 400 €\n\nBring the rope."
    assert item["metadata"]["speaker"] == "Böe, Åse"
    assert item["created_at"] == "2026-05-04T10:00:00+00:00"
