"""What happenings did: what a verb in the past says of "the closure", "closing the road" or "the closed road".

They count with any verb that has an object and is not one by which a happening is only placed or described ("the vote
took place", "the study showed").
"""

import re
from itertools import islice
from typing import Final

from actors.text.causes.patterns import HYPOTHETICAL
from actors.text.causes.spans import Reading, first_clause, is_claimed
from actors.text.causes.subjects import head_noun, is_activity, is_no_actor, names_happening
from actors.text.causes.verbs import NOTHING, PARTICIPLES
from actors.text.causes.words import DETERMINER, any_of, words_of

MAX_VERBS: Final = 4
"""Verbs in the past of a sentence that are tried: the first may be a participle in the subject."""

_CHANGED: Final = re.compile(
    rf"(?:{DETERMINER}\s+)?(?:\w+ly\s+)?(?:{any_of('broken')}|{PARTICIPLES}|\w+-(?:out|up|down|off))\s+[\w-]+",
    re.IGNORECASE,
)
"""A thing with an adjective or a participle of what became of it."""
_NO_DOING: Final = re.compile(
    r"(?:getting|having|seeing|hearing|keeping|making|letting|watching)\b|\w+$", re.IGNORECASE
)
"""Verbs after which a participle tells what becomes of their object, and a word alone."""
_PLACING: Final = words_of("placing")
_PAST: Final = re.compile(
    rf"(?<=\w )(?P<verb>(?!(?:need|\w*[cbf][rl]?eed)\b)(?-i:[a-z]{{2,}}ed)|{any_of('pasts')})"
    rf"\s++(?:(?:up|out|off|down|away|back)\s++)?"
    r"(?!(?:must|can|could|will|would|should|may|might|is|are|was|were)\b)"
    rf"(?!{any_of('prepositions')}\b|\w+ly\b|\w+ed\b|\d|(?:\w++\s++){{1,2}}?{any_of('units_of_time')}\b)\w",
    re.IGNORECASE,
)
"""A verb in the past with an object: "closed the road", "cut off power"; not "moved quickly", "lasted two days"."""


def read_happening(text: str, start: int, end: int) -> Reading | None:
    """Read a verb in the past whose subject is a happening."""
    for match in islice(_PAST.finditer(text, start, end), MAX_VERBS):
        verb, subject = match["verb"], match.start("verb")
        phrase = text[start:subject].strip()
        if (
            "," not in phrase
            and verb.lower() not in _PLACING
            and (
                _CHANGED.match(phrase)
                or (is_activity(phrase) and not _NO_DOING.match(phrase))
                or (" " in phrase and names_happening(head_noun(phrase)))
            )
            and is_no_actor(phrase)
            and not NOTHING.match(phrase)
            and not HYPOTHETICAL.search(phrase)
            and not is_claimed(text, start, subject)
        ):
            return Reading(verb.lower(), (start, subject), first_clause(text, (subject, end)))
    return None
