"""Terms of a group of memories: words and pairs of words that distinguish it from the rest.

A term counts once for each text that holds it, so that a long memory has no more weight than a short one. A term held
by fewer than three members is never shown: the name of a goal must not reveal the content of a single memory.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, islice
from math import log, sqrt
from typing import Final

import msgspec
import Stemmer

from actors.consolidator.jobs import Sliced
from actors.text.lexical import STOP_WORDS, words

MIN_HOLDERS: Final = 3
"""Members that must hold a term before it may describe them."""

PRIOR: Final = 10.0
"""Texts of average wording that are added to either side: the more of them, the less a rare term counts."""

MIN_Z_SCORE: Final = 1.64
"""z-score from which on a term distinguishes the members: one in twenty reaches it by chance."""

HEADING_SHARE: Final = 0.1
"""Share of texts naming their own label from which on the label is a heading, whose words may be terms."""

SLICE_CHARACTERS: Final = 20_000
"""Characters that are read in one slice: about 10 ms."""

# Words of greetings, thanks, praise and encouragement, and verbs and adverbs without a topic. Without them a group of
# courtesies has hardly any terms, which `topicality` shows.
_PHATIC: Final = frozenset(
    """
    absolutely actually ago agree already although always amazing another anyone anything appreciate appreciated
    around aw away awesome awhile aww back bad become becomes best bet better big bit bring brings bye came catch
    caught chat chatted check checked checking come comes coming congrats congratulations cool course crazy day
    days definitely difference differences different else encouragement encouraging especially even ever every
    everyone everything exactly excited exciting fact fantastic far feel feeling feels felt find finding first
    found full fun get gets getting give gives giving glad go goes going gone gonna good goodbye got gotta great
    guess haha hang happen happened happening happy hard hear heard hello help helped helping helps hey hi hope
    hoping hows huh idea image images imagine important impressive including incredible inspiring instead
    interesting journey journeys keep keeping kind kinda know last lately later least less let life like liked
    little lives lol long look looking looks lot lots love loved lovely luck made main make makes making man many
    may maybe mean means meant might mind moment month months morning mostly much must near need needed needs
    never new next nice night no nobody not nothing now often ok okay old one ones others part people perfect
    person photo photos pic pics picture pictures place pleased plus positive possible pretty probably proud push
    put quite rather ready real really recently reminder right said saw say saying second see seeing seem seems
    seen self several share shared sharing show showed showing shows since sitting someone something sometimes
    soon sorry sound sounded sounds special spoke spoken standing start started starting stay still stoked stuff
    super support supporting supportive sure sweet take taken takes taking talk talked talking tell telling thank
    thankful thanks thing things think thinking though thought three thrilled time times today together told
    tomorrow tonight took totally tough tried true truly try trying two upon use used using usually via wait wanna
    want wanted wants way ways week weekend weekends weeks welcome well went whatever whats wish within without
    wonderful word words work worked working world worth wow ya yay yeah year years yep yes yesterday yet young
    yup
    """.split()
)

_LABEL: Final = re.compile(r"\s*([^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,3}):\s")
"""Label of a text: one to four words before its first colon."""

_ENDS_CLAUSE: Final = re.compile(r"""[^\w\s'’*+#%&$€£/-]$""")
"""Punctuation that separates the words of a pair."""

_EDGES: Final = re.compile(r"^\W+|\W+$")


class TermIndex(msgspec.Struct, frozen=True):
    """Terms of some texts, read once for all groups of them."""

    texts: tuple[tuple[tuple[str, str], ...], ...]
    """Of each text its terms (a stem, or two adjacent stems), each with its written form."""
    holders: Mapping[str, int]
    """Number of texts that hold each term."""


class Topic(msgspec.Struct, frozen=True):
    """What distinguishes some texts from the others."""

    terms: tuple[str, ...]
    """The most distinctive first, each in its most frequent written form."""
    topicality: float
    """Share of the texts that hold at least one of the terms, in [0, 1]; low for courtesies, which share no terms."""


def index_terms(texts: Sequence[str]) -> Sliced[TermIndex]:
    """Read the terms of texts, in slices, without stop words, courtesies, numbers and names of speakers."""
    speakers = yield from _speakers(texts)
    # A stemmer must not be shared between threads.
    stemmer = Stemmer.Stemmer("english")
    terms: list[tuple[tuple[str, str], ...]] = []
    holders = Counter[str]()
    for portion in _portions(texts):
        yield
        for text in portion:
            terms.append(tuple(_terms(text, speakers, stemmer)))
            holders.update({term for term, _ in terms[-1]})
    return TermIndex(tuple(terms), holders)


def extract_topic(index: TermIndex, members: Collection[int], count: int = 6) -> Topic:
    """Return the topic of the texts at these positions, in up to `count` terms; without terms below three members."""
    holders = defaultdict[str, set[int]](set)
    for place in members:
        for term, _ in index.texts[place]:
            holders[term].add(place)
    chosen = [*islice(_distinctive(holders, _scores(index, holders, len(members))), count)]
    written = {term: Counter[str]() for term in chosen}
    for place in members:
        for term, surface in index.texts[place]:
            if term in written:
                written[term][surface] += 1
    covered = set[int]().union(*(holders[term] for term in chosen))
    return Topic(
        terms=tuple(min(each.items(), key=lambda one: (-one[1], one[0]))[0] for each in written.values()),
        topicality=len(covered) / len(members) if members else 0.0,
    )


def describe(terms: Sequence[str]) -> str:
    """Return a description that consists of the terms, such as "mental health, counseling"."""
    return ", ".join(terms)


def _distinctive(holders: Mapping[str, set[int]], scores: Mapping[str, float]) -> Iterator[str]:
    """Yield the terms with a score, best first, no word twice."""
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
    """Return the z-score of each distinctive term that enough members hold.

    It is that of the log-odds ratio with an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008, equations 16
    to 22); the prior is the share of all texts that hold the term. Without other texts, the score is the number of
    members that hold the term.
    """
    scores: dict[str, float] = {}
    total = len(index.texts)
    for term, inside in holders.items():
        within, everywhere = len(inside), index.holders[term]
        if within < MIN_HOLDERS:
            continue
        if members == total:
            scores[term] = float(within)
            continue
        if everywhere == total:
            continue
        without = everywhere - within
        expected = PRIOR * everywhere / total
        odds_within = (within + expected) / (members - within + PRIOR - expected)
        odds_without = (without + expected) / (total - members - without + PRIOR - expected)
        score = log(odds_within / odds_without) / sqrt(1 / (within + expected) + 1 / (without + expected))
        if score >= MIN_Z_SCORE:
            scores[term] = score
    return scores


def _terms(text: str, speakers: frozenset[str], stemmer: Stemmer.Stemmer) -> Iterator[tuple[str, str]]:
    """Yield each term of a text with its written form; a pair follows its second word."""
    before = None
    for written in text.split():
        surface = _EDGES.sub("", written)
        found = words(surface)
        for word in found:
            if not _is_topical(word) or _names_a_speaker(word, surface, speakers):
                before = None
                continue
            here = stemmer.stemWord(word), surface if word == surface.casefold() else word
            yield here
            if before and len(found) == 1:
                yield f"{before[0]} {here[0]}", f"{before[1]} {here[1]}"
            before = here
        if _ENDS_CLAUSE.search(written):
            before = None


def _is_topical(word: str) -> bool:
    """Return whether a word may name a topic."""
    bare = word.removesuffix("'s")
    return len(bare) > 1 and STOP_WORDS.isdisjoint({word, bare}) and bare not in _PHATIC and not bare.isnumeric()


def _speakers(texts: Sequence[str]) -> Sliced[frozenset[str]]:
    """Return the words of labels that name a speaker, as "Caroline:" does, and not a subject.

    Speakers seldom name themselves; the text below a heading mostly names it.
    """
    labelled, named = Counter[str](), Counter[str]()
    for portion in _portions(texts):
        yield
        for text in portion:
            if found := _LABEL.match(text):
                label = found[1].casefold()
                labelled[label] += 1
                named[label] += {*words(label)} <= {*words(text[found.end() :])}
    return frozenset(
        word for label, count in labelled.items() if named[label] < HEADING_SHARE * count for word in words(label)
    )


def _names_a_speaker(word: str, surface: str, speakers: frozenset[str]) -> bool:
    """Return whether a word names a speaker, be it by a capitalised prefix, as "Mel" does Melanie."""
    name = word.removesuffix("'s")
    return name in speakers or (surface[:1].isupper() and any(speaker.startswith(name) for speaker in speakers))


def _portions(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in order, those of one slice at a time."""
    ends = accumulate(len(text) for text in texts)
    for _, portion in groupby(zip(texts, ends, strict=True), key=lambda one: one[1] // SLICE_CHARACTERS):
        yield [text for text, _ in portion]
