"""Read a statement: the content words of a text, and the marks of states, events, changes and ends in it."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from actors.text.queries.tense import USED_TO
from actors.text.text_equivalence import ENGLISH, NUMBERS, synonym
from events.vocabulary.values import Span
from projections.spaces.lexical import STOP_WORDS, stem_words

MAX_WORDS: Final = 60
"""Content words of a statement; a longer text states more than one."""
MAX_LENGTH: Final = 2_000
"""Characters of a statement, which bounds what a text without spaces costs."""

_LISTS: Final[dict[str, str]] = ENGLISH["corrections"]
ADDRESS: Final = re.compile(r"(?:https?://|www\.)[^\s<>\"'`]*[\w/]")
_WORD: Final = re.compile(rf"{ADDRESS.pattern}|[-+$€£]?\w+(?:[-'’.:,/@&_]\w+)*")
_TITLED: Final = "".join(rf"(?<!\b[a-z]{{{n}}} {title})" for n in (2, 3, 4) for title in "Dr Mr Ms Mrs Prof".split())
_SENTENCE_START: Final = re.compile(rf"(?:^|{_TITLED}(?<!\bProf\. Dr)[.!?:;\n])[\s\"'(]*$")
"""The point of a title after a short word doesn't end a sentence: "is Dr. Klee", unlike "at 5 Oak Dr. Towels are"."""
_IS_ON: Final = re.compile(r"\b(is|are|was|be) on(?! (?:the|a|an|my|our|his|her|their|its|\d|[A-Z]))")
_LABEL: Final = re.compile(r"\W*+\w++(?:[ /-]++[\w'’]++){1,6}+(?=:\s(?!.{0,80}\d.{0,80} at \d))")
"""Words before a colon whose value follows, as in "Minimum Node version: 20"; a single word may be a speaker."""
_NEGATION: Final = re.compile(r"\b(?:not|no|never|none|nobody|nothing|neither|without)\b|n['’]t\b", re.IGNORECASE)


def any_of(*lists: str, before: str = "", after: str = "") -> re.Pattern[str]:
    """Return a pattern of the phrases of some lists, which any whitespace may separate."""
    listed = (phrase for name in lists for phrase in re.split(r",\s+", _LISTS[name].strip()))
    spaced = "|".join(" ".join(phrase.split()) for phrase in listed).replace(" ?", r"\s*").replace(" ", r"\s++")
    return re.compile(rf"{before}(?<!\w)(?:{spaced})(?:(?!\w)|(?<!\w)){after}", re.IGNORECASE)


CHANGE, _POSSESSION = any_of("change", "any_more"), any_of("possession")
_END, _NO_LONGER = any_of("no_longer", "any_more", "end"), any_of("no_longer", "any_more")
_DETERMINERS: Final = re.compile(r"\s+(?:(?:the|a|an|my|our|his|her|their|its|your|all|some)\s+)+", re.IGNORECASE)
_NOT_ENDED: Final = any_of("end", "ending", before=r"(?:\b(?:not|never)|(?<!\w)\w++(?<=n)['’]t)\s++(?:\w++\s++)?")
"""A negated word that ends a state: "don't quit", "never gave up", "won't get off"."""
# "Rent is", "work starts": what precedes another verb is a noun.
STATE: Final = any_of("state", after=r"(?!\s+(?:is|are|has|will|starts|begins|ends|costs|takes|lasts|opens|closes)\b)")
_CLAUSE: Final = re.compile(r"(?<=\w) (?:when(?:ever)?|if|while|because|unless|until)\b", re.IGNORECASE)
"""Begins a clause on which the statement before it depends."""
_EVENT: Final = any_of(
    "event", before=r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bbeen )(?<!\bget )(?<!\bgets )(?<!\ba )(?<!\bthe )"
)
DECISION: Final = any_of("decision")
"""Tells an event from which on a value holds: "We picked Jenkins for the builds"."""
_MODALS: Final = "|".join(_LISTS["modals"].split())
VERB: Final = re.compile(rf"{STATE.pattern}|{_EVENT.pattern}|\b(?:{_MODALS})\b|n['’]t\b", re.IGNORECASE)
_ANNOUNCEMENT: Final = re.compile(
    rf"\W*+(?:{any_of('announcement', 'opening').pattern}[^:,;.!–—]{{0,40}}+[:,;.!–—]\s*|make (?:it|that)\b(?=\s))",
    re.IGNORECASE,
)
"""Opens a correction without saying anything of its own: "Correction: …", "make that …"."""
_ADMISSION: Final = re.compile(rf"{any_of('announcement').pattern}|\bmake (?:it|that)$", re.IGNORECASE)
_ADVERB: Final = any_of("adverb")
_FORMER: Final = re.compile(
    rf"\b(?:{USED_TO}|ago|once(?! (?:an?|per|every|each|in)\b)|back (?:in|then)|previously|formerly|originally|"
    r"initially|at first|last (?:year|month|week|spring|summer|autumn|fall|winter)|"
    r"(?:was|were)\b[^.!?]{0,80}\bin (?:19|20)\d\d|"
    r"(?:until|till|before) (?:(?:19|20)\d\d|that|then|the (?:change|switch|move|update|upgrade)))\b",
    re.IGNORECASE,
)
"""Words of what no longer holds."""
_PRESENT: Final = re.compile(r"\b(?:is|are|has|have|now|today)\b|['’](?:s|re)\b", re.IGNORECASE)
"""Words that tell what holds too: "She used to live in Bonn and is in Ulm now"."""
_TAKES_PLACE: Final = re.compile(r"takes? place\b|happens?\b", re.IGNORECASE)
_BE: Final = frozenset({"is", "are", "'s"})
_FIRST_CLAUSE: Final = re.compile(r"[^,;:.!?]++")
_STATE_OF_USA: Final = r"(?-i:OK|OH|HI)(?!\w)"
_VALUE: Final = rf"{any_of('value').pattern}(?!\s*+,)"
_INTERJECTION: Final = any_of(
    "interjection",
    before=rf"(?:(?:^|[.;!?])\s*+|,\s*+(?!{_STATE_OF_USA})|[:–—-]\s*+(?!{_VALUE}))",
    after=r"(?=\s*+(?:[.,;:!?–—-]|$))",
)
"""A word of assent or surprise between punctuation marks, which states nothing: "Yeah, …" but not "Tulsa, OK"."""
_PROPOSAL, _ASKING, _INVERSION = any_of("proposal"), any_of("asking"), any_of("asking", "inversion")
TIMES: Final = frozenset(
    word for kind in ("weekday", "month", "daypart", "frequency") for word in ENGLISH["values"][kind].split()
)
_OPTION: Final = re.compile(r"(?:^|\s)--?[A-Za-z]|\s\|\s|\$[A-Za-z_{(]")
PROSE: Final = re.compile(
    r"(?<![\w-])(?:the|an?|my|our|your|his|her|its|their|this|that|is|are|was|were|be|we|i|you|he|she|they|it|now|uses?)(?!\w)",
    re.IGNORECASE,
)
"""Words without which a single word states nothing, and a text with options, a pipe or a variable is a command."""
_PARTICLES: Final = frozenset("off up down once".split())
"""Stop words that state something."""


