"""What a group of memories is about, in their own words: the terms that tell them from the rest.

A term counts once for each text that holds it, so that a long memory speaks no louder than a short one. What fewer
than three members hold is never shown: a goal's name must not give away what a single memory told.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, islice
from math import log, sqrt
from typing import Final

import msgspec
import Stemmer

from actors.consolidator.slices import Work
from actors.text.lexical import STOP_WORDS, words

LEAST_MEMBERS: Final = 3
"""How many members must hold a term before it may name them."""

PRIOR: Final = 10.0
"""How many texts of average wording are added to either side: the more of them, the less a rare term counts."""

TELLING: Final = 1.64
"""The z-score from which on a term tells the members from the rest: one in twenty reaches it by chance."""

HEADING: Final = 0.1
"""The share of texts naming their own label from which on the label is a heading, and its words may be terms."""

PORTION: Final = 20_000
"""Characters that are read in one slice: about 10 ms."""

# What people say whatever they talk about: greetings, thanks, praise, encouragement, verbs and adverbs without a topic.
# Without them a group of mere courtesies has next to no terms, and `topicality` shows it.
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
"""What stands before the first colon of a text, if it is one to four words."""

_ENDS_CLAUSE: Final = re.compile(r"""[^\w\s'’*+#%&$€£/-]$""")
"""Words on both sides of a punctuation mark make no pair."""

_EDGES: Final = re.compile(r"^\W+|\W+$")


class Reading(msgspec.Struct, frozen=True):
    """What some texts hold, read once for all groups that are formed of them."""

    texts: tuple[tuple[tuple[str, str], ...], ...]
    """Of each text its terms (a stem, or two stems next to each other), each with the way it is written there."""
    holders: Mapping[str, int]
    """How many texts hold each term."""


class Topic(msgspec.Struct, frozen=True):
    """What some texts are about that the others are not."""

    terms: tuple[str, ...]
    """Words or pairs of words that tell them from the others, most telling first, written as they mostly write it."""
    topicality: float
    """The share of them that hold at least one of the terms, in [0, 1].

    Greetings resemble each other, and are often the largest group of a conversation, but once courtesies are left out
    hardly any term is common to them: a group that its terms don't cover is about nothing in particular.
    """


def read(texts: Sequence[str]) -> Work[Reading]:
    """Read texts, in slices. Stop words, courtesies, numbers and the names of speakers are no terms."""
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
    return Reading(tuple(terms), holders)


def topic(reading: Reading, members: Collection[int], count: int = 6) -> Topic:
    """Return what texts at these positions are about, in up to `count` terms.

    What fewer than three members hold is left out; hence fewer than three members have no terms.
    """
    holders = defaultdict[str, set[int]](set)
    for place in members:
        for term, _ in reading.texts[place]:
            holders[term].add(place)
    telling = [*islice(_telling(holders, _scores(reading, holders, len(members))), count)]
    written = {term: Counter[str]() for term in telling}
    for place in members:
        for term, surface in reading.texts[place]:
            if term in written:
                written[term][surface] += 1
    covered = set[int]().union(*(holders[term] for term in telling))
    return Topic(
        terms=tuple(min(each.items(), key=lambda one: (-one[1], one[0]))[0] for each in written.values()),
        topicality=len(covered) / len(members) if members else 0.0,
    )


def describe(terms: Sequence[str]) -> str:
    """Return a description that consists of the terms, such as "mental health, counseling"; empty without any."""
    return ", ".join(terms)


def _telling(holders: Mapping[str, set[int]], scores: Mapping[str, float]) -> Iterator[str]:
    """Yield the terms that tell the members from the rest, most telling first, no word twice."""
    taken: set[str] = set()
    for term in sorted(scores, key=lambda term: (-scores[term], term)):
        # A word that mostly stands in one pair is said by the pair: "mental health", not "mental".
        fuller = (
            other
            for other in scores
            if {*term.split()} <= {*other.split()} and 2 * len(holders[other]) > len(holders[term])
        )
        shown = max(fuller, key=lambda other: (" " in other, scores[other], other))
        if taken.isdisjoint(shown.split()):
            taken.update(shown.split())
            yield shown


def _scores(reading: Reading, holders: Mapping[str, set[int]], members: int) -> dict[str, float]:
    """Return the z-score of each term that is telling and held by enough members.

    It is that of the log-odds ratio with an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008, equations 16
    to 22), the prior being the share of all texts that hold the term. Where there is no rest to differ from, the number
    of members that hold the term stands in for it.
    """
    scores: dict[str, float] = {}
    total = len(reading.texts)
    for term, inside in holders.items():
        within, everywhere = len(inside), reading.holders[term]
        if within < LEAST_MEMBERS:
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
        if score >= TELLING:
            scores[term] = score
    return scores


def _terms(text: str, speakers: frozenset[str], stemmer: Stemmer.Stemmer) -> Iterator[tuple[str, str]]:
    """Yield each term of a text with the way it is written there; a pair follows its second word."""
    before = None
    for written in text.split():
        surface = _EDGES.sub("", written)
        found = words(surface)
        for word in found:
            if not _tells(word) or _names_a_speaker(word, surface, speakers):
                before = None
                continue
            here = stemmer.stemWord(word), surface if word == surface.casefold() else word
            yield here
            if before and len(found) == 1:
                yield f"{before[0]} {here[0]}", f"{before[1]} {here[1]}"
            before = here
        if _ENDS_CLAUSE.search(written):
            before = None


def _tells(word: str) -> bool:
    """Tell whether a word may name a topic."""
    bare = word.removesuffix("'s")
    return len(bare) > 1 and STOP_WORDS.isdisjoint({word, bare}) and bare not in _PHATIC and not bare.isnumeric()


def _speakers(texts: Sequence[str]) -> Work[frozenset[str]]:
    """Return the words of the labels that name who speaks, as "Caroline:" does, and not what of.

    Who speaks seldom names herself; what stands below a heading mostly names it.
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
        word for label, count in labelled.items() if named[label] < HEADING * count for word in words(label)
    )


def _names_a_speaker(word: str, surface: str, speakers: frozenset[str]) -> bool:
    """Tell whether a word names a speaker, be it by a capitalised beginning, as "Mel" does Melanie."""
    name = word.removesuffix("'s")
    return name in speakers or (surface[:1].isupper() and any(speaker.startswith(name) for speaker in speakers))


def _portions(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in order, as many at a time as one slice reads."""
    ends = accumulate(len(text) for text in texts)
    for _, portion in groupby(zip(texts, ends, strict=True), key=lambda one: one[1] // PORTION):
        yield [text for text, _ in portion]
