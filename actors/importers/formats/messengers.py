"""Exports of Telegram (`result.json`) and of Slack (a ZIP archive or its folder): a message is a memory."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import msgspec

from actors.importers.files import DAMAGED, document, is_packed, unpacked, unreadable, walk
from actors.importers.records import Broken, Options, Record, Skipped, first_text, memory, moment, present, said
from actors.runtime.types import JsonObject

SLACK: Final = "an export of Slack"
RESULT: Final = "result.json"
USERS: Final = "users.json"
CHANNELS: Final = ("channels.json", "groups.json", "dms.json", "mpims.json")
SAID: Final = ("bot_message", "file_comment", "file_share", "me_message", "thread_broadcast")
"""Subtypes of Slack's messages that a person or a bot wrote; the others are notices, such as of who joined."""
NOTICES: Final = "notices of the program"
MEDIA: Final = "images and other media"

_DAY: Final = re.compile(r"(?:.*/)?(?P<channel>[^/]+)/\d{4}-\d\d-\d\d\.json")
_MARK: Final = re.compile(r"<(?P<kind>[@#!]?)(?P<what>[^<>|]+)(?:\|(?P<label>[^<>]*))?>")
"""What Slack writes for a person, a channel, all who are there, or a link."""

_ABOUT_FILE: Final = re.compile(
    r"\A<@[^<>]*> (?:(?:uploaded|shared) a file:|commented on \w+['’]s file) (?P<file><[^<>]*>)(?: and commented(?=:))?"
)
"""What Slack wrote around files and comments on them until 2018."""

_json = msgspec.json.Decoder()
_objects = msgspec.json.Decoder(list[JsonObject])


def is_telegram(value: object) -> bool:
    """Tell whether a JSON document is an export of Telegram, of one chat or of all."""
    return any("messages" in chat and "type" in chat and "id" in chat for chat in _chats(value))


def read_telegram(file: Path, options: Options) -> Iterator[Record]:
    """Yield the messages of all chats of an export."""
    value = document(file, _json)
    if isinstance(value, Broken):
        yield value
        return
    sessions: set[str] = set()
    for chat in _chats(value):
        title = str(chat.get("name") or f"{chat.get('type')} {chat.get('id')}".replace("_", " "))
        session = f"{title} ({chat.get('id')})" if title in sessions else title
        sessions.add(session)
        messages = chat.get("messages")
        for message in messages if isinstance(messages, list) else ():
            if not isinstance(message, dict) or message.get("type") != "message":
                yield Skipped(NOTICES)
                continue
            yield from _message(
                ("telegram", chat.get("id"), message.get("id")),
                "".join(said(message.get("text"))),
                file,
                options,
                time=message.get("date_unixtime") or message.get("date"),
                title=title,
                session=session,
                source="telegram",
                speaker=message.get("from") or message.get("from_id"),
                forwarded_from=message.get("forwarded_from"),
            )


def is_slack(path: Path) -> bool:
    """Tell whether a folder or an archive is an export of Slack."""
    if not (is_packed(path) or (path / USERS).is_file()):
        return False
    try:
        names = _names(path)
    except DAMAGED:
        return False
    root = _root(names)
    return root is not None and any(_DAY.fullmatch(name) for name in names if name.startswith(root))


def read_slack(path: Path, options: Options) -> Iterator[Record]:
    """Yield the messages of all channels of an export, those of a channel in order."""
    people: dict[str, str] = {}
    channels: dict[str, str] = {}
    names = _names(path)
    root = _root(names) or ""
    lists = [f"{root}{name}" for name in (USERS, *CHANNELS)]
    for name, whole in _contents(path, [name for name in lists if name in names]):
        if isinstance(whole, Broken):
            yield whole
        elif name == lists[0]:
            people = {str(one.get("id")): _name(one) for one in whole}
        else:
            channels |= {str(one.get("id")): _channel(one, people) for one in whole}
    days = sorted(name for name in filter(_DAY.fullmatch, names) if name.startswith(root))
    for name, whole in _contents(path, days):
        if isinstance(whole, Broken):
            yield whole
            continue
        channel = name.split("/")[-2]
        place = path / name if path.is_dir() else path
        for message in whole:
            yield from _slack_message(message, channel, place, options, people, channels)


