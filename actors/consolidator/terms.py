"""What a group of memories is about, in their own words: the terms that tell them from the rest.

A term counts once for each text that holds it, so that a long memory speaks no louder than a short one. What fewer
than three members hold is never shown: a goal's name must not give away what a single memory told.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import log, sqrt
from typing import Final

import Stemmer

from actors.embedder.lexical import STOP_WORDS, words

LEAST_MEMBERS: Final = 3
"""How many members must hold a term before it may name them."""

PRIOR: Final = 10.0
"""How many texts of average wording are added to either side: the more of them, the less a rare term counts."""

TELLING: Final = 1.64
"""The z-score from which on a term tells the members from the rest: one in twenty reaches it by chance."""

HEADING: Final = 0.1
"""The share of texts naming their own label from which on the label is a heading, and its words may be terms."""

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


class _Usage:
    """Which texts hold each term (a stem, or two stems next to each other), and how the term was written."""

    def __init__(self, texts: Sequence[str], speakers: frozenset[str]) -> None:
        self.texts = len(texts)
        self.holders: defaultdict[str, set[int]] = defaultdict(set)
        self.surfaces: defaultdict[str, Counter[str]] = defaultdict(Counter)
        # A stemmer must not be shared between threads.
        stemmer = Stemmer.Stemmer("english")
        for place, text in enumerate(texts):
            for term, surface in _terms(text, speakers, stemmer):
                self.holders[term].add(place)
                self.surfaces[term][surface] += 1


def distinctive(members: Sequence[str], rest: Sequence[str], count: int = 6) -> tuple[str, ...]:
    """Return up to `count` words or pairs of words that tell the members' texts from the rest, most telling first.

    Each is written as the members mostly write it. Stop words, courtesies, numbers and the names of speakers are left
    out, and so is what fewer than three members hold; hence fewer than three members have no terms.
    """
    inside, telling = _telling(members, rest)
    written = (inside.surfaces[term].items() for term in telling[:count])
    return tuple(min(surfaces, key=lambda surface: (-surface[1], surface[0]))[0] for surfaces in written)


def topicality(members: Sequence[str], rest: Sequence[str], count: int = 6) -> float:
    """Return the share of the members' texts that hold at least one of their `distinctive` terms, in [0, 1].

    Greetings resemble each other, and are often the largest group of a conversation, but once courtesies are left out
    hardly any term is common to them: a group that its terms don't cover is about nothing in particular.
    """
    inside, telling = _telling(members, rest)
    covered = set[int]().union(*(inside.holders[term] for term in telling[:count]))
    return len(covered) / len(members) if members else 0.0


def describe(terms: Sequence[str]) -> str:
    """Return a description that consists of the terms, such as "mental health, counseling"; empty without any."""
    return ", ".join(terms)


def _telling(members: Sequence[str], rest: Sequence[str]) -> tuple[_Usage, list[str]]:
    """Return how the members use their terms, and which of these tell them from the rest, no word twice."""
    speakers = _speakers([*members, *rest])
    inside = _Usage(members, speakers)
    scores = _scores(inside, _Usage(rest, speakers))
    chosen: list[str] = []
    taken: set[str] = set()
    for term in sorted(scores, key=lambda term: (-scores[term], term)):
        # A word that mostly stands in one pair is said by the pair: "mental health", not "mental".
        fuller = (
            other
            for other in scores
            if {*term.split()} <= {*other.split()} and 2 * len(inside.holders[other]) > len(inside.holders[term])
        )
        shown = max(fuller, key=lambda other: (" " in other, scores[other], other))
        if taken.isdisjoint(shown.split()):
            chosen.append(shown)
            taken.update(shown.split())
    return inside, chosen


def _scores(inside: _Usage, outside: _Usage) -> dict[str, float]:
    """Return the z-score of each term that is telling and held by enough members.

    It is that of the log-odds ratio with an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008, equations 16
    to 22), the prior being the share of all texts that hold the term. Where there is no rest to differ from, the number
    of members that hold the term stands in for it.
    """
    scores: dict[str, float] = {}
    total = inside.texts + outside.texts
    for term, holders in inside.holders.items():
        within, without = len(holders), len(outside.holders.get(term, ()))
        if within < LEAST_MEMBERS:
            continue
        if not outside.texts:
            scores[term] = float(within)
            continue
        if within + without == total:
            continue
        expected = PRIOR * (within + without) / total
        odds_within = (within + expected) / (inside.texts - within + PRIOR - expected)
        odds_without = (without + expected) / (outside.texts - without + PRIOR - expected)
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


def _speakers(texts: Iterable[str]) -> frozenset[str]:
    """Return the words of the labels that name who speaks, as "Caroline:" does, and not what of.

    Who speaks seldom names herself; what stands below a heading mostly names it.
    """
    bodies: defaultdict[str, list[str]] = defaultdict(list)
    for text in texts:
        if found := _LABEL.match(text):
            bodies[found[1].casefold()].append(text[found.end() :])
    return frozenset(
        word
        for label, below in bodies.items()
        if sum({*words(label)} <= {*words(body)} for body in below) < HEADING * len(below)
        for word in words(label)
    )


def _names_a_speaker(word: str, surface: str, speakers: frozenset[str]) -> bool:
    """Tell whether a word names a speaker, be it by a capitalised beginning, as "Mel" does Melanie."""
    name = word.removesuffix("'s")
    return name in speakers or (surface[:1].isupper() and any(speaker.startswith(name) for speaker in speakers))
