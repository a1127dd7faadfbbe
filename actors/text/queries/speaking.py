"""Questions for all that somebody said: "What did Sanna say in June?", "What was written by Piet?"."""

import re
import unicodedata
from typing import Final

from projections.spaces.lexical import STOP_WORDS, stem_words

_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
SAYING: Final = frozenset(
    stem_words(
        """
        announce answer ask chat claim comment complain discuss explain mention note post promise propose recommend
        remark reply report said say speak spoke suggest talk tell think thought told warn write written wrote
        """.split()
    )
)
_ASKED: Final = re.compile(
    r"\W*(?:(?:and|but|ok|okay|please|so|then|(?:show|remind|tell) (?:me|us)|list)\W+)*"
    r"(?:(?:anything|everything|what all)\b|what(?: all| else| exactly)?"
    r"(?:['’]s| (?:are|did|do|does|had|has|have|is|was|were))\b|(?:all|what) (?:that )?(?=[A-Z]))",
    re.IGNORECASE,
)
"""The beginning of a question for what was said, and not for a kind of thing or for whether it was."""
_OTHER: Final = re.compile(r"\b(?:how|never|not|nothing|when|where|who|whom|whose|why)\b|n['’]t\b", re.IGNORECASE)
"""Asks for something else than what was said."""
_BETWEEN: Final = frozenset("actually already also ever first just last really recently".split())
"""What may stand between the name and its verb, and behind that."""
_MOST_NAMED: Final = 4


def find_asked_speaker(query: str, general: frozenset[str]) -> frozenset[str]:
    """Return the casefolded words of the name if a question asks for all that somebody said; none for any other.

    It has a name with a verb of saying, and nothing else that a memory could be about: "What did Sanna say about the
    roof?" has. Whether somebody of that name has said anything is not known here. The question comes without its times;
    `general` are stems of words that a question for all there is may have.
    """
    query = unicodedata.normalize("NFC", query)
    if _ASKED.match(query) is None or _OTHER.search(query):
        return frozenset()
    words = [word.replace("’", "'").casefold() for word in _WORD.findall(query)]
    stems = stem_words(words)
    is_general = [word in STOP_WORDS or stem in general | SAYING for word, stem in zip(words, stems, strict=True)]
    named = [index for index, known in enumerate(is_general) if not known and words[index] not in _BETWEEN]
    if not 0 < len(named) <= _MOST_NAMED or named[-1] - named[0] >= len(named):
        return frozenset()
    before, after = named[0], named[-1] + 1
    while after < len(words) and words[after] in _BETWEEN:
        after += 1
    is_subject = (
        after < len(words) and stems[after] in SAYING and (STOP_WORDS | _BETWEEN).issuperset(words[after + 1 :])
    )
    is_agent = before > 1 and words[before - 1] == "by" and stems[before - 2] in SAYING
    return frozenset(words[index] for index in named) if is_subject or is_agent else frozenset()
