"""Exports of ChatGPT and of claude.ai: `conversations.json`, alone or in the ZIP archive in which it arrives.

ChatGPT keeps a conversation as a tree of messages; the branch that ends at `current_node` is the one that was shown.
Many conversations are in several files, `conversations-000.json` and so on.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from actors.importers.files import REMEMBERED, documents
from actors.importers.notes.sections import parts as parts_of
from actors.importers.records import (
    Broken,
    Options,
    Record,
    Skipped,
    first_text,
    last_written,
    memory,
    moment,
    present,
    said,
    texts,
)
from actors.runtime.types import JsonObject

CLAUDE_AI = "a claude.ai export"
SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}
SAID_TO = {None, "all", "bio"}
"""To whom ChatGPT speaks where it calls no tool: `bio` keeps what it is to remember."""

_REFERENCE = re.compile(
    "[ ]?\ue200(?P<kind>\\w+)(?:\ue202(?P<about>[^\ue200\ue201]*))?\ue201"
    "|\u3010\\d+(?::\\d+)?\u2020[^\u3010\u3011]*\u3011"
)
"""A source or a thing that ChatGPT refers to; the interface shows something else in its place."""


class _Author(msgspec.Struct):
    role: str | None = None


class _Content(msgspec.Struct):
    content_type: str | None = None
    parts: list[object] | None = None
    text: object = None


class _Message(msgspec.Struct):
    author: _Author | None = None
    content: _Content | None = None
    metadata: JsonObject | None = None
    recipient: str | None = None
    create_time: float | None = None


class _Node(msgspec.Struct):
    parent: str | None = None
    children: list[str] = []
    message: _Message | None = None


class _Conversation(msgspec.Struct):
    mapping: dict[str, _Node]
    title: str | None = None
    create_time: float | None = None
    current_node: str | None = None
    conversation_id: str | None = None
    id: str | None = None


class _ChatMessage(msgspec.Struct):
    uuid: str | None = None
    sender: str = ""
    text: str = ""
    content: list[JsonObject] = []
    created_at: str | None = None
    attachments: list[JsonObject] = []
    files: list[JsonObject] = []


class _Chat(msgspec.Struct):
    uuid: str
    chat_messages: list[_ChatMessage]
    name: str | None = None
    created_at: str | None = None


class _Remembered(msgspec.Struct):
    """What claude.ai remembers: of all conversations, and of those in each project."""

    conversations_memory: str | None
    project_memories: dict[str, str | None] = {}
    account_uuid: str | None = None


_conversations = msgspec.json.Decoder(list[msgspec.Raw])


def is_chatgpt(value: object) -> bool:
    """Tell whether a JSON document is an export of ChatGPT."""
    return isinstance(value, list) and any(isinstance(one, dict) and "mapping" in one for one in value)


def is_claude_ai(value: object) -> bool:
    """Tell whether a JSON document is of an export of claude.ai: conversations, or what it remembers."""
    named = {"chat_messages", "conversations_memory"}
    return isinstance(value, list) and any(isinstance(one, dict) and not named.isdisjoint(one) for one in value)


def read_chatgpt(file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of all conversations of a ChatGPT export."""
    for number, conversation in _each(file, _Conversation):
        if isinstance(conversation, Broken):
            yield conversation
            continue
        session = conversation.conversation_id or conversation.id or f"{conversation.create_time}-{number}"
        shown = _branch(conversation)
        for node in conversation.mapping if options.everything else shown:
            yield from _chatgpt_turn(conversation, session, node, file, options)
        if not options.everything:
            yield from [Skipped("other branches of conversations")] * len(conversation.mapping.keys() - set(shown))


