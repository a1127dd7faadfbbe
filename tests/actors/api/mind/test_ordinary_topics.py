"""Ordinary sentences about several things: their clusters, goals, patterns, drift and merging, through MCP."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from actors.embedder.profiles.embedded import EmbeddedProfile
from projections.spaces.lexical import STOP_WORDS
from tests.actors.api.mind import family_notes
from tests.actors.api.mind.test_mind_holds import TOMATOES
from tests.actors.api.stream import BOAT, awake
from tests.actors.conftest import Agent, Connect
from tests.benchmarks.texts import BEES
from tests.events.memory_log import MemoryLog

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

CYCLING = (
    "The rear derailleur needs a new cable before the spring ride.",
    "Oil the bicycle chain after every ride in the rain.",
    "My touring bike has 36-spoke wheels and steel rims.",
    "The brake pads on the blue bicycle squeal when wet.",
    "We cycled along the canal to Utrecht and back.",
    "A flat tyre cost us an hour near the windmill.",
    "The saddle on the new bike is too narrow for long rides.",
    "Ask the shop whether the crank fits a square taper axle.",
    "The front light of the bike runs off the hub dynamo.",
    "Two of our panniers leak at the seams.",
    "He pumps the tyres to four bar for gravel roads.",
    "The bicycle was locked to the railing outside the station.",
)
TAXES = (
    "The tax return for last year is due at the end of May.",
    "Receipts for the home office go into the blue folder.",
    "The accountant says the train pass is deductible.",
    "We paid too much income tax and expect a refund.",
    "The tax office asked for proof of the donations.",
    "Freelance income has to be declared each quarter.",
    "Keep invoices for seven years in case of an audit.",
    "The new tax bracket starts at fifty thousand.",
    "Interest from the savings account is taxed at source.",
    "Our tax adviser charges by the hour and answers by post.",
    "The deduction for child care was cut in the new budget.",
    "A late tax return costs a fine of ten percent.",
)
CAT = (
    "Our cat Miso refuses any food with fish in it.",
    "The vet gave Miso a vaccine against cat flu.",
    "Miso sleeps on the radiator all winter.",
    "The cat scratched the sofa again last night.",
    "We need a cat sitter for the second week of August.",
    "Miso's litter box is behind the washing machine.",
    "The kitten next door plays with Miso in the yard.",
    "The vet wants to clean the cat's teeth in autumn.",
    "Miso brought a dead mouse into the hall.",
    "The cat hides under the bed when the vacuum cleaner runs.",
    "Dry cat food is cheaper in the ten kilo bag.",
    "Miso has been limping since she fell off the shelf.",
)
SCATTERED = (
    "The library closes at six on Fridays.",
    "Aunt Rosa moves to Lisbon in October.",
    "The meter for the gas is behind the coats.",
    "Nadia is allergic to walnuts.",
    "The printer takes only A4 paper in the lower tray.",
    "Our flight lands at a quarter past nine.",
    "The choir sings in the old town hall.",
    "Flour is on the top shelf of the pantry.",
    "Ben scored twice against the school from Haarlem.",
    "The lease of the garage ends in March.",
    "A new bridge crosses the river at Arnhem.",
    "The piano was tuned on Tuesday.",
    "Spare keys are with the neighbour on the second floor.",
    "Petra's thesis is about the migration of eels.",
    "The exhibition of glass opens in spring.",
    "He prefers his coffee without sugar.",
    "The ladder belongs to the landlord.",
    "Snow blocked the pass for three days.",
    "The password hint is the name of the first ship.",
    "Lunch with the publisher was moved to noon.",
    "The grey suit is at the cleaner's.",
    "My dentist retires next summer.",
    "The film about the lighthouse won a prize.",
    "The river gauge stands at two metres.",
)
OF_INES = (
    "Ines is allergic to shellfish.",
    "The deposit for the hall came from Ines, in cash.",
    "Ines speaks Danish with her grandmother.",
    "On Thursday Ines has her driving test.",
    "We lent Ines the long ladder in March.",
    "Ines collects stamps with lighthouses on them.",
    "The hedge between us and Ines was cut too low.",
    "Ines broke her wrist on the ice rink.",
    "A parcel for Ines is still at the post office.",
    "Ines voted against the new car park.",
    "The telescope in the attic belongs to Ines.",
    "Ines sings flat when she is tired.",
)
BOOKINGS = (
    "Flight to Lisbon: TP 563 from Hamburg on 3 October at 11:45, seat 14A.",
    "Flight back from Lisbon: TP 562 on 11 October at 7:10, seat 9C.",
    "Hotel in Lisbon: Casa do Bairro, 3 to 7 October, 96 euros a night, booking code LX4471.",
    "Hotel in Porto: Pensão Favorita, 7 to 11 October, 88 euros a night, booking code PO9920.",
    "Train to Porto: on 7 October at 10:09, coach 4, seats 31 and 32.",
    "Car in Porto: two days, 41 euros a day, Europcar.",
    "Night train to Vienna: 20 November, compartment 7, leaves Hamburg at 20:48.",
    "Hotel in Vienna: Pension Nossek, 21 to 24 November, breakfast included.",
    "Concert in Vienna: 22 November, row 12, seats 5 and 6.",
    "Flight to Kyoto: not booked yet, wait for the sale in January.",
    "Hotel in Kyoto: ask Yuki for the name of the inn.",
    "Ferry to Helgoland: cancelled on 5 September.",
)
"""Notes whose labels say what they are about, as those of a conversation say who speaks."""
SMALL = {"cycling": CYCLING[:8], "taxes": TAXES[:8], "cat": CAT[:8]}
TOPICS = {
    "cycling": CYCLING,
    "taxes": TAXES,
    "cat": CAT,
    "boat": BOAT[:12],
    "bees": BEES[:12],
    "tomatoes": TOMATOES,
}
NO_NAMES = STOP_WORDS | {
    "minutes",
    "minute",
    "hours",
    "days",
    "week",
    "year",
    "years",
    "euros",
    "kilos",
    "second",
    "new",
}
NEAR_MISSES = (
    ("Grandmother's bread recipe uses rye flour and caraway.", "Grandmother's cake recipe uses rye flour and caraway."),
    ("The new dog sleeps in the kitchen.", "The new cat sleeps in the kitchen."),
    ("The landlord agreed to pay for the roof.", "The landlord agreed to pay for the fence."),
    ("Priya runs the market stall on Saturdays.", "Yusuf runs the market stall on Saturdays."),
    ("The mixer weighs two hundred kilos.", "The mixer weighs three hundred kilos."),
    ("The pump is serviced every year.", "The pump is not serviced every year."),
    ("Tom works at the flour mill.", "Tom worked at the flour mill."),
    ("The cat chased the neighbour's dog.", "The dog chased the neighbour's cat."),
    ("A few guests stayed for the dance.", "Few guests stayed for the dance."),
    ("The pantry is locked on Sunday.", "The pantry is locked on Sundays."),
    ("The broth is too salty for the kids.", "The broth is salty for the kids."),
    ("The well water is safe to drink.", "The water is safe to drink."),
    ("The toll fell to five euros.", "The toll fell five euros."),
)
REWORDED = (
    ("Because the mill was late, we baked no bread.", "We baked no bread because the mill was late."),
    ("He bought a big house near the park.", "He purchased a large house near the park."),
)


class Told(NamedTuple):
    """A store of several topics, by its agent, with the topic of each memory."""

    agent: Agent
    topic: dict[str, str]

    def topics_of(self, groups: Iterable[list[str]]) -> set[str]:
        """Return the topics of which all members that are shown of a group are, but one at the most."""
        found = set()
        for members in groups:
            topics = [self.topic[member] for member in members]
            best = max(topics, key=topics.count)
            if topics.count(best) >= len(topics) - 1:
                found.add(best)
        return found


@pytest.fixture
async def told(
    profile: EmbeddedProfile, tmp_path: Path, connect: Connect, request: pytest.FixtureRequest
) -> AsyncIterator[Told]:
    topics: dict[str, tuple[str, ...]] = request.param
    longest = max(map(len, topics.values()))
    with awake(profile, tmp_path, MemoryLog()) as mind:
        async with connect(mind.context) as agent:
            topic = {}
            for place in range(longest):  # in turns
                for name, texts in topics.items():
                    if place < len(texts):
                        topic[(await agent.call("store_memory", content=texts[place]))["fingerprintId"]] = name
            yield Told(agent, topic)


both_sizes = pytest.mark.parametrize("told", [TOPICS, SMALL], indirect=True, ids=["72 memories", "24 memories"])


@pytest.mark.requirement("STORE-001/goals-emerge")
@both_sizes
async def test_each_topic_of_ordinary_sentences_is_a_goal_with_a_name_of_its_own_words(told: Told) -> None:
    found = await told.agent.call("discover_goals", max_goals=20, min_confidence=0.5)
    goals = found["discovered_goals"]
    assert told.topics_of(goal["members"] for goal in goals) == {*told.topic.values()}
    for goal in goals:
        words = {word.casefold() for term in goal["description"].split(", ") for word in (term, *term.split())}
        assert words
        assert not words & NO_NAMES
        assert "e7_code" not in goal["dominant_embedders"], "none of these memories is code"
    again = await told.agent.call("discover_goals", max_goals=20, min_confidence=0.5)
    assert again["discovered_goals"] == goals
    assert (again["north_star"], again["north_star_chosen"]) == (found["north_star"], False)


@pytest.mark.requirement("STORE-001/goals-emerge")
@pytest.mark.parametrize("told", [{"bookings": BOOKINGS, "cat": CAT, "taxes": TAXES}], indirect=True)
async def test_notes_that_their_labels_tell_the_subject_of_are_a_goal_named_by_them(told: Told) -> None:
    goals = (await told.agent.call("discover_goals"))["discovered_goals"]
    (bookings,) = (goal for goal in goals if told.topics_of([goal["members"]]) == {"bookings"})
    assert "Hotel" in bookings["description"]


@pytest.mark.parametrize("told", [{"choir": family_notes.CHOIR, "rest": SCATTERED}], indirect=True)
async def test_an_answer_with_goals_says_why_none_is_the_north_star(told: Told) -> None:
    found = await told.agent.call("discover_goals")
    assert found["discovered_goals"]
    assert found["north_star"] is None
    assert found["hint"].startswith("No North Star yet: ")


@pytest.mark.requirement("STORE-001/goals-emerge")
@pytest.mark.parametrize("told", [family_notes.TOPICS], indirect=True)
async def test_topics_that_few_of_their_sentences_name_are_goals_that_are_shown(told: Told) -> None:
    found = await told.agent.call("discover_goals")
    everything = await told.agent.call("discover_goals", max_goals=20, min_confidence=0)
    assert found["discovered_goals"] == everything["discovered_goals"]
    named = {}
    for goal in found["discovered_goals"]:
        topics = [told.topic[member] for member in goal["members"]]
        named[goal["description"]] = max(topics, key=topics.count)
    assert sum(description == topic for description, topic in named.items()) >= 3


@pytest.mark.requirement("STORE-001/goals-emerge")
@pytest.mark.parametrize("told", [{"scattered": SCATTERED}], indirect=True)
async def test_sentences_about_nothing_in_common_have_no_goal(told: Told) -> None:
    found = await told.agent.call("discover_goals", max_goals=20, min_confidence=0)
    assert (found["discovered_goals"], found["north_star"]) == ([], None)


@pytest.mark.requirement("STORE-001/goals-emerge")
@pytest.mark.parametrize("told", [{"ines": OF_INES, "scattered": SCATTERED, "cat": CAT}], indirect=True)
async def test_a_person_who_is_named_in_many_sentences_is_no_goal_and_a_cat_that_they_are_about_is(told: Told) -> None:
    found = await told.agent.call("discover_goals", max_goals=20, min_confidence=0)
    assert [*told.topics_of(goal["members"] for goal in found["discovered_goals"])] == ["cat"]


@pytest.mark.requirement("STORE-001/drift")
@both_sizes
async def test_a_store_that_has_always_been_about_several_things_has_not_drifted(told: Told) -> None:
    await told.agent.call("discover_goals")
    drift = await told.agent.call("get_alignment_drift")
    assert drift["level"] in {"None", "Low"}


@pytest.mark.requirement("STORE-001/drift")
@pytest.mark.parametrize("told", [{"cat": CAT, "taxes": TAXES, "scattered": SCATTERED}], indirect=True)
async def test_facts_near_no_goal_are_no_drift_until_they_are_all_that_is_stored(told: Told) -> None:
    await told.agent.call("discover_goals")
    at_first = await told.agent.call("get_alignment_drift")
    assert at_first["level"] in {"None", "Low"}
    for text in BOAT[:24]:
        await told.agent.call("store_memory", content=text)
    later = await told.agent.call("get_alignment_drift", memories=24)
    assert later["level"] in {"High", "Critical"}
    assert later["similarity"] < at_first["similarity"] / 2


@pytest.mark.requirement("INTEG-013/deep/clusters", "INTEG-013/rem/patterns")
@both_sizes
async def test_deep_and_rem_find_each_topic_of_ordinary_sentences(told: Told) -> None:
    answer = await told.agent.call("consolidate_memories", mode="rem", dry_run=True)
    topics = {*told.topic.values()}
    assert answer["clusters_discovered"] >= len(topics)
    assert told.topics_of(pattern["members"] for pattern in answer["new_patterns"]) == topics


@pytest.mark.requirement("INTEG-013/deep/duplicates")
async def test_deep_merges_rewordings_and_nothing_that_differs_in_a_fact(agent: Agent) -> None:

    async def store(pairs: Iterable[tuple[str, str]]) -> list[set[str]]:
        stored: list[dict[str, Any]] = []
        for text in (text for pair in pairs for text in pair):
            stored.append(await agent.call("store_memory", content=text))  # noqa: PERF401 -- in order
        ids = [one["fingerprintId"] for one in stored]
        return [set(ids[start : start + 2]) for start in range(0, len(ids), 2)]

    await store(NEAR_MISSES)
    reworded = await store(REWORDED)
    answer = await agent.call("consolidate_memories", mode="deep")
    merged = [{merge["survivor"], *(one["id"] for one in merge["absorbed"])} for merge in answer["merges"]]
    assert sorted(merged, key=min) == sorted(reworded, key=min)
