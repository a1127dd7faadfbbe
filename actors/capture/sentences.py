"""The sentences of a turn that could be memories: prose that is clear on its own."""

import re
from collections.abc import Iterator
from typing import Final

WORDS: Final = range(5, 61)
"""Words of a sentence: fewer say too little, more are a list."""

_CODE: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_NO_PROSE: Final = re.compile(r"^(?:[ \t]*[|>$%]|[ \t]*#{1,6}\s|[ ]{4,}(?![-*+\d])\S|\t).*$", re.MULTILINE)
"""Tables, quotations, shell lines, headings, indented code."""
_BLOCK: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+•]|\d+[.)])\s)")
"""Between paragraphs and items of a list."""
_MARK: Final = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_END: Final = re.compile(r"(?<=[.!?…])[\"'”’)*_]*\s+(?=[\"'“‘(*_`]*[A-Z0-9])")
_EMPHASIS: Final = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_DEPENDENT: Final = re.compile(
    r"(?:(?:so|and|but|then|also|because|which|hence|plus|instead)\b[ ,]*)?"
    r"(?:it|its|it's|this|that|that's|these|those|they|them|he|she|there|here|which)\b|(?:and|but) (?:always|never)\b",
    re.IGNORECASE,
)
"""Opens a sentence that says nothing without the one before it."""


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a turn, each with those after it that depend on it, as far as they are short enough.

    Args:
        text: Markdown or plain text.
    """
    text = _NO_PROSE.sub("\n\n", _CODE.sub("\n\n", text))
    for block in _BLOCK.split(text):
        found: list[str] = []
        for part in _END.split(_EMPHASIS.sub(r"\1", _MARK.sub("", block))):
            sentence = " ".join(part.split())
            if not _DEPENDENT.match(sentence):
                found.append(sentence)
            elif found and len(found[-1].split()) + len(sentence.split()) in WORDS:
                found[-1] += f" {sentence}"
        yield from (one for one in found if len(one.split()) in WORDS and not one.endswith((":", "?")))
