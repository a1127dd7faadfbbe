"""Mailboxes: what is kept of a message, what is left out, and what of a broken one can be read."""

from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from actors.importers.recogniser import recognise
from actors.importers.records import FormatError, Ignored, Options
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
        ("> only quoted\n", None),
    ],
)
def test_a_quotation_goes_with_the_line_that_says_whose_it_is(tmp_path: Path, text: str, own: str | None) -> None:
    file = mailbox(tmp_path / "mail.mbox", message(text))
    _, items, _, skipped = read(file)
    assert [item["content"] for item in items] == ([] if own is None else [own])
    assert skipped == ({"messages without text of their own": 1} if own is None else {})


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
