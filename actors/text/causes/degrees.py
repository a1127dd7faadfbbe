"""Degrees that state an effect: so loud that, such a noise that, too tired to, so many guests were missing that."""

import re
from typing import Final

from actors.text.causes.patterns import FINITE, HYPOTHETICAL, WORD
from actors.text.causes.spans import Reading, first_clause, last_clause
from actors.text.causes.words import SUBJECT

_DEGREE: Final = re.compile(
    r"(?<!\bdo)(?<!\bdid)(?<!\bthink)(?<!\bsay)(?<!\bsaid)(?<!\bhope)\s(?:so\s+(?!(?:called|and|but|or)\b)(?:[\w'’-]+\s+){1,3}?(?<!\b(?:and|but)\s)(?<!\bor\s)|such\s+|"
    r"such\s+(?!as\b|an? (?:way|manner|fashion)\b)(?:[\w'’-]+\s+){1,4}?)"
    rf"(?:(?P<that>that)\s+(?:(?<=such that )\w|(?={SUBJECT}\s|[\w'’-]+(?:\s+[\w'’-]+)?\s+{FINITE.pattern}))|"
    r"(?=(?:i|we|he|she|it|they)\s+(?:could|can|had to)))",
    re.IGNORECASE,
)
"""As in "so loud that the dog hid", "such a noise that he woke", "so late we could not enter"; not "do so that"."""
_GLAD: Final = re.compile(
    r"\s+so\s+(?:(?:very|really)\s+)?(?:glad|happy|sure|sorry|proud|lucky|certain|afraid|pleased|grateful|thankful|excited|"
    r"thrilled|convinced|confident|relieved|surprised|touched|honou?red|sad|cool|great|nice|good)\b",
    re.IGNORECASE,
)
"""As in "so glad that you came": what follows "that" is no effect."""
_TOO: Final = re.compile(
    r"(?<!\bnot)(?<!\bnever)(?<!n['’]t)\s(?:far |much |just )?too\s+(?!(?:good|happy|glad|kind|pleased)\b)\w+\s+"
    r"(?=to\s+(?!(?:the|say|tell|mention|an?|my|his|her|our|their|be true)\b)\w)",
    re.IGNORECASE,
)
"""As in "too tired to walk"; not "too good to be true", "not too late to"."""


def read_degree(text: str, start: int, end: int) -> Reading | None:
    """Read a degree: so loud that, such a noise that, too tired to."""
    for match in _DEGREE.finditer(text, start + 1, end):
        if not _GLAD.match(match.group()):
            name, that = WORD.findall(match.group())[0].lower(), "that" if match["that"] else 0
            cause = (start, match.start(that) if that else match.end())
            return Reading(f"{name} … that", last_clause(text, cause), first_clause(text, (match.end(that), end)))
    match = _TOO.search(text, start, end)
    if match is None or HYPOTHETICAL.search(text[start : match.start()]):
        return None
    return Reading("too … to", last_clause(text, (start, match.end())), first_clause(text, (match.end(), end)))
