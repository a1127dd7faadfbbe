"""Subjects that name a happening: what a verb in the past says of "the closure" or "the price rise" is an effect of it.

They count with any verb that has an object and is not one by which a happening is only placed or described ("the vote
took place", "the study showed").
"""

import re
from itertools import islice
from typing import Final

from actors.text.causes.patterns import HYPOTHETICAL
from actors.text.causes.spans import Reading, first_clause, is_claimed
from actors.text.causes.subjects import head_noun, is_no_actor
from actors.text.causes.verbs import NOTHING
from actors.text.causes.words import any_of, words_of

MAX_VERBS: Final = 4
"""Verbs in the past of a sentence that are tried: the first may be a participle in the subject."""

_HAPPENINGS: Final = words_of("happenings")
_NO_HAPPENINGS: Final = words_of("no_happenings")
_SUFFIX: Final = re.compile(r"\w{2,}(?:[ts]ion|ment|ness)")
_PLACING: Final = words_of("placing")
_PAST: Final = re.compile(
    rf"(?<=\w )(?P<verb>[a-z]{{2,}}ed|{any_of('pasts')})\s++(?:(?:up|out|off|down|away|back)\s++)?"
    rf"(?!{any_of('prepositions')}\b|\w+ly\b|\w+ed\b|\d|(?:\w++\s++){{1,2}}?{any_of('units_of_time')}\b)\w",
    re.IGNORECASE,
)


def read_happening(text: str, start: int, end: int) -> Reading | None:
    """Read a verb in the past whose subject is a happening."""
    for match in islice(_PAST.finditer(text, start, end), MAX_VERBS):
        verb, subject = match["verb"], match.start("verb")
        phrase = text[start:subject].strip()
        if (
            "," not in phrase
            and verb.lower() not in _PLACING
            and _is_happening(phrase)
            and is_no_actor(phrase)
            and not NOTHING.match(phrase)
            and not HYPOTHETICAL.search(phrase)
            and not is_claimed(text, start, subject)
        ):
            return Reading(verb.lower(), (start, subject), first_clause(text, (subject, end)))
    return None


def _is_happening(phrase: str) -> bool:
    noun = head_noun(phrase)
    names = {noun, noun.removesuffix("s"), noun.removesuffix("es")}
    if names & _NO_HAPPENINGS:
        return False
    return bool(names & _HAPPENINGS) or any(map(_SUFFIX.fullmatch, names))
