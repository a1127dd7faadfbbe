"""Exports are written whole: JSON lines, notes for Obsidian, Parquet with every space."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import duckdb
import pytest
from anyio import to_thread

from actors.api.context import Context
from actors.api.operations.ingest.imports import MemoryImport, memory_import
from actors.api.params.parsing import parse
from actors.api.tools import dispatch
from actors.api.tools.agent_tools import BY_METHOD
from actors.exporters.files import Export, write
from actors.importers.recogniser import recognise
from actors.importers.records import Item, Options
from actors.runtime.faults import InvalidParamsFault
from events.spaces import SPACES
from events.storage.log import Log
from tests.actors.conftest import search, store
from tests.actors.importers import samples
from tests.events.memory_log import MemoryLog

pytestmark = pytest.mark.anyio


async def take_in(context: Context, path: Path) -> dict[str, Any]:
    """Import a source into a store."""
    items = [one.value for one in recognise(path, Options()).read() if isinstance(one, Item)]
    return await memory_import(context, parse({"items": items}, MemoryImport))


async def take_out(context: Context, form: str, file: Path) -> dict[str, Any]:
    """Export a store; commands call its operations from their own thread."""

    def call(method: str, _report: object = None, /, **arguments: Any) -> dict[str, Any]:
        return anyio.from_thread.run(dispatch.call, context, BY_METHOD[method], arguments)

    wanted = Export(call, lambda _done, _total, _what: None, None, {})
    return await to_thread.run_sync(write, wanted, form, file)


async def test_json_lines_imported_into_a_new_store_find_the_same(start: Callable[[Log], Any], tmp_path: Path) -> None:
    found: list[Any] = []
    for number, source in enumerate((samples.vault(tmp_path / "notes"), tmp_path / "0.jsonl")):
        with start(MemoryLog()) as hub:
            context = Context(hub)
            told = await take_in(context, source)
            assert (told["stored"], told["events"], told["failed"]) == (4, 3, 0)
            assert (await take_out(context, "jsonl", tmp_path / f"{number}.jsonl"))["exported"] == 4
            hits = await search(context, "How long do I let coffee bloom?")
            found.append([(hit["fingerprintId"], hit["content"], hit["createdAt"]) for hit in hits])
    assert found[0] == found[1]
    assert "Bloom for thirty seconds" in found[0][0][1]


async def test_markdown_is_written_for_obsidian_and_comes_back(start: Callable[[Log], Any], tmp_path: Path) -> None:
    with start(MemoryLog()) as hub:
        context = Context(hub)
        await take_in(context, samples.vault(tmp_path / "notes"))
        folder = tmp_path / "vault"
        assert (await take_out(context, "markdown", folder))["exported"] == 4
        with pytest.raises(InvalidParamsFault, match="must be an empty folder"):
            await take_out(context, "markdown", folder)
    notes = [path.read_text("utf-8") for path in folder.rglob("*.md")]
    (coffee,) = (text for text in notes if "\n# Coffee Brewing" in text)
    assert "- taught_by [[Ilse" in coffee
    assert "tags:\n- coffee\n- brewing\n- morning\n" in coffee
    with start(MemoryLog()) as hub:
        told = await take_in(Context(hub), folder)
        assert (told["stored"], told["failed"]) == (4, 0)
        assert told["events"] == 3


async def test_a_note_is_named_by_its_heading_and_says_what_corrected_it(context: Context, tmp_path: Path) -> None:
    first = await store(context, "# Oven\n\nPreheat to 235 degrees.")
    second = await store(context, "# Oven\n\nPreheat to 225 degrees.", supersedes=[first])
    await store(context, "```\n- The kettle sang.\n```")
    reinstated = await store(context, "The gate code is 1234.")
    await store(context, "The gate code is 4321.", supersedes=[reinstated])
    await dispatch.call(context, BY_METHOD["memory/restore"], {"id": reinstated})
    await take_out(context, "markdown", tmp_path / "vault")
    notes = {path.stem: path.read_text("utf-8") for path in (tmp_path / "vault").rglob("*.md")}
    assert {name[:-14] for name in notes} == {
        "Oven",
        "The-kettle-sang",
        "The-gate-code-is-1234",
        "The-gate-code-is-4321",
    }
    corrected = f"- superseded_by [[Oven-{second[:13]}]]"
    assert [name for name, text in notes.items() if "superseded_by" in text] == [f"Oven-{first[:13]}"]
    assert corrected in notes[f"Oven-{first[:13]}"]
    assert "title: Oven\n" in notes[f"Oven-{first[:13]}"]


async def test_parquet_opens_in_duckdb_with_every_space(context: Context, tmp_path: Path) -> None:
    await take_in(context, samples.vault(tmp_path / "notes"))
    await store(context, "The kettle sang.", created_at="2026-05-02T08:30+09:00")
    file = tmp_path / "out" / "memories.parquet"
    file.parent.mkdir()
    assert (await take_out(context, "parquet", file))["exported"] == 5
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    with duckdb.connect() as database:
        table = database.execute("SELECT * FROM read_parquet(?) ORDER BY content", [str(file)])
        columns = [name for name, *_ in table.description or ()]
        rows = [dict(zip(columns, row, strict=True)) for row in table.fetchall()]
    assert {space.key for space in SPACES} <= set(columns)
    coffee = next(row for row in rows if row["content"].startswith("# Coffee Brewing"))
    assert (coffee["tags"], str(coffee["created_at"])) == (["coffee", "brewing", "morning"], "2026-02-03 08:00:00")
    assert [str(row["created_at"]) for row in rows if row["content"] == "The kettle sang."] == ["2026-05-01 23:30:00"]
    assert len(coffee["e1_semantic"]) == 384
    assert len(coffee["e9_hdc"]) == 1_250
    assert len(coffee["e12_late_interaction"]["vectors"]) == len(coffee["e12_late_interaction"]["pieces"])
