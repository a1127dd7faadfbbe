"""Terms of a group of memories: words and pairs of words that distinguish it from the rest, by class-based TF-IDF.

A term counts once for each text that holds it, so that a long memory has no more weight than a short one. A term held
by fewer than three members is never shown: the name of a goal must not reveal the content of a single memory. Copies
of a memory are one member there, and the form counts as well in which a term is written: "improved", "improve" and
"improving" in one memory each are no term.

A name may be a term, but is no topic: sentences that name one person are alike in E1 whatever they are about.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import log
from typing import Final, NamedTuple

import msgspec
import Stemmer

from actors.consolidator.goals.speakers import names_a_speaker, portions, read_speakers
from actors.consolidator.jobs import Sliced
from actors.text.causes.words import phrases
from actors.text.text_equivalence import ENGLISH, FOREIGN, synonym
from projections.spaces.lexical import STOP_WORDS, words

MIN_HOLDERS: Final = 3
"""Members that must hold a term before it may describe them."""

MIN_SHARE: Final = 0.1
"""The same as a share of those members that hold a term. In whole conversations, with .15 one of 34 goals is lost, and
a group of 111 memories is called "dance" alone."""

MIN_CONTRAST: Final = 2
"""How much more frequent a term must be among the members than among the others, where these are no fewer."""

MAX_TERMS: Final = 6

MANY_NAMES: Final = 0.33
"""Share of capitalised words from which on capitals tell no names: of sentences in English .04 to .23 are, of German
ones, which write all nouns so, .44, of passages of an encyclopaedia .43."""

_NO_TOPIC: Final = STOP_WORDS.union(
    " ".join((*ENGLISH["topics"].values(), ENGLISH["equivalence"]["heads"])).split(), phrases("prepositions")
)
"""Stop words, prepositions, words of greetings and thanks, forms of address, units, times and numbers."""

_ENGLISH_ONLY: Final = STOP_WORDS - FOREIGN
"""A text with more function words of other languages than of these is in another language: "van" and "die" may be
topics of English."""

_ENDS_CLAUSE: Final = re.compile(r"""[^\w\s'’*+#%&$€£/-]$""")
"""Punctuation that separates the words of a pair."""

_DETERMINERS: Final = frozenset("a an the this that these those my our your his her its their every each no".split())
"""Words that precede no name of a person: "the Spanish exam"."""

_PREFIX: Final = re.compile(r"^(?:Ma?c|Fitz|[DO]['’])(?=[^\W\d_a-z])")
"""Precedes the capital of a surname: "McKay", "O'Neill"; other words with a capital inside ("GitHub") are no names."""

_ADDRESS: Final = re.compile(r"\b[a-z]{2,10}://\S*")
"""An address, such as that of a badge, whose parts say nothing of what a text is about."""

_EXTENSIONS: Final = frozenset(
    "cpp css csv go html ini ipynb java js json jsx kt md php py rb rs rst sh sql toml ts tsx txt xml yaml yml".split()
)
"""At the end of a file's name they say nothing by themselves either."""

_SIGN: Final = re.compile(r"""\w@[\w.-]+\.[^\W\d_]|^[("'[]*+(?:@\w[\w.-]*+|(?::[\w+-]++:)++)\W*+$""")
"""An address of mail (unlike "react@18.2"), whom a message calls ("@ada"), or a sign by its name (":smile:")."""

_EXCLAMATION: Final = re.compile(
    r"a*([hj])\1*([aeiou])\2*(?:\1+\2+)+\1*|(?:a+h+)+a*|[aeou]+h+|[hu]*m{2,}|u+m|(?:lo+)+l+"
)
"""A laugh or a sound as people write it, of any length: "ahahah", "jaja", "oooh", "hmmm", "lool", but not "Jeju"."""

_EDGES: Final = re.compile(r"^\W+|\W+$")

_POSSESSIVE: Final = re.compile(r"['’]s$")
"""Left out at the end of a term: "Ada", but "driver's licence"."""


class Term(NamedTuple):
    """A term as it stands in a text."""

    stem: str
    """Of a word, or those of two adjacent words."""
    written: str


class TermIndex(msgspec.Struct, frozen=True):
    """Terms of some texts, read once for all groups of them."""

    texts: tuple[tuple[Term, ...], ...]
    """The terms of each text."""
    originals: tuple[int, ...]
    """Position of the first text that equals each."""
    holders: Mapping[str, int]
    names: frozenset[str]
    """Words that are capitalised wherever they stand, none of them after a determiner."""


class Topic(msgspec.Struct, frozen=True):
    """What distinguishes some texts from the others."""

    terms: tuple[str, ...]
    """The most distinctive first, each in the written form that most members use."""
    topicality: float
    """Share of the texts that hold at least one of the most distinctive terms that are no names, in [0, 1]; low for
    courtesies, which share no terms."""


def index_terms(texts: Sequence[str], said_by: Iterable[str] = ()) -> Sliced[TermIndex]:
    """Read the terms of texts, in slices, without stop words, courtesies, numbers and names of speakers.

    Speakers are those of labels in the texts, and whoever `said_by` names; roles such as `user` are no names.
    """
    labels = yield from read_speakers(texts)
    speakers = sorted(labels.union(word for name in said_by if name[:1].isupper() for word in words(name)))
    # A stemmer must not be shared between threads.
    stemmer = Stemmer.Stemmer("english")
    terms: list[tuple[Term, ...]] = []
    holders = Counter[str]()
    first: dict[str, int] = {}
    named, plain = Counter[str](), Counter[str]()
    for portion in portions(texts):
        yield
        for text in portion:
            first.setdefault(text, len(terms))
            found = [*_terms(text, speakers, stemmer)]
            terms.append(tuple(term for term, _ in found))
            holders.update({term.stem for term, _ in found})
            named.update(term.stem for term, is_name in found if is_name)
            plain.update(term.stem for term, is_name in found if is_name is False)
    is_telling = named.total() < MANY_NAMES * (named.total() + plain.total())
    names = frozenset(named.keys() - plain.keys() if is_telling else ())
    return TermIndex(tuple(terms), tuple(first[text] for text in texts), holders, names)


def extract_topics(index: TermIndex, groups: Iterable[Collection[int]]) -> Sliced[list[Topic]]:
    """Return the topic of each group of texts, given by their positions."""
    topics = []
    for members in groups:
        yield
        topics.append(_topic(index, members))
    return topics


def _topic(index: TermIndex, members: Collection[int]) -> Topic:
    holders = defaultdict[str, set[int]](set)
    for place in members:
        for term in index.texts[place]:
            holders[term.stem].add(place)
    forms = _forms([index.texts[place] for place in {index.originals[member] for member in members}])
    scores = _scores(index, {term: inside for term, inside in holders.items() if term in forms}, len(members))
    chosen = [*islice(_distinctive(holders, scores), MAX_TERMS)]
    least = MIN_SHARE * len(_covered(holders, chosen))
    scores = {term: score for term, score in scores.items() if len(holders[term]) >= least}
    chosen = [*islice(_distinctive(holders, scores), MAX_TERMS)]
    others = {term: score for term, score in scores.items() if not index.names.issuperset(term.split())}
    covered = _covered(holders, islice(_distinctive(holders, others), MAX_TERMS))
    return Topic(
        terms=tuple(forms[term] for term in chosen),
        topicality=len(covered) / len(members) if members else 0.0,
    )


def _forms(texts: Collection[tuple[Term, ...]]) -> dict[str, str]:
    """Return the most frequent written form of each term that enough texts hold, if enough of these write it so.

    Of copies of one or two texts each holds enough.
    """
    least = min(MIN_HOLDERS, len(texts))
    written = defaultdict[str, Counter[str]](Counter)
    held = Counter[str]()
    for text in texts:
        held.update({term.stem for term in text})
        for term in {*text}:
            written[term.stem][term.written] += 1
    best = {term: min(surfaces.items(), key=lambda one: (-one[1], one[0])) for term, surfaces in written.items()}
    return {
        term: surface
        for term, (surface, count) in best.items()
        if held[term] >= least and (count >= least or 2 * count >= held[term])
    }


def _covered(holders: Mapping[str, set[int]], terms: Iterable[str]) -> set[int]:
    return set[int]().union(*(holders[term] for term in terms))


def _distinctive(holders: Mapping[str, set[int]], scores: Mapping[str, float]) -> Iterator[str]:
    """Yield terms by descending score. No word occurs in two of them."""
    taken: set[str] = set()
    for term in sorted(scores, key=lambda term: (-scores[term], term)):
        # A word that mostly stands in one pair is represented by the pair: "mental health", not "mental".
        fuller = (
            other
            for other in scores
            if {*term.split()} <= {*other.split()} and 2 * len(holders[other]) > len(holders[term])
        )
        shown = max(fuller, key=lambda other: (" " in other, scores[other], other))
        if taken.isdisjoint(shown.split()):
            taken.update(shown.split())
            yield shown


def _scores(index: TermIndex, holders: Mapping[str, set[int]], members: int) -> dict[str, float]:
    """Return the class-based TF-IDF (Grootendorst 2022) of each term that enough members hold.

    The term frequency is the share of the members that hold the term.
    """
    total = len(index.texts)
    scores: dict[str, float] = {}
    for term, inside in holders.items():
        within, everywhere = len(inside), index.holders[term]
        share, elsewhere = within / members, (everywhere - within) / max(total - members, 1)
        if within >= MIN_HOLDERS and (total < 2 * members or share >= MIN_CONTRAST * elsewhere):
            scores[term] = share * log(1 + total / everywhere)
    return scores


def _terms(text: str, speakers: Sequence[str], stemmer: Stemmer.Stemmer) -> Iterator[tuple[Term, bool | None]]:
    """Yield each term of a text, a pair after its second word, and whether it may be a name; None for pairs."""
    read = words(text)
    foreign = sum(word in FOREIGN for word in read) > sum(word in _ENGLISH_ONLY for word in read)
    empty = _NO_TOPIC | FOREIGN if foreign else _NO_TOPIC
    before: Term | None = None
    preceding = ""
    for written in _ADDRESS.sub(" ", text).split():
        if _SIGN.search(written):
            before = None
            continue
        surface = _EDGES.sub("", written)
        found = words(surface)[: 1 if surface.isalnum() else None]  # parts of "re.sub", not of "McKay"
        is_name = _is_name(surface) and preceding not in _DETERMINERS
        preceding = written.casefold()
        for word in found:
            is_extension = word in _EXTENSIONS and f".{word}" in surface.casefold()
            if is_extension or not _is_topical(word, empty) or names_a_speaker(word, surface, speakers):
                before = None
                continue
            term = Term(stemmer.stemWord(synonym(word)), surface if word == surface.casefold() else word)
            shown = _POSSESSIVE.sub("", term.written)
            yield term._replace(written=shown), is_name
            if before and len(found) == 1:
                yield Term(f"{before.stem} {term.stem}", f"{before.written} {shown}"), None
            before = term
        if _ENDS_CLAUSE.search(written):
            before = None


def _is_name(surface: str) -> bool:
    """Return whether a word is written as a name is: each part of "Smith-McKay" with one capital, at its beginning."""
    parts = (_PREFIX.sub("", part) for part in surface.split("-"))
    return all(part[:1].isupper() and part[1:].islower() for part in parts)


def _is_topical(word: str, empty: frozenset[str]) -> bool:
    """Return whether a word may name a topic: none of the `empty` ones, no number, letter or laugh."""
    bare = word.removesuffix("'s")
    return len(bare) > 1 and empty.isdisjoint({word, bare}) and not (bare[0].isdigit() or _EXCLAMATION.fullmatch(bare))