def read_claude_ai(file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of all conversations of a claude.ai export, the text of attached files, and what it remembers."""
    for _number, chat in _each(file, _Chat, _Remembered):
        if isinstance(chat, Broken):
            yield chat
            continue
        if isinstance(chat, _Remembered):
            yield from _remembered(chat, file, options)
            continue
        for number, message in enumerate(chat.chat_messages):
            yield from _claude_ai_turn(chat, number, message, file, options)


def _claude_ai_turn(chat: _Chat, number: int, message: _ChatMessage, file: Path, options: Options) -> Iterator[Record]:
    place = ("claude.ai", chat.uuid, message.uuid or number)
    created = moment(message.created_at or chat.created_at)
    circumstances = {"namespace": options.namespace, "session": chat.uuid, "created_at": created}
    speaker = SPEAKERS.get(message.sender, message.sender)
    metadata = present(source="claude.ai", speaker=speaker, title=chat.name)
    blocks = texts(block.get("text") for block in message.content if block.get("type") == "text")
    yield from [Skipped("tool calls and results")] * (len(message.content) - len(blocks))
    text = "\n\n".join(blocks) or message.text
    if text.strip():
        yield from memory(place, text, file, **circumstances, tags=[speaker], metadata=metadata)
    elif not message.attachments:
        yield Skipped("turns without text")
    for index, attached in enumerate(message.attachments):
        name = str(attached.get("file_name") or "attachment")
        if extracted := first_text(attached.get("extracted_content")):
            named, own = metadata | {"file": name}, (*place, "file", index)
            content = f"{name}\n\n{extracted}"
            yield from memory(own, content, file, **circumstances, tags=["attachment"], metadata=named)
        else:
            yield Skipped("files without text")
    yield from [Skipped("files without text")] * len(message.files)


def _remembered(known: _Remembered, file: Path, options: Options) -> Iterator[Record]:
    """Yield what claude.ai remembers, a long text in parts. A part that has changed since is another memory."""
    for project, text in {"": known.conversations_memory, **known.project_memories}.items():
        for part in parts_of(text or ""):
            yield from memory(
                ("claude.ai", "memory", known.account_uuid, project, part.text),
                part.text,
                file,
                namespace=options.namespace,
                created_at=last_written(file),
                tags=["memory"],
                metadata=present(source="claude.ai", project=project),
            )


def _each(file: Path, *kinds: type[Any]) -> Iterator[tuple[int, Any]]:
    """Yield each conversation of an export, or why it can't be read; the others are not concerned.

    An entry that isn't of the first kind may be of the second one, whose file stands beside the conversations.
    """
    number = 0
    for whole in documents(file, _conversations, REMEMBERED if len(kinds) > 1 else None):
        if isinstance(whole, Broken):
            yield number, whole
            continue
        for raw in whole:
            found: object = None
            for kind in reversed(kinds):
                try:
                    found = msgspec.json.decode(raw, type=kind)
                    break
                except msgspec.ValidationError as error:
                    found = Broken(str(file), 0, f"conversation {number + 1}: {error}")
            yield number, found
            number += 1


def _branch(conversation: _Conversation) -> list[str]:
    """Return the nodes from the root to the one shown last: `current_node`, or the last child of each."""
    nodes = conversation.mapping
    last = conversation.current_node
    if last not in nodes:
        root = next((name for name, node in nodes.items() if node.parent not in nodes), None)
        down = _chain(nodes, root, lambda node: next((one for one in reversed(node.children) if one in nodes), None))
        last = down[-1] if down else None
    return _chain(nodes, last, lambda node: node.parent)[::-1]


def _chain(nodes: dict[str, _Node], first: str | None, following: Callable[[_Node], str | None]) -> list[str]:
    """Return nodes from the first one on, each followed by another; in a damaged export they may go in a circle."""
    chain: dict[str, None] = {}
    while first in nodes and first not in chain:
        chain[first] = None
        first = following(nodes[first])
    return [*chain]


def _chatgpt_turn(
    conversation: _Conversation, session: str, node: str, file: Path, options: Options
) -> Iterator[Record]:
    message = conversation.mapping[node].message
    if message is None:  # the root
        return
    role = message.author and message.author.role
    content = message.content or _Content()
    about = message.metadata or {}
    is_tool = role == "tool" or (role == "assistant" and message.recipient not in SAID_TO)
    wanted = role in SPEAKERS or role == "tool"
    if about.get("is_visually_hidden_from_conversation") or not wanted or (is_tool and not options.everything):
        yield Skipped("tool calls and results" if is_tool else "hidden messages")
        return
    parts = content.parts or []
    for part in parts:  # one that was spoken has a text
        if isinstance(part, dict) and not first_text(part.get("text")):
            yield Skipped("images and recordings")
    text = "\n".join(texts(said(parts))) or (content.text if content.content_type == "code" else "")
    if not isinstance(text, str) or not text.strip():
        yield Skipped("turns without text")
        return
    yield from memory(
        ("chatgpt", session, node),
        _REFERENCE.sub(_shown, text) if role == "assistant" else text,
        file,
        namespace=options.namespace,
        session=session,
        created_at=moment(message.create_time or conversation.create_time),
        tags=[str(role)],
        metadata=present(source="chatgpt", speaker=role, title=conversation.title, model=about.get("model_slug")),
    )


def _shown(reference: re.Match[str]) -> str:
    """Return the name of a thing that is referred to, or the text of a link; nothing for a source."""
    kind, about = reference["kind"], reference["about"] or ""
    name: object = about.partition("\ue202")[0] if kind == "url" else None
    if about.startswith("["):
        with suppress(msgspec.DecodeError, RecursionError, IndexError):
            name = msgspec.json.decode(about, type=list[Any])[1]
    return reference[0][: reference[0].startswith(" ")] + name if isinstance(name, str) else ""
