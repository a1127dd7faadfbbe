"""Rule-based entity extraction: names, addresses, paths, dates, quantities, identifiers."""

import re
import unicodedata
from typing import Final

from projections.spaces.lexical import STOP_WORDS

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_UNIT: Final = (
    r"(?:%|[kmgt]i?b|[mn]s|µs|[cmk]?m|kg|mg|[gslhdv]|min|mph|km/h|[mkg]?hz|k?wh?|k?cal|px|fps|rpm|dollars?|euros?"
    r"|seconds?|minutes?|hours?|days?|weeks?|months?|years?|miles?|meters?|metres?|pounds?|percent|°[cf])"
)
_PATTERNS: Final = tuple(
    (re.compile(cue), re.compile(pattern))
    for cue, pattern in (
        (  # URLs
            r"://|www\.",
            r"\b(?:https?|ftp|ssh|git|file)://[^\s<>\"'`)\]]+[^\s<>\"'`)\].,;:!?]|\bwww\.[\w-]+\.[^\s<>\"'`)\]]*[\w/]",
        ),
        # e-mail addresses, and handles
        (r"@", r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63})+"),
        (r"@", r"(?<![\w@/])@\w[\w.-]{0,62}\w"),
        (  # paths
            r"[/\\]",
            (
                r"(?<![\w/.~\\])(?:[A-Za-z]:[\\/]|~/|\.{0,2}/)(?:[\w.+@-]++[\\/]?)++"
                r"|(?<![\w.+@/-])(?:[\w.+@-]++/)++[\w.+@-]{0,200}\.\w{1,8}\b"
            ),
        ),
        # dates and times
        (r"\d-\d", r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"),
        (r"\d", rf"(?i:\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b\.?(?:,? \d{{4}}\b)?)"),
        (r"\d", rf"(?i:\b{_MONTH}\b\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?|\b{_MONTH},? \d{{4}}\b)"),
        (r"\d[/.]\d", r"\b\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2})\b(?!\.\d)"),
        (r"\d", r"(?i:\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\b)?|\b\d{1,2} ?[ap]m\b)"),
        # versions
        (r"\d", r"\bv\d+(?:\.\d+)*(?:-[\w.]+)?\b|\b\d+\.\d+\.\d+(?:[.-]\w++)*+"),
        # quantities
        (r"\d", rf"(?i:[$€£¥] ?\d+(?:[.,]\d+)*(?:[kmb]\b)?|\b\d+(?:[.,]\d+){{0,8}} ?{_UNIT}(?!\w))"),
        (  # dotted names and calls
            r"[.:][A-Za-z_]|\(\)",
            r"(?<![\w.])(?:[A-Za-z_]\w*+(?:\.|::))++[A-Za-z_]\w*+(?:\(\))?|\b[A-Za-z_]\w*\(\)",
        ),
        (  # identifiers in snake case and camel case
            r"[A-Za-z0-9]_|[a-z0-9][A-Z]",
            (
                r"\b_*+[A-Za-z0-9]++(?:_++[A-Za-z0-9]++)++\b|\b[a-z][a-z0-9]*+(?:[A-Z][a-z0-9]*+)++\b"
                r"|\b(?:[A-Z]++[a-z0-9]++){2,}+[A-Z]*+\b"
            ),
        ),
        # acronyms
        (r"[A-Z][A-Z0-9&/-]", r"(?<!\w)(?<![A-Z0-9][-&/])[A-Z](?:[A-Z0-9]|[-&/](?=[A-Z0-9]))++(?:s\b|\b)"),
    )
)
"""(cue, pattern) of each kind, in order of precedence: a later pattern does not see what an earlier one matched.

The cue is a cheap pattern that every match contains. Plain text contains few cues; testing them first takes a third of
the time.
"""
_QUOTED: Final = re.compile(r"[\"“«]([^\"“”«»\n]{2,80})[\"”»]|(?<!\w)['‘]([A-Z][^'‘’\n]{1,80})['’](?!\w)")
_SPEAKER: Final = re.compile(r"^[ \t]*([^\W\d_a-z][\w.'’ -]{0,40}):(?=\s)", re.MULTILINE)
_TITLE: Final = r"(?:Dr|Mrs?|Ms|Prof)\b"
"""No part of the name after it, so that "Dr. Brandt", "Dr Brandt" and "Brandt" are one name."""
_CAPITAL: Final = rf"(?!{_TITLE})[^\W\d_a-zß-öø-ÿ\u2e80-\uffff][^\W\d_]*+(?:['’-][^\W\d_]++)*+"
_JOINT: Final = r"(?: |(?<=\b\w)\. | (?:of|the|de|van|von|der|la|del) )"
"""Separator within a name: a space, the dot of an initial, or a particle."""
_NAME: Final = re.compile(rf"\b{_CAPITAL}(?:{_JOINT}{_CAPITAL})*(?: \d+\b)?")
_SENTENCE_END: Final = re.compile(r"(?:^|(?<!\b[DM]r)(?<!\bMs)(?<!\bMrs)(?<!\bProf)[.!?:;…\n•*#>\-][\s\"'“‘(*#>\-]*)$")

