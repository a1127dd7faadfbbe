"""Memories longer than the model sees: found by any part, and nobody waits for them."""

from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from actors.api.context import Context
from actors.api.operations.lifecycle.memories import store_memory
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from actors.embedder import jobs
from actors.runtime.faults import InvalidParamsFault
from tests.actors.conftest import search, store

pytestmark = pytest.mark.anyio

PADDING = (
    "The committee met again and went through the minutes of the last meeting, item by item, without any decision. "
)
FACT = "The spare key to the boathouse hangs behind the red canoe."


def long_text(characters: int) -> str:
    return (PADDING * (characters // len(PADDING) + 1))[: characters - len(FACT) - 1] + "\n" + FACT


async def test_a_fact_in_the_last_line_of_a_long_memory_is_found_and_shown(context: Context) -> None:
    text = long_text(60_000)
    memory = await store(context, text)
    for n in range(5):
        await store(context, f"Boat number {n} needs new paint.")
    best = (await search(context, "Where is the spare key to the boathouse?"))[0]
    assert best["fingerprintId"] == memory
    assert FACT in best["content"]
    assert len(best["content"]) < 2_000
    assert best["excerpt"]["of"] == len(text)
    assert text[best["excerpt"]["start"] : best["excerpt"]["end"]] == best["content"]


@pytest.mark.parametrize(
    ("title", "heading", "shown"),
    [
        ("2031-05-06", "Minutes › Boathouse", "2031-05-06 › Minutes › Boathouse"),
        ("minutes", "Minutes › Boathouse", "Minutes › Boathouse"),
        ("Rowing", None, "Rowing"),
        (None, None, None),
    ],
)
async def test_an_excerpt_names_what_the_text_stands_under(
    context: Context, title: str | None, heading: str | None, shown: str | None
) -> None:
    division = {"division": {"heading": heading}} if heading else {}
    await store(context, long_text(4_000), metadata=({"title": title} if title else {}) | division)
    (best,) = await search(context, "Where is the spare key to the boathouse?", max_characters=200)
    assert best["excerpt"].get("heading") == shown
    assert FACT in best["content"]
    (best,) = await search(context, "What did the committee decide?", max_characters=200)
    assert best["excerpt"]["start"] or "heading" not in best["excerpt"]


async def test_a_memory_of_two_windows_that_fits_into_a_result_is_shown_whole(context: Context) -> None:
    text = (Path(__file__).parents[4] / "actors/store/README.md").read_text("utf-8")
    await store(context, text)
    (shown,) = await search(context, "What does the store do before it acknowledges?")
    assert shown["content"] == text
    assert "excerpt" not in shown


async def test_of_parts_about_one_topic_that_with_the_words_of_the_question_is_shown(context: Context) -> None:
    towns = "Arendal Bergen Drammen Egersund Fauske Gjovik Hamar Kirkenes Larvik Mandal Namsos Odda Porsgrunn".split()
    dishes = "cod lamb trout herring waffles elk crab salmon soup reindeer mussels pancakes goulash".split()
    days = [
        f"We reached {town} after lunch, put the tent up beside the river and walked through the old streets until the "
        f"shops closed. In the evening it rained, so we sat in a small inn near the harbour and ate {dish}. The owner "
        f"told us about the road ahead, which bends inland there and climbs to a pass with snow until June.\n\n"
        for town, dish in zip(towns, dishes, strict=True)
    ]
    await store(context, "".join(days))
    for town, dish in zip(towns, dishes, strict=True):
        (shown, *_) = await search(context, f"What did we eat when we were in {town}?")
        assert f"ate {dish}" in shown["content"]
        assert shown["content"].startswith(("We reached", "In the evening", "The owner"))
        assert shown["content"].rstrip().endswith(".")


async def test_a_question_that_one_passage_of_a_long_document_answers_is_answered(context: Context) -> None:
    root = Path(__file__).parents[4]
    names = ("LICENSE", "README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "events/README.md", "projections/README.md")
    ids = {await store(context, (root / name).read_text("utf-8")): name for name in names}

    async def asked(question: str) -> tuple[str, str]:
        answer = await search_graph(context, parse({"query": question}, SearchGraph))
        return answer["confidence"], ids[answer["results"][0]["fingerprintId"]]

    assert await asked("Who is liable for damages?") == ("confident", "LICENSE")
    assert (await asked("What happens when a memory is erased?"))[0] == "confident"
    for unrelated in ("Where did Jan cry?", "How do I bake rye bread?", "When is the dentist appointment?"):
        assert (await asked(unrelated))[0] == "nothing"


async def test_max_characters_leaves_of_each_text_the_part_with_most_words_of_the_query(context: Context) -> None:
    text = (
        "Notes from the choir. The alto section meets on Tuesdays in the parish hall, the tenors on Thursdays.\n"
        "Fees: forty euros a year, pupils pay half, and whoever sings in the opera choir as well pays nothing.\n"
        "The piano was tuned in March; the tuner found a cracked soundboard and advised against playing it in the cold."
    )
    await store(context, text)
    (whole,) = await search(context, "What is wrong with the piano?")
    assert whole["content"] == text
    assert "excerpt" not in whole
    for query, start in (
        ("What is wrong with the piano?", "The piano was tuned"),
        ("How much are the fees for pupils?", "Fees: forty"),
        ("When do the altos of the choir meet?", "Notes from the choir"),
        ("xylophone", "Notes from the choir"),
    ):
        (cut,) = await search(context, query, max_characters=100)
        assert cut["content"].startswith(start)
        assert len(cut["content"]) == 100
        assert cut["excerpt"] == {"start": text.index(start), "end": text.index(start) + 100, "of": len(text)}
    for wrong in (79, 2_001):
        with pytest.raises(InvalidParamsFault, match="max_characters"):
            await search(context, "piano", max_characters=wrong)


async def test_storing_a_long_memory_reports_each_step(context: Context) -> None:
    await store(context, "models are loaded")
    told: list[tuple[float, float | None]] = []

    async def report(done: float, total: float | None, _what: str) -> None:
        told.append((done, total))

    await store_memory(context.for_request(report), parse({"content": long_text(10_000)}, StoreMemory))
    assert len(told) > 3
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]


async def test_a_search_overtakes_a_long_memory(context: Context) -> None:
    await store(context, "The fox jumps.")
    finished: list[str] = []

    async def store_long() -> None:
        await store(context, long_text(60_000))
        finished.append("store")

    async def search_short() -> None:
        for _ in range(3):
            assert (await search(context, "fox"))[0]["content"] == "The fox jumps."
        finished.append("search")

    async with anyio.create_task_group() as group:
        group.start_soon(store_long)
        await anyio.lowlevel.checkpoint()
        group.start_soon(search_short)
    assert finished == ["search", "store"]


def test_no_slice_of_work_is_larger_than_its_limit() -> None:
    def plan(rows: int, width: int) -> jobs.Plan[None]:
        yield [[7] * width for _ in range(rows)]

    long = jobs.EmbeddingJob(plan(60, 254))
    short = [jobs.EmbeddingJob(plan(1, 30)) for _ in range(40)]
    turns = [jobs.select_slice([long, *short], after_long=after_long) for after_long in (True, False)]
    assert [job for job, _ in turns[1]] == [long]
    assert all(job in short for job, _ in turns[0])
    for taken in turns:
        rows = [row for job, count in taken for row in job.pending_rows[:count]]
        assert sum(map(len, rows)) <= jobs.SLICE_TOKENS
