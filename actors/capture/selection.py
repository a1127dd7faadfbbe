"""The candidates of a session: the sentences of its transcript that are most worth keeping, as items of an import."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from actors.capture.signals import sentences, signal
from actors.importers.formats.sessions import claude_transcripts
from actors.importers.records import Item, Options, memory_id
from actors.importers.screening import screened
from actors.runtime.types import JsonObject

TAG: Final = "captured"
"""Tag of what was captured and not reviewed yet."""
MIN_SCORE: Final = 1.75
"""Least score of a sentence: that of one clear signal in plain words."""
MAX_CANDIDATES: Final = 40
"""Sentences of a session that are offered to the store, which keeps those that it doesn't know."""
EVIDENCE_CHARACTERS: Final = 1_000
"""Characters of the turn that stands beside a captured sentence."""


def candidates(transcript: Path, namespace: str) -> list[JsonObject]:
    """Return the sentences of a Claude Code transcript that are most worth keeping, best first.

    Their ids follow from the turn and the wording, so that a second run over the same session finds them again. Tool
    calls, their results, side chains and what the program writes into turns are left out; secrets are redacted.
    """
    turns = screened(claude_transcripts.read(transcript, Options(namespace=namespace)))
    found = sorted(_scored(turns), key=lambda one: -one[0])
    return [item for _, item in found[:MAX_CANDIDATES]]


def _scored(records: Iterable[object]) -> Iterator[tuple[float, JsonObject]]:
    seen: set[str] = set()
    for record in records:
        if not isinstance(record, Item) or record.value.get("memory_type") == "title":
            continue
        turn = record.value
        speaker = turn["metadata"]["speaker"]
        for sentence in sentences(turn["content"]):
            found = signal(sentence, speaker)
            if found is None or found.score < MIN_SCORE or sentence.casefold() in seen:
                continue
            seen.add(sentence.casefold())
            yield found.score, _item(turn, speaker, sentence, found.kind)


def _item(turn: JsonObject, speaker: str, sentence: str, kind: str) -> JsonObject:
    kept = {name: turn[name] for name in ("namespace", "session", "created_at") if name in turn}
    evidence = {"turn": turn["id"], "text": turn["content"][:EVIDENCE_CHARACTERS]}
    return kept | {
        "id": str(memory_id("captured", turn["id"], sentence)),
        "content": sentence,
        "tags": [TAG, kind],
        "memory_type": kind,
        "rationale": f"Captured at the end of a session: a {kind}, said by the {speaker}",
        "metadata": {"source": "capture", "speaker": speaker, "evidence": evidence},
    }
