"""Texts of low value: things that are not worth remembering a year later, no two of them alike."""

import random
from collections.abc import Iterator, Sequence

TEMPLATES = """
The coffee machine in the {place} was refilled by {person} with {thing}.
{person} left a {thing} on the window sill of the {place}.
A parcel with a {thing} waits for {person} at the {place}.
{person} watered the plants in the {place} and moved the {thing}.
Somebody moved the {thing} from the {place} to {person}'s desk.
The light above the {thing} in the {place} flickered while {person} was there.
{person} asked whether the {thing} in the {place} had been dusted.
Lunch near the {place} was late, so {person} played with a {thing}.
The lift beside the {place} squeaked as {person} carried a {thing}.
{person} borrowed a {thing} and returned it to the {place}.
Two visitors mistook the {place} for an exit and asked {person} about the {thing}.
The printer at the {place} ran out of paper under {person}'s {thing}.
{person} hummed a tune in the {place} and tapped on the {thing}.
A pigeon sat on the rail outside the {place}, next to {person}'s {thing}.
{person} took the stairs to the {place} to fetch a {thing}.
The clock in the {place} was two minutes slow, said {person}, holding a {thing}.
There was a draught in the {place}; {person} wedged the door with a {thing}.
{person} sneezed twice in the {place} and blamed the {thing}.
The label on the {thing} in the {place} fell off and {person} glued it on again.
{person} counted the chairs in the {place} and leaned on the {thing}.
The carpet in the {place} was vacuumed around {person}'s {thing}.
An umbrella and a {thing} were found in the {place}; {person} claimed neither.
{person} wore odd socks in the {place} and carried a {thing}.
The radio in the {place} played softly while {person} sorted a {thing}.
{person} waited for a tram by the {place} with a {thing} under one arm.
The {place} smelled of oranges after {person} unpacked a {thing}.
{person} drew a smiling face in the dust of a {thing} in the {place}.
The bin in the {place} was emptied and with it {person}'s broken {thing}.
{person} changed the wallpaper of a screen in the {place} to a picture of a {thing}.
Rain drummed on the roof of the {place}; {person} put a {thing} under the leak.
{person} found a coin in the {place}, right behind the {thing}.
The sign on the door of the {place} hung crooked until {person} used a {thing}.
{person} tried three pens in the {place} before one wrote on the {thing}.
The soap in the {place} was replaced, and {person} dropped a {thing}.
A fly circled the {place} all morning and landed on {person}'s {thing}.
{person} swapped seats in the {place} because of a {thing}.
The queue at the {place} was short, and {person} bought a {thing}.
{person} yawned through the fire drill and left a {thing} in the {place}.
The blinds of the {place} stayed half down since {person} caught them on a {thing}.
{person} polished a {thing} during the break and whistled in the {place}.
""".strip().split("\n")

PLACES = """
kitchenette, mail room, lobby, bicycle shed, east corridor, attic office, boiler room, reading corner, car park,
reception, rooftop terrace, copy room, laundry, greenhouse, canteen, cloakroom, loading dock, garden hut, workshop,
music room, back staircase, waiting area, storage cellar, tea kitchen, ticket hall, archive, gym, chapel, pantry, foyer
""".replace("\n", " ").split(", ")

PEOPLE = """
Agnes, Bertram, Clio, Dmitri, Edda, Florian, Greta, Hamza, Ines, Jasper, Kirsten, Lorenzo, Mireille, Nils, Odette,
Pavel, Quentin, Rosalind, Sven, Tamara, Ulrich, Vera, Wanda, Xaver, Yusuf, Zelda, Anselm, Brigitte, Casimir, Delphine
""".replace("\n", " ").split(", ")

THINGS = """
stapler, blue mug, paper crane, rubber plant, tape measure, straw hat, jigsaw puzzle, tennis ball, postcard, lampshade,
box of chalk, tin of biscuits, cactus, paperback, wooden spoon, ball of string, calendar, flower vase, toy tractor,
magnifying glass, scarf, door stop, picture frame, bag of walnuts, whisk, shoehorn, cushion, candle, ukulele, thermos
""".replace("\n", " ").split(", ")

MOST = len(TEMPLATES) * len(PLACES)


def low_value_texts(rng: random.Random) -> Iterator[str]:
    """Yield up to `MOST` texts; two of one template share neither place, person nor thing."""

    def shuffled(words: Sequence[str]) -> list[str]:
        return rng.sample(words, len(words))

    slots = [(template, *map(shuffled, (PLACES, PEOPLE, THINGS))) for template in shuffled(TEMPLATES)]
    for turn in range(len(PLACES)):
        for template, places, people, things in slots:
            yield template.format(place=places[turn], person=people[turn], thing=things[turn])
