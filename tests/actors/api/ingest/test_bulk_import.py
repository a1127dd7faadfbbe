"""An import whose contents a pool embeds: the same bytes with one worker and two, also after an interruption."""

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

import pytest
import typer.testing
from anyio.from_thread import start_blocking_portal

from actors.api.context import Context, wait_until_ready
from actors.api.operations.ingest.bulk_import import embedded_ahead
from actors.cli.commands import program
from actors.cli.store_access import call_in
from actors.embedder.pool.local import start_pool
from actors.embedder.pool.prepared import BulkEmbedding
from actors.embedder.pool.worker import WorkerSettings
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import open_hub
from actors.proxy.launcher import lock_folder
from actors.runtime.types import JsonObject
from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import MemoryStored
from tests.actors.conftest import loaded

SIZE = 12
SETTINGS = WorkerSettings("embedded")


class InterruptedImport(Exception):
    """Ends an import in the middle."""


@pytest.fixture(scope="module")
def batches() -> list[list[JsonObject]]:
    """Paragraphs of this repository's documents; one has no time of its own, one is invalid, one is an event."""
    root = Path(__file__).parents[4]
    parts = [
        part for name in ("ARCHITECTURE.md", "CONTRIBUTING.md") for part in (root / name).read_text().split("\n\n")
    ]
    items: list[JsonObject] = [
        {"id": str(uuid5(NAMESPACE_URL, part)), "content": part, "created_at": f"2026-03-01T09:{minute:02}:00+00:00"}
        for minute, part in enumerate(parts[: 3 * SIZE])
    ]
    del items[5]["created_at"]
    items[17] = {"content": "", "created_at": "2026-03-01"}
    items[30] = {"event": {"type": "memory_forgotten.1", "memory": items[2]["id"]}}
    return [items[start : start + SIZE] for start in range(0, len(items), SIZE)]


def run(
    folder: Path,
    batches: list[list[JsonObject]],
    profile: EmbeddedProfile,
    workers: int,
    last: int | None = None,
    ray: str | None = None,
) -> list[JsonObject]:
    """Import into a folder, and return the answers; with `last`, end after so many batches."""
    bulk = BulkEmbedding(partial(start_pool, SETTINGS, workers, ray))
    answers: list[JsonObject] = []

    opened = open_hub(folder, load=bulk.loading(loaded(profile)))
    with start_blocking_portal() as portal, bulk, opened as hub:
        context = Context(hub)
        portal.call(wait_until_ready, context)
        for batch in embedded_ahead(hub, batches, list, bulk):
            answers.append(call_in(portal, context, "memory/import", items=batch))
            if len(answers) == last:
                raise InterruptedImport
    return answers


def embedded(folder: Path, untimed: str) -> dict[UUID, Any]:
    """Return the fingerprint and passages of each memory of a store, but of the one without a time."""

    def memories() -> Iterator[tuple[UUID, Any]]:
        log = DuckDBLog(folder)
        try:
            for one in log.read():
                if isinstance(one.event, MemoryStored) and str(one.id) != untimed:
                    yield one.id, (one.event.fingerprint, one.event.passages)
        finally:
            log.close()

    return dict(memories())


def test_two_workers_make_the_bytes_of_one_also_after_an_interruption(
    batches: list[list[JsonObject]], tmp_path: Path, profile: EmbeddedProfile
) -> None:
    whole = run(tmp_path / "one", batches, profile, 1)
    assert [(one["stored"], one["failed"], one["events"]) for one in whole] == [(12, 0, 0), (11, 1, 0), (11, 0, 1)]
    with pytest.raises(InterruptedImport):
        run(tmp_path / "two", batches, profile, 2, last=1)
    resumed = run(tmp_path / "two", batches, profile, 2)
    assert [(one["stored"], one["stored_before"]) for one in resumed] == [(0, 12), (11, 0), (11, 0)]
    untimed = str(batches[0][5]["id"])
    one, two = embedded(tmp_path / "one", untimed), embedded(tmp_path / "two", untimed)
    assert len(one) == 33
    assert one == two


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'context-graph[cluster]'")
@pytest.mark.filterwarnings("default")
def test_two_workers_on_ray_make_the_bytes_of_one(
    batches: list[list[JsonObject]], tmp_path: Path, profile: EmbeddedProfile
) -> None:
    run(tmp_path / "one", batches, profile, 1)
    run(tmp_path / "ray", batches, profile, 2, ray="local")
    untimed = str(batches[0][5]["id"])
    assert embedded(tmp_path / "one", untimed) == embedded(tmp_path / "ray", untimed)


def test_a_store_that_a_hub_serves_is_not_imported_into_by_a_pool(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("The ferry leaves at nine.\n", encoding="utf-8")
    lock = lock_folder(tmp_path / "store")
    assert lock is not None
    arguments = ["import", str(tmp_path / "note.md"), "--data", str(tmp_path / "store"), "--workers", "2"]
    answer = typer.testing.CliRunner().invoke(program, arguments)
    assert answer.exit_code == 1
    assert "context-graph stop" in answer.output


def test_a_pool_imports_where_files_of_hubs_cannot_be_locked_as_on_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "note.md").write_text("The ferry leaves at nine.\n", encoding="utf-8")
    monkeypatch.delattr("actors.proxy.launcher.fcntl")
    for module in ("actors.cli.importing", "actors.proxy.serve_command"):
        monkeypatch.setattr(f"{module}.proxy_supported", lambda: False)
    arguments = ["import", str(tmp_path / "note.md"), "--data", str(tmp_path / "store"), "--workers", "1"]
    answer = typer.testing.CliRunner().invoke(program, arguments)
    assert (answer.exit_code, "1 memory" in answer.output) == (0, True), answer.output
