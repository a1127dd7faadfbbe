"""Exports of Telegram and Slack: who said what and when, with names in the place of ids."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from actors.importers.records import FormatError
from tests.actors.importers import samples
from tests.actors.importers.test_sources import read

CHAT = {
    "name": "Runa",
    "type": "personal_chat",
    "id": 4242,
    "messages": [
        {
            "id": 1,
            "type": "service",
            "date": "2026-03-25T21:00:00",
            "actor": "Runa",
            "action": "phone_call",
            "text": "",
        },
        {
            "id": 2,
            "type": "message",
            "date": "2026-03-25T21:01:00",
            "date_unixtime": "1774468860",
            "from": "Runa",
            "from_id": "user1",
            "text": "The goat is called Snorre",
        },
        {
            "id": 3,
            "type": "message",
            "date": "2026-03-25T21:02:00",
            "from": None,
            "from_id": "user2",
            "forwarded_from": "Leif",
            "text": [{"type": "bold", "text": "See"}, " ", {"type": "link", "text": "https://geit.example"}, "\n!"],
        },
        {"id": 4, "type": "message", "date": "2026-03-25T21:03:00", "from": "Ana", "photo": "p.jpg", "text": ""},
    ],
}

SLACK: dict[str, Any] = {
    "users.json": [
        {"id": "U1", "name": "ana", "profile": {"real_name": "Ana López"}},
        {"id": "U2", "name": "ole", "real_name": "Ole", "deleted": True, "profile": {}},
    ],
    "channels.json": [{"id": "C1", "name": "general", "members": ["U1"]}],
    "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
    "integration_logs.json": [],
    "general/2026-03-25.json": [
        {"type": "message", "subtype": "channel_join", "user": "U1", "text": "<@U1> joined", "ts": "1774468800.0001"},
        {
            "type": "message",
            "user": "U1",
            "text": "<@U2> it is on <https://db.example|db> &amp; <https://x.example>; tell <#C1> <!here> &lt;now&gt;",
            "ts": "1774468860.000200",
        },
        {"type": "message", "subtype": "bot_message", "username": "ci", "text": "Deployed", "ts": "1774468880.0004"},
        {"type": "message", "user": "U1", "text": "", "files": [{"name": "plan.pdf"}], "ts": "1774468890.0005"},
    ],
    "D1/2026-03-26.json": [{"type": "message", "user": "U2", "text": "The key is under the pot", "ts": "1774555200.0"}],
}


@pytest.mark.parametrize("whole", [False, True], ids=["one chat", "all chats"])
def test_messages_of_telegram_keep_sender_time_and_the_whole_text(tmp_path: Path, *, whole: bool) -> None:
    value = {"about": "", "chats": {"list": [CHAT]}, "left_chats": {"list": []}} if whole else CHAT
    (tmp_path / "result.json").write_text(json.dumps(value, indent=1), "utf-8")
    for path in (tmp_path, tmp_path / "result.json"):
        name, items, broken, skipped = read(path)
        assert (name, broken) == ("an export of Telegram", [])
        assert [(item["metadata"]["speaker"], item["content"], item["created_at"]) for item in items] == [
            ("Runa", "The goat is called Snorre", "2026-03-25T20:01:00+00:00"),
            ("user2", "See https://geit.example\n!", "2026-03-25T21:02:00"),
        ]
        assert items[1]["metadata"]["forwarded_from"] == "Leif"
        assert {item["session"] for item in items} == {"Runa"}
        assert skipped == {"notices of the program": 1, "images and other media": 1}


def test_chats_of_telegram_that_have_one_name_are_sessions_of_their_own(tmp_path: Path) -> None:
    chats = [CHAT, CHAT | {"id": 4343}]
    (tmp_path / "result.json").write_text(json.dumps({"chats": {"list": chats}}), "utf-8")
    _, items, broken, _ = read(tmp_path / "result.json")
    assert broken == []
    assert [item["session"] for item in items] == ["Runa"] * 2 + ["Runa (4343)"] * 2
    assert {item["metadata"]["title"] for item in items} == {"Runa"}


@pytest.mark.parametrize("packed", [None, "", "Workshop export/"], ids=["a folder", "an archive", "a packed folder"])
def test_messages_of_slack_have_the_names_of_people_and_channels(tmp_path: Path, packed: str | None) -> None:
    path = tmp_path / "export"
    samples.write_files(path, SLACK | {"general/2026-03-27.json": '[\n{"type": "mess'})
    if packed is not None:
        path = samples.zipped(path, packed)
    name, items, broken, skipped = read(path)
    assert name == "an export of Slack"
    assert [(item["session"], item["metadata"]["speaker"], item["content"]) for item in items] == [
        ("Ana López, Ole", "Ole", "The key is under the pot"),
        (
            "general",
            "Ana López",
            "@Ole it is on db (https://db.example) & https://x.example; tell #general @here <now>",
        ),
        ("general", "ci", "Deployed"),
    ]
    assert items[1]["created_at"] == "2026-03-25T20:01:00.000200+00:00"
    assert [(one.file, one.line) for one in broken] == [(f"{path}/{packed or ''}general/2026-03-27.json", 2)]
    assert skipped == {"notices of the program": 1, "images and other media": 1}


def test_files_of_an_old_export_of_slack_come_with_what_was_said_of_them_alone(tmp_path: Path) -> None:
    plot = "<https://x.slack.example/files/F1/plot.png|a plot of the weirs>"
    texts = {
        f"<@U1|ana> uploaded a file: {plot} and commented: The upper one leaks": {
            "user": "U1",
            "subtype": "file_share",
        },
        f"<@U1|ana> shared a file: {plot}": {"user": "U1", "subtype": "file_share"},
        f"<@U2|ole> commented on U1's file {plot}: Since May": {"comment": {"user": "U2"}, "subtype": "file_comment"},
        "<@U1|ana> uploaded a file and I can't open it": {"user": "U2"},
    }
    said = [
        {"type": "message", "text": text, "ts": f"17744688{n}.1"} | more
        for n, (text, more) in enumerate(texts.items(), 10)
    ]
    samples.write_files(tmp_path, SLACK | {"D1/2026-03-26.json": [], "general/2026-03-25.json": said})
    _, items, broken, skipped = read(tmp_path)
    assert (broken, skipped) == ([], {})
    shown = "a plot of the weirs (https://x.slack.example/files/F1/plot.png)"
    assert [(item["metadata"]["speaker"], item["content"]) for item in items] == [
        ("Ana López", f"{shown}: The upper one leaks"),
        ("Ana López", shown),
        ("Ole", f"{shown}: Since May"),
        ("Ole", "@Ana López uploaded a file and I can't open it"),
    ]


def test_an_archive_of_two_exports_of_slack_is_none(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "both.zip", "w") as archive:
        for folder in ("one", "two"):
            for name, content in SLACK.items():
                archive.writestr(f"{folder}/{name}", json.dumps(content))
    with pytest.raises(FormatError):
        read(tmp_path / "both.zip")