_SENTENCE_OPENERS: Final = frozenset(
    """
    absolutely actually add although always another anyway awesome basically besides check cool congrats
    consider create currently definitely despite does done dear each eventually every everyone everything
    exactly finally find first fix get give glad go good great guess haha hello hey hi hopefully however if
    indeed instead keep last lately let like look looks lots lovely made make many maybe meanwhile moreover most
    much never next nice no none nothing note now oh ok okay once one open perhaps please probably put read
    really recently remember remove run say see several show since someone something sometimes soon sorry sounds
    start still stop sure take tell thank thanks think though today together tomorrow tonight totally true try
    two unfortunately unless update use usually wait want well whatever whenever whether while without wow write
    yeah yep yes yesterday yet
    """.split()
)
"""Words beside the stop words that are often capitalised at the start of a sentence and are not names."""


def _fold(entity: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", entity).replace("’", "'").casefold().split()).strip(" .,;:!?")


def _is_plain(word: str) -> bool:
    """Return whether a capitalised word may be something other than a name."""
    folded = word.casefold().replace("’", "'")
    bare = folded.removesuffix("'s")
    return folded in STOP_WORDS or bare in STOP_WORDS or bare in _SENTENCE_OPENERS


def _names(text: str) -> list[str]:
    """Return the capitalised names without plain words around them and without single words that open a sentence."""
    found = list[str]()
    unsure = list[str]()
    lower = {word for word in re.findall(r"\b[^\W\d_]+\b", text) if word.islower()}
    for match in _NAME.finditer(text):
        parts = match.group().split(" ")
        starts_sentence = bool(_SENTENCE_END.search(text, max(0, match.start() - 8), match.start()))
        while parts and _is_plain(parts[0]):
            parts.pop(0)
            starts_sentence = False
        while parts and _is_plain(parts[-1]):
            parts.pop()
        if not parts or len(parts[0]) == 1 or not parts[0][0].isupper():
            continue
        name = re.sub(r"['’]s$", "", " ".join(parts))
        if starts_sentence and len(parts) == 1:
            unsure.append(name)
        else:
            found.append(name)
    # A single word at the start of a sentence is a name if it is one elsewhere, or if it occurs nowhere in lower case
    # and is not inflected ("Running late", "Quickly done").
    known = {part for name in found for part in name.split(" ")}
    found.extend(
        name
        for name in unsure
        if name in known or (name.casefold() not in lower and not re.search(r"(?:ing|ed|ly|ness|tion|ment)$", name))
    )
    return found


def find_names(text: str) -> list[str]:
    """Return the capitalised names in a text, as they are written, without acronyms."""
    return [name for name in _names(text) if not name.isupper()]


def find_entities(text: str) -> list[str]:
    """Return the distinct entities of a text, normalised (NFKC, casefolded), ordered by kind, then by position.

    Rules find URLs, e-mail addresses, handles, paths, dates, times, versions, quantities, code identifiers,
    acronyms, quoted titles, speakers ("Caroline: ") and capitalised names.
    """
    found = [first or second for first, second in _QUOTED.findall(text)]
    rest = text
    for cue, pattern in _PATTERNS:
        if cue.search(rest) and (claimed := [match.group() for match in pattern.finditer(rest)]):
            found.extend(claimed)
            rest = pattern.sub(lambda match: "_" * len(match.group()), rest)
    speakers = [name for name in _SPEAKER.findall(text) if not _is_plain(name) and len(name.split()) <= 3]
    found.extend(speakers)
    found.extend(_names(rest))
    return list(dict.fromkeys(folded for entity in found if (folded := _fold(entity))))
