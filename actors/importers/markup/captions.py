"""Transcripts of meetings and subtitles (WebVTT, SubRip) as text: what one person says in a row is a paragraph."""

import re
from html import unescape
from typing import Final

from actors.runtime.types import JsonObject

_SPOKEN: Final = re.compile(r"<v(?:\.[^\s<>]*)?[ \t](?P<name>[^<>\n]+)>")
"""The name of a speaker in WebVTT, as Teams writes it."""
_NAMED: Final = re.compile(r"(?P<name>[^\W\d_][^:<>]{0,60}): +(?=\S)")
"""The name of a speaker before what is said, as Zoom writes it."""
_TAG: Final = re.compile(
    r"</?(?:b|br|c|em|font|i|lang|rt|ruby|s|span|strong|u|v)(?:[\s./][^<>]*)?>|<\d[\d:.]*>|\{\\[^{}]*\}", re.IGNORECASE
)
"""A tag of style, voice, time or place; other brackets are text, which SubRip doesn't escape."""
_SENTENCE_END: Final = re.compile(r"[.!?…][\"'”’)\]]*\Z")
TIMES: Final = "-->"


def from_captions(text: str) -> tuple[JsonObject, str]:
    """Return no properties, and what is said, without times; a line that is shown twice in a row is said once."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    has_voices = _SPOKEN.search(text) is not None  # then a colon is part of what is said
    paragraphs: list[list[str]] = []  # pieces with their separators, since joining at each line takes the square
    speaker, before = "", ""
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.split("\n")
        timed = next((number for number, line in enumerate(lines) if TIMES in line), len(lines))
        for number, line in enumerate(lines[timed + 1 :]):
            named = _SPOKEN.search(line) if has_voices or number else _NAMED.match(line)
            said = " ".join(unescape(_TAG.sub("", line[named.end() :] if named else line)).split())
            if not said or (said == before and not named):
                continue
            separator = "\n" if _SENTENCE_END.search(before) else " "
            before = said
            if not paragraphs or (named and named["name"].strip() != speaker):
                speaker = named["name"].strip() if named else ""
                paragraphs.append([f"{unescape(speaker)}: {said}" if speaker else said])
            else:
                paragraphs[-1] += separator, said
    return {}, "\n\n".join("".join(pieces) for pieces in paragraphs)
