"""Duplicates of a text: other white space, one synonym, or a paraphrase by rules."""

import random
import re
from itertools import pairwise

SYNONYMS: dict[str, str] = {
    word: other
    for word, _, other in (
        pair.partition(":")
        for pair in """
    large:big big:large small:tiny huge:enormous enormous:huge entire:whole whole:entire various:several
    several:various many:numerous numerous:many quick:fast quickly:rapidly rapidly:quickly slowly:gradually
    suddenly:abruptly immediately:instantly instantly:immediately recently:lately lately:recently
    previously:formerly formerly:previously originally:initially initially:originally currently:presently
    approximately:roughly roughly:approximately completely:entirely entirely:completely totally:completely
    really:truly truly:genuinely definitely:certainly certainly:definitely often:frequently frequently:often
    sometimes:occasionally usually:normally mainly:mostly mostly:mainly nearly:almost almost:nearly maybe:perhaps
    perhaps:maybe finally:eventually therefore:thus thus:therefore however:nevertheless although:though
    constantly:continually began:started started:began begins:starts beginning:starting
    ended:concluded buy:purchase bought:purchased purchased:bought build:construct
    built:constructed constructed:built obtained:acquired acquired:obtained helped:assisted helps:assists
    tried:attempted trying:attempting tries:attempts said:stated talked:chatted talking:chatting believe:think
    believed:thought created:produced moved:relocated lived:resided replied:answered answered:replied
    choose:select chose:picked selected:picked founded:established established:founded appointed:named
    awarded:granted defeated:beat enjoyed:liked loved:adored happy:glad glad:happy sad:unhappy angry:furious
    tired:exhausted exhausted:weary scared:afraid afraid:scared excited:thrilled thrilled:delighted exciting:thrilling
    difficult:hard easy:simple important:significant significant:important famous:renowned renowned:famous
    rich:wealthy wealthy:rich poor:needy strange:odd modern:contemporary amazing:wonderful wonderful:marvellous
    awesome:fantastic fantastic:terrific great:excellent lovely:delightful beautiful:gorgeous gorgeous:beautiful
    nice:pleasant pleasant:nice cool:neat delicious:tasty tasty:delicious yummy:tasty cheap:inexpensive
    expensive:costly clever:smart smart:clever intelligent:clever brave:courageous strong:powerful powerful:mighty
    weak:feeble dangerous:risky safe:secure quiet:silent noisy:loud clean:tidy dirty:filthy wet:damp ill:sick sick:ill
    children:kids kids:children child:kid friends:pals everyone:everybody everybody:everyone someone:somebody
    somebody:someone anyone:anybody people:folks doctor:physician physician:doctor teacher:instructor
    employees:workers workers:employees company:firm companies:firms film:movie movie:film films:movies movies:films
    car:automobile cars:automobiles photo:photograph photos:photographs pictures:images gift:present gifts:presents
    journey:trip trip:journey trips:journeys shop:store shops:stores
    area:region region:area areas:regions regions:areas location:place places:locations skills:abilities
    abilities:skills illness:sickness forest:woods stones:rocks money:cash costs:expenses error:mistake
    mistakes:errors meal:dish garbage:trash
    """.split()
    )
}
"""Ordinary words with a synonym of the same form: no names, numbers or negations."""


def _pairs(text: str) -> dict[str, str]:
    """Read pairs of phrases: `one=other, …`."""
    return dict(pair.strip().split("=") for pair in text.split(","))


PHRASES = _pairs("""
    a lot of=plenty of, a couple of=a few, as well as=and also, at the moment=right now, due to=because of,
    each other=one another, has to=must, have to=must, in order to=so as to, is able to=can,
    located in=situated in, looking forward to=eagerly awaiting, near the=close to the, no longer=not any more,
    such as=for example, thank you=many thanks, was able to=managed to
""")

CONTRACTIONS = _pairs("""
    I'm=I am, I've=I have, I'll=I will, it's a=it is a, It's a=It is a, it's so=it is so, It's so=It is so,
    that's a=that is a, That's a=That is a, That's so=That is so, you're=you are, we're=we are,
    they're=they are, You're=You are, We're=We are, They're=They are, don't=do not, doesn't=does not,
    didn't=did not, can't=cannot, couldn't=could not, won't=will not, isn't=is not, wasn't=was not,
    haven't=have not
""")

OPENERS = frozenset(
    "A An As At He Her His In It My On Our She Some That The Their There These They This Those We".split()
)
"""Words with a capital only at the beginning of a sentence."""

