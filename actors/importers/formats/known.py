"""The formats that are told by what a file holds, and their readers."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from actors.importers.formats import chats, claude_mem, issues, mail, memory_servers, messengers, tables, whatsapp
from actors.importers.formats.sessions import claude_transcripts, codex, gemini, specstory
from actors.importers.records import Options, Record

Reader: TypeAlias = Callable[[Path, Options], Iterator[Record]]


class Format(NamedTuple):
    """A format that a program writes."""

    name: str
    matches: Callable[[Any], bool]
    """Tells it by the objects on the first lines of a file, by the document in it, or by the path."""
    read: Reader
    prefix: str | None = None
    """What the names of sessions begin with, of a program that writes a file for each."""
    single: str = ""
    """What one file is called, where `name` is that of several."""


LINES = (
    Format(claude_transcripts.NAME, claude_transcripts.matches, claude_transcripts.read, ""),
    Format("Codex sessions", codex.matches, codex.read, "rollout-"),
    Format(gemini.NAME, gemini.has_lines, gemini.read_lines, "session-"),
    Format("a memory file of the official memory server", memory_servers.is_official, memory_servers.read_official),
    Format("issues of Beads", issues.has_beads, issues.read_beads),
    Format(issues.GITHUB, issues.has_github, issues.read_github_lines),
)
"""Formats of JSON lines besides our own."""
DOCUMENTS = (
    Format(gemini.NAME, gemini.is_document, gemini.read_document, "session-"),
    Format("a ChatGPT export", chats.is_chatgpt, chats.read_chatgpt),
    Format(chats.CLAUDE_AI, chats.is_claude_ai, chats.read_claude_ai),
    Format("an export of Telegram", messengers.is_telegram, messengers.read_telegram),
    Format("an export of mem0", memory_servers.is_mem0, memory_servers.read_mem0),
    Format(issues.GITHUB, issues.is_github, issues.read_github),
)
"""Formats of one JSON document."""

FILES = (
    Format("a claude-mem database", claude_mem.matches, claude_mem.read),
    Format(tables.NAME, tables.matches, tables.read),
    Format("a mailbox", mail.matches, mail.read),
    Format(messengers.SLACK, messengers.is_slack, messengers.read_slack),
)
"""Formats that are told by the file itself."""
TEXTS = (
    Format("WhatsApp chats", whatsapp.matches, whatsapp.read, single="a WhatsApp chat"),
    Format("SpecStory sessions", specstory.matches, specstory.read),
    Format("messages", mail.is_message, mail.read_message, single="a message"),
)
"""Formats of files that may lie among notes."""