def _slack_message(
    message: JsonObject, channel: str, file: Path, options: Options, people: dict[str, str], channels: dict[str, str]
) -> Iterator[Record]:
    subtype = message.get("subtype")
    if message.get("type") != "message" or not (subtype is None or subtype in SAID):
        yield Skipped(NOTICES)
        return
    comment, profile = message.get("comment"), message.get("user_profile")
    user = message.get("user") or (comment.get("user") if isinstance(comment, dict) else None)
    known = _name(profile) if isinstance(profile, dict) else ""
    yield from _message(
        ("slack", channel, message.get("ts")),
        _shown(_ABOUT_FILE.sub(r"\g<file>", str(message.get("text") or "")), people, channels),
        file,
        options,
        time=message.get("ts"),
        title=channels.get(channel) or channel,
        source="slack",
        speaker=people.get(str(user)) or known or message.get("username") or user,
    )


def _message(
    place: tuple[object, ...],
    text: str,
    file: Path,
    options: Options,
    *,
    time: object,
    title: str,
    session: str | None = None,
    **about: object,
) -> Iterator[Record]:
    """Yield a message, if it has a text. `time` is in seconds since 1970, as text, or in ISO 8601.

    The session is named by the title, unless it is given.
    """
    if not text.strip():
        yield Skipped(MEDIA)
        return
    stated = str(time or "")
    yield from memory(
        place,
        text,
        file,
        namespace=options.namespace,
        session=session or title,
        created_at=moment(float(stated) if re.fullmatch(r"\d{1,12}(?:\.\d+)?", stated) else stated),
        tags=["chat"],
        metadata=present(title=title, **{name: str(value) for name, value in about.items() if value}),
    )


def _chats(value: object) -> list[JsonObject]:
    if not isinstance(value, dict):
        return []
    if "messages" in value:
        return [value]
    lists = (part.get("list") for name in ("chats", "left_chats") if isinstance(part := value.get(name), dict))
    return [chat for chats in lists if isinstance(chats, list) for chat in chats if isinstance(chat, dict)]


def _names(path: Path) -> list[str]:
    if path.is_dir():
        return [file.relative_to(path).as_posix() for file in walk(path, (".json",))]
    with ZipFile(path) as archive:
        return [name for name in archive.namelist() if not name.rpartition("/")[2].startswith("._")]


def _root(names: list[str]) -> str | None:
    """Return the folder in an archive that holds an export, which may be packed with it; None if it isn't one alone."""
    if USERS in names:
        return ""
    found = [name.removesuffix(USERS) for name in names if name.count("/") == 1 and name.endswith(f"/{USERS}")]
    return found[0] if len(found) == 1 else None


def _contents(path: Path, names: list[str]) -> Iterator[tuple[str, list[JsonObject] | Broken]]:
    if not path.is_dir():
        with ZipFile(path) as archive:
            yield from ((name, unpacked(archive, name, _objects)) for name in names)
        return
    for name in names:
        try:
            yield name, document(path / name, _objects)
        except OSError as error:
            yield name, unreadable(path / name, error)


def _name(person: JsonObject) -> str:
    profile = person.get("profile")
    full = profile.get("real_name") if isinstance(profile, dict) else None
    return first_text(person.get("real_name"), full, person.get("name"))


def _channel(one: JsonObject, people: dict[str, str]) -> str:
    """Return the name of a channel in Slack; a conversation without one is called by its members."""
    members = one.get("members")
    ids = map(str, members if isinstance(members, list) else [])
    return str(one.get("name") or ", ".join(people.get(id_, id_) for id_ in ids))


def _shown(text: str, people: dict[str, str], channels: dict[str, str]) -> str:
    """Return a text of Slack with names in the place of ids, and without its marks."""

    def shown(mark: re.Match[str]) -> str:
        kind, what, label = mark["kind"], mark["what"], mark["label"] or ""
        match kind:
            case "@":
                return f"@{people.get(what) or label or what}"
            case "#":
                return f"#{label or channels.get(what) or what}"
            case "!":
                return label or f"@{what}"
            case _:
                address = what.removeprefix("mailto:")
                return f"{label} ({address})" if label and not what.endswith(label) else address

    return unescape(_MARK.sub(shown, text))