LEADING = re.compile(
    r"^(After|Although|As|At|Before|During|If|In|On|Since|When|While) ([^,.!?:]{3,90}?) ?, ([^.!?]{12,}?) ?([.!?])$"
)
TRAILING = re.compile(
    r"^([^.!?]{12,}?) ?,? (after|although|because|before|if|since|when|while) ([^,.!?]{8,}?) ?([.!?])$"
)
PASSIVE = re.compile(r"^((?:An?|His|Her|It|The|Their) ?[^,.!?]*?) (?:was|were) (\w+ed) by ([^,.!?]{4,60}?) ?([.!?])$")

SENTENCE = re.compile(r"(?<=[.!?])\s+")
HEADING = re.compile(r"^[^:.!?]{1,60}: ")
"""Speaker or topic in front of the text, which is left as it is."""


def respaced(text: str, rng: random.Random, *, code: bool) -> str:
    """Return the text with other white space; in code only at the ends of lines and of the text."""
    if code:
        return "\n".join(line + rng.choice(("", "  ", "\t")) for line in text.split("\n")) + "\n"
    words = text.split()
    blanks: list[str] = rng.choices([" ", "  ", "\n", "\t", " \n"], (5, 2, 1, 1, 1), k=len(words))
    blanks[rng.randrange(len(words))] = "   "  # at least one differs
    return "".join(word + blank for word, blank in zip(words, blanks, strict=True))


def one_word_changed(text: str, rng: random.Random) -> str | None:
    """Return the text with one word replaced by a synonym; None if it has no such word."""
    heading = HEADING.match(text)
    places = [
        found
        for found in re.finditer(r"(?<![\w'-])[a-z]+(?![\w'-])", text)
        if found[0] in SYNONYMS and found.start() >= (heading.end() if heading else 0)
    ]
    if not places:
        return None
    found = rng.choice(places)
    return text[: found.start()] + SYNONYMS[found[0]] + text[found.end() :]


def paraphrased(text: str) -> str | None:
    """Return a paraphrase; None unless at least two rules apply.

    The rules: clauses in another order, contractions made or resolved, other phrases, synonyms.
    """
    heading = HEADING.match(text)
    start = heading[0] if heading else ""
    sentences = SENTENCE.split(text[len(start) :])
    turned = [_turned(sentence) for sentence in sentences]
    contracted = [_contracted(sentence) for sentence in turned]
    rephrased = [_replaced(sentence, PHRASES) for sentence in contracted]
    replaced = [_replaced(sentence, SYNONYMS) for sentence in rephrased]
    stages = (sentences, turned, contracted, rephrased, replaced)
    applied = sum(before != after for before, after in pairwise(stages))
    return start + " ".join(replaced) if applied >= 2 else None


def _replaced(sentence: str, table: dict[str, str]) -> str:
    """Replace every entry of a table that stands in a sentence as it is written there."""
    pattern = r"(?<![\w'-])(?:" + "|".join(map(re.escape, table)) + r")(?![\w'-])"
    return re.sub(pattern, lambda found: table[found[0]], sentence)


def _contracted(sentence: str) -> str:
    """Resolve the contractions of a sentence, or make some where it has none."""
    resolved = _replaced(sentence, CONTRACTIONS)
    return (
        resolved if resolved != sentence else _replaced(sentence, {long: short for short, long in CONTRACTIONS.items()})
    )


def _turned(sentence: str) -> str:
    """Put the clauses of a sentence in another order, or turn passive into active, where its form is a plain one."""
    if "[" in sentence or '"' in sentence:
        return sentence
    if found := LEADING.match(sentence):
        word, clause, rest, end = found.groups()
        return f"{rest[0].upper()}{rest[1:]} {word.lower()} {clause}{end}"
    if found := TRAILING.match(sentence):
        rest, word, clause, end = found.groups()
        return f"{word.capitalize()} {clause}, {_inside(rest)}{end}"
    if found := PASSIVE.match(sentence):
        patient, verb, agent, end = found.groups()
        return f"{agent[0].upper()}{agent[1:]} {verb} {_inside(patient)}{end}"
    return sentence


def _inside(clause: str) -> str:
    """Return a clause as it is written inside a sentence: names and `I` keep their capitals."""
    first = clause.partition(" ")[0]
    return clause[0].lower() + clause[1:] if first in OPENERS else clause
