"""What a small mind lives through: a community garden, an old boat, and things that belong to neither."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from actors.api.context import Context
from actors.api.pulse import read_pulse
from actors.api.tools.agent_tools import BY_METHOD, BY_NAME
from actors.api.tools.dispatch import call
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import start_hub
from actors.hub.hub import Hub
from events.storage.log import Log
from tests.actors.conftest import loaded
from tests.events.memory_log import MemoryLog

GARDEN = (
    (
        "Rosa asked the town council for the empty lot behind the library, to turn it into a community garden.",
        "The council lets us use the lot for a community garden for five years, if we keep the fence in good repair.",
        "Imran drew a plan of the garden with twelve raised beds, a path for wheelchairs and a bench in the shade.",
        "Greta wants a flower strip along the garden fence, because bees and butterflies need to eat all summer.",
        "We agreed that every family in the garden gets half a raised bed and looks after one shared bed in turn.",
        "Kwame will build the raised beds from old scaffolding boards that his cousin gives us for nothing.",
        "The soil in the lot is heavy clay, so the raised beds get a layer of branches and then topsoil and compost.",
        "Mei tested the garden soil: it is a little too acid for cabbage, and there is no lead in it.",
        "Tobias ordered four cubic metres of topsoil for the garden beds, to be delivered on Saturday at nine.",
        "Twenty people came to the first garden day; we filled eight raised beds with soil before it rained.",
    ),
    (
        "Mei started three compost heaps in the garden: one fresh, one half rotted and one that can be sieved.",
        "Please put no cooked food on the compost, since it brings rats into the garden.",
        "The compost smelled sour because it was too wet; Rosa mixed in dry leaves and torn cardboard.",
        "Turning the compost heap every second week keeps it warm, and then it is ready in about four months.",
        "Imran brought two sacks of horse manure for the compost from the riding school.",
        "We sieved the first ripe compost and spread three centimetres of it on each raised bed.",
        "Coffee grounds from the café next door go on the compost as well; Tobias fetches a bucket every Friday.",
        "Worms from Greta's own garden moved into the compost heap and multiply quickly.",
        "The tomatoes in the bed with compost grew twice as high as those in the bed without it.",
        "Mei wrote a sign for the compost heaps that says what may go in and what may not.",
    ),
    (
        "Rosa sowed tomatoes and peppers on her window sill in February for the whole garden.",
        "The tomato seedlings may go out into the garden beds only after the last frost, in the middle of May.",
        "Greta planted beans beside the sweetcorn in the garden, so that they can climb up the stalks.",
        "Carrots and onions stand side by side in bed four, as each keeps away the other's flies.",
        "We planted forty tomato seedlings in the garden beds today and tied each of them to a stake.",
        "Slugs ate half of the lettuce seedlings in bed two during the first wet night.",
        "Kwame puts copper tape around the raised beds against slugs, and it seems to help.",
        "Mei sows radishes between the rows of carrots, since they are harvested before the carrots need the room.",
        "The zucchini plants took over a whole garden bed; next year two plants will be enough.",
        "Tobias covered the cabbage bed with a fine net, so that no butterflies lay their eggs on the plants.",
    ),
    (
        "In July the garden beds need water every evening; we share out the watering in a calendar.",
        "Imran connected two rain barrels to the gutter of the library, which gives enough water for a dry week.",
        "The garden hose leaks at the tap, so Kwame will bring a new washer on Tuesday.",
        "Nobody watered the garden last weekend, and the lettuce and the spinach in the beds bolted.",
        "Water the tomatoes at the roots and never over the leaves, or they catch blight.",
        "Rosa laid a soaker hose with a timer in the tomato beds, and it saves half of the water.",
        "A thick mulch of straw on the garden beds keeps the soil moist, so we water only twice a week.",
        "The rain barrels of the garden were empty in August, so we paid for water from the library tap.",
        "Greta found blight on the tomato leaves in bed six and cut off every plant that had it.",
        "Mei wants a third rain barrel for the garden before next summer.",
    ),
    (
        "We harvested thirty kilos of tomatoes from the garden and gave a third of them to the food bank.",
        "The garden sells its surplus vegetables on Saturdays at a stall in front of the library.",
        "Rosa showed eight people how to make tomato sauce from the garden harvest and fill it into jars.",
        "The harvest of beans was small this year because it was too hot when the plants were in flower.",
        "Tobias keeps a list of what each garden bed yields, so that we know what is worth planting again.",
        "The vegetable stall of the garden earned two hundred euros in September, mostly with tomatoes and herbs.",
        "We dried the seeds of the best tomato plants for next year's garden.",
        "Pumpkins from the garden go to the school, where the children carve them for the harvest feast.",
        "Greta pulled out the last tomato plants and sowed winter rye on the empty beds.",
        "At the harvest feast in the garden there was soup from our own vegetables for sixty people.",
    ),
    (
        "The class of Ms Okafor comes to the garden every Wednesday and looks after two raised beds.",
        "The children sowed sunflowers and radishes in their garden bed and measure them each week.",
        "A member fee of fifteen euros a year pays for seeds, water and the insurance of the garden.",
        "Imran applied for a grant of the city to build a tool shed in the garden.",
        "The city pays eight hundred euros for the tool shed of the garden, provided that it has a green roof.",
        "Kwame and Tobias built the tool shed in the garden in two weekends.",
        "Somebody left the tool shed open, and two spades and the wheelbarrow of the garden were stolen.",
        "The tool shed now has a lock with a number, which every garden member gets from Rosa.",
        "Mei plans the garden beds for next year: beans where the tomatoes stood, and tomatoes where the cabbage was.",
        "There are nineteen families on the waiting list of the garden, so we ask the council for the lot next door.",
    ),
)
"""Six sessions of ten turns, all about one thing."""

STRANGE = (
    "The cello concerto in E minor was the last great work that Elgar finished.",
    "Flight LH 1044 to Oslo leaves from gate B42 at 06:55.",
    "def median(values):\n    ordered = sorted(values)\n    return ordered[len(ordered) // 2]",
    "A neutron star packs more mass than the Sun into a ball twenty kilometres wide.",
    "The dentist says that the wisdom tooth on the lower left has to come out.",
    "In 1815 the Congress of Vienna redrew the map of Europe.",
    "ERROR 1062 (23000): Duplicate entry '42' for key 'users.email'",
    "Her visa for Vietnam expires on the third of March.",
    "Castling is not allowed while the king is in check.",
    "The quarterly invoice of the law firm was paid twice by mistake.",
)
"""Ten memories that have nothing to do with the garden, nor with each other."""

BOAT = (
    "Henrik bought an old wooden sailing boat in Flensburg, eight metres long and built in 1961.",
    "The sailing boat stands on a trailer in the barn, where we restore it over the winter.",
    "The hull of the boat has eleven rotten planks below the water line that must be replaced.",
    "We steam new oak planks for the hull until they bend around the frames of the boat.",
    "Ylva scrapes the old paint off the hull of the boat with a hot air gun.",
    "The mast of the sailing boat has a crack at the spreaders and gets a new scarf joint.",
    "Henrik caulks the seams of the hull with cotton and red lead putty.",
    "The boat's diesel engine turns over again after a new injector pump was fitted.",
    "Ylva sews a new mainsail for the boat from tan sailcloth.",
    "All bronze screws in the hull were pulled and replaced, about nine hundred of them.",
    "The keel bolts of the boat are badly rusted, so we lower the keel and change all of them.",
    "The deck of the sailing boat is covered with new canvas and three coats of paint.",
    "Henrik varnished the mast and the boom of the boat six times, with sanding in between.",
    "We launched the sailing boat in May, and the hull leaked for two days until the planks swelled.",
    "The rigger in the harbour made new stainless shrouds for the mast of our boat.",
    "Ylva painted the name Silvermåsen on the stern of the boat in gold letters.",
    "The boat's compass was off by eight degrees because the engine stood too near to it.",
    "On the first trip the sailing boat reached six knots under main and jib.",
    "The bilge pump of the boat failed, and there was water above the floorboards in the cabin.",
    "Henrik replaced the sailing boat's tiller with one of laminated ash.",
    "The harbour master gave the boat a berth at pier four, next to the crane.",
    "We anchored the sailing boat off the island and swam around its hull.",
    "The boat's sails are stored dry in the barn from October to April.",
    "The hull of the sailing boat gets new antifouling paint each spring before it is launched.",
)
"""Another topic: an old sailing boat that is restored."""

REPEATED = ((0, 0), (1, 4), (2, 4), (3, 1), (3, 6), (4, 0), (4, 9), (5, 4), (1, 0), (0, 6))
"""Places in `GARDEN` of what is told again, word by word."""

TOOLS = BY_NAME | {tool.name: tool for tool in BY_METHOD.values()}
"""Every operation by name, listed or not."""

NAMESPACE = "garden"
SPRING = datetime(2026, 3, 2, 18, 0, tzinfo=UTC)


class Lasting(MemoryLog):
    """Stands for a file: who closes it can open it again."""

    def close(self) -> None:
        """Stay open."""


class Mind:
    """A running store whose operations are called by the names of their tools."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.context = Context(hub)

    async def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call an operation, its arguments parsed as those of an agent are."""
        return await call(self.context, TOOLS[tool], arguments)

    async def life(self, memory: str, **more: Any) -> list[str]:
        """Return what happened to a memory, in words, the oldest first."""
        events = (await self("audit_trail", memory_id=memory, **more))["events"]
        return [event["what"] for event in reversed(events)]


class Told(NamedTuple):
    """A memory as it was told, what was answered, and the pulse after it."""

    id: str
    content: str
    utl: dict[str, float]
    pulse: Any


@contextmanager
def awake(profile: EmbeddedProfile, folder: Path, log: Log, *, priming: bool = True) -> Iterator[Mind]:
    """Start the actors on a log, with models that are loaded already."""

    with start_hub(log, folder, loaded(profile), priming=priming) as hub:
        yield Mind(hub)


async def told(mind: Mind, content: str, **more: Any) -> Told:
    answer = await mind("inject_context", content=content, rationale="it may matter", **more)
    return Told(answer["fingerprintId"], content, answer["utl"], await read_pulse(mind.context))


class Lived(NamedTuple):
    """A mind, and all that it was told: a topic in six sessions, then what is strange to it, then repeats."""

    mind: Mind
    topic: list[Told]
    strange: list[Told]
    repeats: list[Told]

    @property
    def all(self) -> list[Told]:
        """Everything in the order in which it was told."""
        return [*self.topic, *self.strange, *self.repeats]


async def live(mind: Mind) -> Lived:
    """Tell a mind the whole stream, each session two weeks after the one before."""
    topic = [
        await told(
            mind,
            content,
            namespace=NAMESPACE,
            session=f"meeting {week}",
            created_at=_moment(14 * week, turn),
        )
        for week, turns in enumerate(GARDEN)
        for turn, content in enumerate(turns)
    ]
    strange = [
        await told(mind, content, namespace=NAMESPACE, created_at=_moment(90, turn))
        for turn, content in enumerate(STRANGE)
    ]
    repeats = [
        await told(mind, GARDEN[week][turn], namespace=NAMESPACE, created_at=_moment(100, place))
        for place, (week, turn) in enumerate(REPEATED)
    ]
    return Lived(mind, topic, strange, repeats)


def _moment(day: int, turn: int) -> str:
    return (SPRING + timedelta(days=day, minutes=2 * turn)).isoformat()
