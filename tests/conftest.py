"""What holds for every test: nothing is left running, and the requirements that it carries are counted."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer.testing
from anyio._core import _eventloop
from hypothesis import HealthCheck, settings
from pykka import ActorRegistry

if TYPE_CHECKING:
    from tests.postgres import Server

# The OpenAI SDK brings sniffio, by which anyio's plugin marks the thread as running asyncio for as long as an async
# fixture lives: `anyio.run` in a test would then refuse.
_eventloop.sniffio = None

SLOW_FOLDERS = ("acceptance", "fuzz", "benchmarks")
SLOW_MODULES = """
    actors/api/administration/test_calibrating.py
    actors/api/administration/test_past.py
    actors/api/administration/test_replaying.py
    actors/api/graph/test_causes.py
    actors/api/graph/test_graph.py
    actors/api/ingest/test_bulk_import.py
    actors/api/ingest/test_long_memories.py
    actors/api/ingest/test_storing.py
    actors/api/ingest/test_superseding.py
    actors/api/mcp/test_hostile.py
    actors/api/mind/test_goals.py
    actors/api/mind/test_mind_holds.py
    actors/api/mind/test_ordinary_topics.py
    actors/api/mind/test_workspace.py
    actors/api/params/test_parsing.py
    actors/api/params/test_refusals.py
    actors/api/retrieval/test_asking_when.py
    actors/api/retrieval/test_auto.py
    actors/api/retrieval/test_paging.py
    actors/api/retrieval/test_relevance.py
    actors/api/retrieval/test_searching.py
    actors/api/retrieval/test_weighing.py
    actors/api/sleep/test_consolidating.py
    actors/api/sleep/test_dreaming.py
    actors/api/sleep/test_dreams.py
    actors/api/sleep/test_kept.py
    actors/api/sleep/test_undoing.py
    actors/cli/test_audit_commands.py
    actors/cli/test_commands.py
    actors/cli/test_import_again.py
    actors/cli/test_memory_ids.py
    actors/cli/test_messages.py
    actors/cli/test_own_export.py
    actors/cli/test_sleep_commands.py
    actors/cli/test_store_access.py
    actors/comparator/compare/test_neighbours.py
    actors/comparator/compare/test_strategies.py
    actors/comparator/search/test_pipeline.py
    actors/consolidator/goals/test_discovery.py
    actors/consolidator/test_clustering.py
    actors/dashboard/test_browser.py
    actors/embedder/models/test_backbone.py
    actors/embedder/models/test_full_models.py
    actors/embedder/models/test_memory.py
    actors/embedder/models/test_sentence_model.py
    actors/embedder/pool/test_pools.py
    actors/embedder/profiles/test_full.py
    actors/embedder/profiles/test_image_space.py
    actors/embedder/profiles/test_precision.py
    actors/embedder/spaces/test_temporal.py
    actors/http/test_access.py
    actors/http/test_counting.py
    actors/http/test_crowd.py
    actors/http/test_hostile.py
    actors/http/test_isolated_pages.py
    actors/http/test_isolation.py
    actors/http/test_oauth.py
    actors/http/test_pages.py
    actors/hub/test_earlier_versions.py
    actors/hub/test_move.py
    actors/hub/test_reembed.py
    actors/hub/test_shared_log.py
    actors/importers/test_mail.py
    actors/importers/test_markup.py
    actors/router/test_router.py
    actors/router/test_several_hubs.py
    actors/scheduler/test_actor.py
    actors/store/test_indexes.py
    actors/store/test_snapshot_files.py
    actors/store/test_spare_memories.py
    actors/test_week.py
    actors/test_week_accounted.py
    actors/text/queries/test_recurring_dates.py
    events/postgres/test_log.py
    events/recovery/test_backup.py
    events/recovery/test_opening.py
    events/recovery/test_salvage.py
    events/recovery/test_upgrade.py
    events/storage/test_duckdb_log.py
    events/storage/test_format.py
    events/test_flips.py
    events/verify/test_agreement.py
    events/verify/test_verification.py
    projections/spaces/test_graph.py
    projections/storage/test_snapshot.py
    projections/test_sleep.py
    test_readme.py