class Word(NamedTuple):
    """A content word."""

    key: str
    """The stem of its synonyms; of a number the digits."""
    span: Span
    """Its place in the text."""
    kind: str
    """`number`, `time`, `name`, or `words` for any other."""


@dataclass(frozen=True)
class Statement:
    """A text, and what its comparisons with others share."""

    text: str

    @cached_property
    def words(self) -> list[Word]:
        """Its content words but those that announce a correction; none of a command, or of more than a statement."""
        if _OPTION.search(self.text) and not PROSE.search(self.text):
            return []
        return [word for word in _words(self.text) if word.span[0] >= self.starts_at]

    @cached_property
    def announced(self) -> set[str]:
        """The keys of the words that announce a correction."""
        return {word.key for word in _words(self.text[: self.starts_at])}

    @cached_property
    def keys(self) -> list[str]:
        """The stem of each content word's synonyms."""
        return [word.key for word in self.words]

    @cached_property
    def main_keys(self) -> list[str]:
        """The keys of its main clause, where that comes first."""
        clause = _CLAUSE.search(self.text)
        return [word.key for word in self.words if clause is None or word.span[1] <= clause.start()]

    @cached_property
    def announces_change(self) -> bool:
        """Whether it has a word of change, or begins by announcing one."""
        return self.starts_at > 0 or bool(self.changes)

    @cached_property
    def changes(self) -> list[Span]:
        """Where its words of change are."""
        return [match.span() for match in CHANGE.finditer(self.text)]

    def is_change(self, word: Word) -> bool:
        """Return whether one of its words is a word of change."""
        return any(start <= word.span[0] < end for start, end in self.changes)

    @cached_property
    def only_says_now(self) -> bool:
        """Whether nothing but an adverb or an ordinary opening announces its change: "Sam has a garden now"."""
        return not self.admits_error and all(_ADVERB.fullmatch(self.text, *span) for span in self.changes)

    @cached_property
    def verb(self) -> str:
        """Its first verb of a state: `be`, `have`, or another one as it is written; empty without one."""
        found = STATE.search(self.text)
        word = found[0].casefold() if found else ""
        is_be = word in _BE or (found is not None and _TAKES_PLACE.match(self.text, found.start()) is not None)
        return "be" if is_be else "have" if word in {"has", "have"} else word

    @cached_property
    def ends(self) -> dict[int, list[str]]:
        """What the words that end a state take as their object, as keys, by the ends of these words: "sold the car"."""
        return {
            match.end(): [] if _NO_LONGER.fullmatch(match[0]) else self.object_after(match.end())
            for match in _END.finditer(self._without_negated_ends)
        }

    def object_after(self, end: int) -> list[str]:
        """Return the keys of the noun phrase with a determiner that begins at a place; none if there is no such."""
        found: list[str] = []
        for word in self.words:
            if word.span[0] < end:
                continue
            if found and self.text[end : word.span[0]] != " ":
                break
            if not found and not _DETERMINERS.fullmatch(self.text, end, word.span[0]):
                break
            found.append(word.key)
            end = word.span[1]
        return found

    @cached_property
    def starts_at(self) -> int:
        """Where its first clause begins, after the words that announce a correction: "Update: …", "Sorry, …"."""
        start = 0
        while found := _ANNOUNCEMENT.match(self.text, start):
            start = found.end()
        return start if start < len(self.text) else 0

    @cached_property
    def admits_error(self) -> bool:
        """Whether it begins by announcing a correction, not just with "no", "wait" or "sorry"."""
        return _ADMISSION.search(self.text[: self.starts_at]) is not None

    @cached_property
    def is_told(self) -> bool:
        """Whether it states something, rather than asks or proposes it."""
        first = _FIRST_CLAUSE.match(self.text, self.starts_at)
        is_proposed = first is not None and _PROPOSAL.search(self.text, 0, first.end()) is not None
        return not is_proposed and not self.is_asked

    @cached_property
    def is_asked(self) -> bool:
        """Whether it is a question."""
        asks = _ASKING if "?" in self.text else _INVERSION
        return asks.match(self.text, self.starts_at) is not None or self.text.rstrip(" \"'”)").endswith("?")

    @cached_property
    def verb_at(self) -> int | None:
        """Where its first verb begins, of a state, an event or a mood, or else the colon after a label."""
        found = VERB.search(self.text, self.starts_at)
        return found.start() if found else self.state_at

    @cached_property
    def tells_event(self) -> bool:
        """Whether it tells what happened once."""
        return _EVENT.search(self.text) is not None

    @cached_property
    def state_at(self) -> int | None:
        """Where its first verb of a state begins, or else the colon after a label; None if it has neither."""
        found = STATE.search(self.text)
        label = _LABEL.match(self.text)
        return found.start() if found else label and label.end()

    @cached_property
    def negated_at(self) -> int | None:
        """Where its first negation begins; None without one."""
        found = _NEGATION.search(self.text)
        return found and found.start()

    @cached_property
    def is_former(self) -> bool:
        """Whether it tells only what no longer holds: "The gym used to cost 45 euros"."""
        return _FORMER.search(self.text) is not None and _PRESENT.search(self.text) is None

    @property
    def is_negated(self) -> bool:
        """Whether it has a negation."""
        return self.negated_at is not None

    @cached_property
    def only_denies_end(self) -> bool:
        """Whether it negates nothing but that something ends: "Don't quit", which says "Keep on"."""
        return self.is_negated and _NEGATION.search(self._without_negated_ends) is None

    @cached_property
    def _without_negated_ends(self) -> str:
        """The text with blanks for what says that nothing has ended."""
        return _NOT_ENDED.sub(lambda match: " " * len(match[0]), self.text)

    @cached_property
    def possesses(self) -> bool:
        """Whether it has a verb of a state that has many values."""
        return _POSSESSION.search(self.text) is not None


