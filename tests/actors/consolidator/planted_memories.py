"""A small store for sleep: a life in texts, with duplicates and trivia planted in it, and traps among the trivia."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple


class Kind(StrEnum):
    """What a memory of the small store is."""

    ORDINARY = "ordinary"
    EXACT = "exact copy"
    RESPACED = "re-spaced"
    ONE_WORD = "one word changed"
    PARAPHRASED = "paraphrased"
    TRIVIAL = "trivial"
    YOUNG = "trivial, but young"
    IMPORTANT = "trivial and old, but important"
    LINKED = "trivial and old, but linked three times"


DUPLICATES = (Kind.EXACT, Kind.RESPACED, Kind.ONE_WORD, Kind.PARAPHRASED)
PROTECTED = (Kind.YOUNG, Kind.IMPORTANT, Kind.LINKED)


class Memory(NamedTuple):
    """A memory of the small store, named by its place in it."""

    kind: Kind
    arguments: dict[str, Any]
    """Of `store_memory`, but for `link_to`."""
    repeats: int | None = None
    """The place of what it is a duplicate of."""
    linked: tuple[int, ...] = ()
    """The places of what it links to, all before its own."""


LIFE = (
    "Anneke signed the lease for the bakery on Harbour Street in Ghent on the second of March.",
    "The oven inspector wants a second extractor fan before the bakery may open.",
    "Our sourdough starter is called Bartholomew and lives in the walk-in fridge.",
    "Flour comes from the Desmet mill every Tuesday; the contact is Lieven.",
    "We chose a matte green for the shop front since it goes well with the brass sign.",
    "Priya runs the Saturday market stall and takes the cargo bike there.",
    "The cargo bike's rear brake squeals and needs new pads from Velofix.",
    "Customers asked for a loaf without sesame because of allergies.",
    "The card terminal drops its connection whenever the dishwasher runs.",
    "Moving the card terminal to the other circuit cured the dropped connections.",
    "Grandfather Emiel taught Anneke how to braid the Easter bread.",
    "The accountant needs all receipts of the quarter by the tenth of April.",
    "Yusuf prefers the early shift, for his daughter's school ends at two.",
    "Rye bread sells out by ten on Fridays, while the brioche is left over.",
    "Since we halved the salt in the focaccia, nobody has sent one back.",
    "The landlord agreed to pay for the broken skylight in the storeroom.",
    "Our website is a static page that Mateo builds with Hugo.",
    "A photographer from De Gentenaar took pictures of the window display.",
    "The insurance covers water damage only if the cellar pump is serviced yearly.",
    "Mateo found that the order form lost entries with an apostrophe in the name.",
    "The choir books forty currant buns for its concert in Saint Bavo's.",
    "A power cut in June spoiled the whole batch of croissant dough.",
    "Anneke wants to open a second shop near the station within three years.",
    "The new dough mixer weighs two hundred kilos and came on a lorry with a crane.",
)
"""What a bakery would remember, no two of the same."""

AGAIN = {
    Kind.EXACT: {place: LIFE[place] for place in (0, 9, 18)},
    Kind.RESPACED: {
        1: "The oven  inspector wants a second\nextractor fan before the bakery may open. ",
        10: "Grandfather\tEmiel taught Anneke how to  braid the Easter bread.",
        19: " Mateo found that the order form\n\nlost entries with an apostrophe in the name.",
    },
    Kind.ONE_WORD: {
        4: "We picked a matte green for the shop front since it goes well with the brass sign.",
        16: "Our website is a static page that Mateo constructs with Hugo.",
        17: "A photographer from De Gentenaar took photos of the window display.",
    },
    Kind.PARAPHRASED: {
        3: "Every Tuesday the Desmet mill delivers flour, and Lieven is whom to call there.",
        8: "Whenever the dishwasher is on, the card terminal loses its connection.",
        23: "The new mixer for dough, which weighs two hundred kilos, was brought by a lorry with a crane.",
    },
}
"""What is told again, by the place of what it repeats."""

TRIVIA = (
    "The coffee machine on the third floor was refilled.",
    "Somebody hummed in the corridor.",
    "A pigeon sat on the rail for a while.",
    "The lid of the blue pen got lost.",
    "It was cloudy around lunch.",
    "The wall clock is two minutes slow.",
    "A visitor wore odd socks.",
    "The bin by the door was emptied.",
    "The radio played softly in the back.",
    "An umbrella stood in the sink.",
)
TRAPS = {
    Kind.YOUNG: ("The window sill was dusted.", "A chair was moved to the left."),
    Kind.IMPORTANT: ("The doormat lies upside down.", "The lampshade is beige."),
    Kind.LINKED: ("A drawer sticks when it rains.", "The calendar shows a lighthouse."),
}


def memories(now: datetime, namespace: str = "default") -> tuple[Memory, ...]:
    """Return what the small store is told, in the order of telling.

    Trivia come first, so that the first six of the bakery's memories, which nothing repeats and which are important,
    can link to the traps that links protect.

    Args:
        now: When it is told; what is old was said more than a year before.
        namespace: Of all of them.
    """

    def memory(kind: Kind, text: str, days: int, importance: float, **rest: Any) -> Memory:
        arguments = {
            "content": text,
            "namespace": namespace,
            "importance": importance,
            "created_at": (now - timedelta(days=days)).isoformat(),
            "metadata": {"planted": kind.value},
        }
        return Memory(kind, arguments, **rest)

    trivial = [memory(Kind.TRIVIAL, text, 400 + place, 0.1) for place, text in enumerate(TRIVIA)]
    trivial += [
        memory(kind, text, 0 if kind is Kind.YOUNG else 500, 0.7 if kind is Kind.IMPORTANT else 0.1)
        for kind, texts in TRAPS.items()
        for text in texts
    ]
    traps = [place for place, one in enumerate(trivial) if one.kind is Kind.LINKED]
    start = len(trivial)
    repeated = {place for places in AGAIN.values() for place in places}
    linking = [place for place in range(len(LIFE)) if place not in repeated][: 3 * len(traps)]
    life = [
        memory(
            Kind.ORDINARY,
            text,
            60 - place,
            0.8 if place in linking else 0.5,
            linked=(traps[linking.index(place) % len(traps)],) if place in linking else (),
        )
        for place, text in enumerate(LIFE)
    ]
    again = [
        memory(kind, text, 30 - place, 0.5, repeats=start + place)
        for kind, texts in AGAIN.items()
        for place, text in texts.items()
    ]
    return (*trivial, *life, *again)