""".split()
"""What `--fast` leaves out: modules of more than some four seconds of a processor (`--durations=0` shows them)."""

STOP_S = 60.0
"""Longest wait for an actor or a thread to end; all of them end at once when nothing is wrong."""

# A runner builds all commands anew for each one that it runs, which takes as long as many of them: 25 ms.
typer.testing._get_command = cache(typer.testing._get_command)
# The tests' folder is a repository; servers that they start would put everything into its project.
os.environ["CONTEXT_GRAPH_NAMESPACE"] = "default"
# A hub that a command leaves behind would outlive the test's folder.
os.environ["CONTEXT_GRAPH_HUB"] = "0"
# Days are those of the machine's time zone; tests of another one set it themselves.
os.environ["TZ"] = "UTC"
time.tzset()
# Each process would otherwise take what a measurement under the load of the suite found faster, by chance one or the
# other, and close scores may be in another order in bfloat16.
os.environ.setdefault("CONTEXT_GRAPH_PRECISION", "float32")

CARRIED = pytest.StashKey[dict[str, list[str]]]()
WHOLE = pytest.StashKey[bool]()

# Machines are slow at random moments, and a failure must be the same one when it is run again.
# `--hypothesis-profile=explore` looks for new examples.
settings.register_profile("suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", settings.get_profile("suite"), derandomize=False)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that selects the fast tests."""
    parser.addoption("--fast", action="store_true", help="Leave out the slow folders and modules of the suite.")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is slow, if that is requested."""
    if not config.getoption("fast"):
        return None
    place = collection_path.relative_to(Path(__file__).parent).as_posix()
    return True if place in (*SLOW_FOLDERS, *SLOW_MODULES) else None


@pytest.hookimpl(tryfirst=True)  # before -k, -m and --deselect take their share of the items
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note which tests carry which requirement, and whether every test file was collected."""
    carried: dict[str, list[str]] = {}
    for item in items:
        for mark in item.iter_markers("requirement"):
            for requirement in mark.args:
                carried.setdefault(requirement, []).append(item.nodeid)
    config.stash[CARRIED] = carried
    asked = {(config.invocation_params.dir / path).resolve() for path in config.args}
    suite = {config.rootpath / path for path in config.getini("testpaths")}
    narrowed = any(config.getoption(name, default=None) for name in ("ignore", "ignore_glob", "lf", "fast"))
    config.stash[WHOLE] = asked == suite and not narrowed


def pytest_unconfigure(config: pytest.Config) -> None:
    """Empty pytest's loader of plugins.

    Hypothesis's callback of the collector and torch keep modules of plugins beyond the end of the interpreter. Their
    loader would keep every test through the configuration, and DuckDB's classes, whose bindings report a leak.
    """
    vars(config.pluginmanager.rewrite_hook).clear()


@pytest.fixture(scope="session")
def carried(pytestconfig: pytest.Config) -> dict[str, list[str]]:
    """The tests that carry each requirement, by its id."""
    return pytestconfig.stash[CARRIED]


@pytest.fixture(scope="session")
def whole_suite(pytestconfig: pytest.Config) -> bool:
    """Whether all test files were collected, so that a missing marker means a missing test."""
    return pytestconfig.stash[WHOLE]


@contextmanager
def _nothing_left_running() -> Iterator[None]:
    """Stop, last first, the actors that were started inside; fail if a thread stays that would keep a process alive."""
    actors = ActorRegistry.get_all()
    threads = set(threading.enumerate())
    yield
    for ref in reversed(ActorRegistry.get_all()):
        if ref not in actors:
            ref.stop(timeout=STOP_S)
    left = [thread for thread in threading.enumerate() if thread not in threads and not thread.daemon]
    for thread in left:
        thread.join(STOP_S)
    alive = [thread.name for thread in left if thread.is_alive()]
    assert not alive, f"threads left behind: {alive}"


@pytest.fixture(autouse=True, scope="session")
def _nothing_left_running_after_the_suite() -> Iterator[None]:
    with _nothing_left_running():
        yield


@pytest.fixture(autouse=True)
def _nothing_left_running_after_a_test() -> Iterator[None]:
    # Set up after fixtures of wider scope, so what those started stays until they end it.
    with _nothing_left_running():
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator["Server"]:
    """A PostgreSQL server for the whole run; a test that stops it starts it again."""
    from tests.postgres import running_server

    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def database(postgres: "Server") -> str:
    """A database for the tests of a module."""
    return postgres.new_database()


@pytest.fixture
def address(postgres: "Server", database: str) -> str:
    """The URL of the module's database, without a log."""
    postgres.execute("DROP SCHEMA IF EXISTS context_graph CASCADE", database)
    return postgres.url(database)