@lru_cache(256)
def read_statement(text: str) -> Statement:
    """Return the statement of a text. A new memory is soon a neighbour, so the latest ones are kept."""
    return Statement(text)


def _words(text: str) -> list[Word]:
    """Return the content words of a text, each with the stem of its synonyms; none if it is longer than a statement."""
    if len(text) > MAX_LENGTH:
        return []
    text = _IS_ON.sub(r"\1 ON", text)  # the state, not the preposition
    text = _INTERJECTION.sub(lambda match: " " * len(match[0]), text)
    found: list[Word] = []
    for match in _WORD.finditer(text):
        surface = match.group()
        word = surface.casefold().replace("’", "'").removesuffix("'s")
        if surface != "ON" and ((word in STOP_WORDS and word not in _PARTICLES) or _NEGATION.fullmatch(word)):
            continue
        if len(found) == MAX_WORDS:
            return []
        if ADDRESS.match(surface):
            found.append(Word(surface, match.span(), "name"))
        elif word in NUMBERS or any(map(str.isdigit, word)):
            found.append(Word(NUMBERS.get(word, word), match.span(), "number"))
        elif word in TIMES:
            found.append(Word(synonym(word), match.span(), "time"))
        else:
            kind = "name" if surface != "ON" and _is_name(text, match) else "words"
            found.append(Word(synonym(word), match.span(), kind))
    stems = stem_words([word.key for word in found])
    return [
        word if word.kind == "number" or ADDRESS.match(word.key) else Word(stem, word.span, word.kind)
        for word, stem in zip(found, stems, strict=True)
    ]


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Return whether a word has a capital that doesn't begin a sentence, or is an identifier ("retry_count")."""
    word = match.group()
    starts_sentence = _SENTENCE_START.search(text, max(0, match.start() - 8), match.start()) is not None
    return "_" in word or (word[0].isupper() and (word[1:] != word[1:].lower() or not starts_sentence))
