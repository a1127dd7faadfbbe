"""What goes wrong around a store: each fault has one clear answer, and what was acknowledged survives it."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from actors.embedder.models.backbone import PACKAGE, package_folder
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import open_hub, start_hub
from actors.proxy.endpoint import HUB_INFO, SOCKET, read_hub_info
from actors.proxy.launcher import LOCK, LOG, MAX_LOG
from actors.store.messages import ReadHistory, ReadStatus, TakeSnapshot
from events.storage.database import DATABASE
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import LogError
from tests.acceptance.conftest import COMMAND, LINGER, PATIENCE, Open, Server, hubs, refused, stored
from tests.actors.api.stream import Mind
from tests.actors.cli.conftest import run_json
from tests.actors.conftest import loaded
from tests.sampling import sampled

WAL = "log.duckdb.wal"
HELLO = "hello"
"""Stored in every folder that a test begins with, the last one only in the WAL."""

UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
MB = 2**20

Damage = Callable[[Path], object]


class Template(NamedTuple):
    """A store with a snapshot, after which its server was killed."""

    folder: Path
    memories: tuple[UUID, ...]

    def at(self, folder: Path) -> Path:
        shutil.copytree(self.folder, folder)
        return folder


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    folder = tmp_path_factory.mktemp("template") / "data"
    memories: list[UUID] = []

    def store(server: Server) -> None:
        server.initialize()
        answer = server.call("store_memory", content=f"{HELLO} {len(memories)}")
        memories.append(UUID(answer["structuredContent"]["fingerprintId"]))

    first = Server(folder)
    store(first)
    first.close()
    with open_hub(folder) as hub:
        hub.replayed.get(timeout=PATIENCE)
        assert hub.store.ask(TakeSnapshot(after=1), timeout=PATIENCE)
    second = Server(folder)
    store(second)
    second.kill()
    for name in (SOCKET, HUB_INFO):
        (folder / name).unlink()
    return Template(folder, tuple(memories))


@pytest.fixture
def store(template: Template, data: Path) -> Path:
    """The folder of the fixtures `data` and `window`, with a store in it."""
    return template.at(data)


def contents(server: Server, template: Template) -> list[str]:
    return [server.request("memory/retrieve", id=str(id_))["result"]["content"] for id_ in template.memories]


def remembered(folder: Path, template: Template) -> bool:
    """Open a store that nobody serves; return whether all memories are in it."""
    with open_hub(folder) as hub:
        hub.replayed.get(timeout=PATIENCE)
        found: list[Any] = [hub.store.ask(ReadHistory(memory=id_))[0] for id_ in template.memories]
    return [envelope.id for envelope in found] == [*template.memories]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ── the disk ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 72 MB of its own, of which a store leaves 64 alone."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=72m", "tmpfs", str(folder)]
    if (
        os.geteuid()
        or shutil.which("mount") is None
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("mounting a disk of a chosen size needs root and `mount`")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_on_a_full_disk_nothing_is_stored_searches_go_on_and_with_room_so_do_stores(disk: Path) -> None:
    with closing(Server(disk / "data")) as server:
        server.initialize()
        memory = server.call("store_memory", content=HELLO)["structuredContent"]["fingerprintId"]
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(8 << 20))
        before = server.request("store/status")["result"]["log"]
        for method, arguments in (
            ("memory/store", {"content": "no room"}),
            ("context/inject", {"content": "no room", "rationale": "none"}),
            ("memory/consolidate", {"mode": "light"}),
        ):
            error = server.request(method, **arguments)["error"]
            assert (error["code"], "the disk is full" in error["message"]) == (-32004, True), method
        results = server.request("search/graph", query=HELLO)["result"]["results"]
        assert [found["fingerprintId"] for found in results] == [memory]
        assert server.request("store/status")["result"]["log"] == before
        ballast.unlink()
        server.call("store_memory", content="there is room")
        assert stored(server) == 2


def test_a_read_only_disk_is_reported_in_one_sentence(disk: Path, template: Template) -> None:
    store = template.at(disk / "data")
    before = files(store)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    assert f"{store} can't be written to" in told_alone(store)
    assert str(store) in refused(store)
    assert files(store) == before


def test_with_a_limit_of_the_size_of_files_nothing_is_stored_searches_go_on_and_without_it_so_do_stores(
    data: Path,
) -> None:
    memory = run_json(data, "store", HELLO)["fingerprintId"]
    limit = (data / DATABASE).stat().st_size + MB
    with closing(Server(data, through=("prlimit", f"--fsize={limit}"))) as server:
        server.initialize()
        for method, arguments in (
            ("memory/store", {"content": "no room"}),
            ("context/inject", {"content": "no room", "rationale": "none"}),
        ):
            error = server.request(method, **arguments)["error"]
            assert (error["code"], "the disk is full" in error["message"]) == (-32004, True), method
        results = server.request("search/graph", query=HELLO)["result"]["results"]
        assert [found["fingerprintId"] for found in results] == [memory]
    run_json(data, "store", "there is room")
    assert run_json(data, "status")["memories"]["live"] == 2


def test_a_store_that_could_not_be_created_is_created_once_there_is_room(tmp_path: Path) -> None:
    store = [COMMAND, "store", HELLO, "--no-hub", "--data", str(tmp_path / "new")]
    full = subprocess.run(["prlimit", "--fsize=4096", *store], capture_output=True, text=True, check=False)
    assert (full.returncode, "File too large" in full.stderr) == (1, True)
    subprocess.run(store, capture_output=True, timeout=PATIENCE, check=True)


def test_a_write_that_fails_in_the_middle_ends_the_hub_but_is_answered_and_loses_nothing(
    window: Open, data: Path
) -> None:
    server = window().greeted()
    ids = [server.call("store_memory", content=HELLO)["structuredContent"]["fingerprintId"]]
    (hub,) = hubs(data)
    with limited_files(data, hub, server.process.pid):  # the next hub inherits it of the pipe
        error = server.request("memory/store", content="too much " * 1_000)["error"]  # the room for it was tried before
        assert error["code"] == -32004
        assert "the disk is full" in error["message"]
        assert (data / LOG).read_text().count("CRITICAL a commit failed with an unknown outcome") == 1
        assert server.request("memory/retrieve", id=ids[0])["result"]["content"] == HELLO
        (after,) = hubs(data)
        assert after != hub
    resource.prlimit(after, resource.RLIMIT_FSIZE, UNLIMITED)
    ids.append(server.call("store_memory", content="there is room")["structuredContent"]["fingerprintId"])
    assert stored(server) == 2
    assert server.request("store/verify")["result"]["sound"]


@contextmanager
def limited_files(data: Path, *processes: int) -> Iterator[None]:
    """Let no file of these processes become more than 1,000 bytes longer than the write-ahead log is."""
    room = (data / WAL).stat().st_size + 1_000
    for process in processes:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    yield
    for process in processes:
        with suppress(ProcessLookupError):  # the first one ended
            resource.prlimit(process, resource.RLIMIT_FSIZE, UNLIMITED)


# ── the folder ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def unprivileged() -> tuple[str, ...]:
    """What a command line begins with so that modes of files hold for root too."""
    if os.geteuid():
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root passes over modes of files, and `setpriv`, which forbids that, is missing")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


@pytest.mark.parametrize("options", [(), pytest.param(("--standalone",), marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "mode"), [(".", 0o500), (".", 0o000), ("log.duckdb", 0o400), ("keys", 0o000)])
def test_a_folder_or_file_without_write_permission_is_reported_in_one_sentence(
    store: Path, unprivileged: tuple[str, ...], name: str, mode: int, options: tuple[str, ...]
) -> None:
    before = files(store)
    (store / name).chmod(mode)
    try:
        line = (told_alone if options else refused)(store, through=unprivileged)
    finally:
        (store / name).chmod(0o700)
    assert str(store) in line
    assert "denied" in line.lower() or "can't be written to" in line
    assert {path: data for path, data in files(store).items() if path not in (LOCK, LOG)} == before


def test_in_a_folder_in_which_others_may_write_no_link_of_theirs_is_followed(tmp_path: Path) -> None:
    folder, mine, new = tmp_path / "store", tmp_path / "mine", tmp_path / "new"
    folder.mkdir()
    folder.chmod(0o777)
    mine.write_bytes(bytes(MAX_LOG + 1))
    (folder / LOG).symlink_to(mine)
    (folder / LOCK).symlink_to(new)
    assert f"chmod go-w {folder}" in refused(folder)
    assert mine.stat().st_size == MAX_LOG + 1
    assert not new.exists()


@pytest.mark.parametrize("command", ["store", "search"])
def test_a_command_names_the_folder_that_its_user_may_not_enter(
    store: Path, unprivileged: tuple[str, ...], command: str
) -> None:
    store.chmod(0o000)
    try:
        asked = [*unprivileged, COMMAND, command, "a sentence", "--data", str(store)]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE, check=False)
    finally:
        store.chmod(0o700)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert f"Permission denied: {store}" in line


def test_doctor_finds_no_fault_but_that_of_a_folder_that_its_user_may_not_enter(
    store: Path, unprivileged: tuple[str, ...]
) -> None:
    store.chmod(0o000)
    try:
        asked = [*unprivileged, COMMAND, "doctor", "--json", "--data", str(store)]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE, check=False)
    finally:
        store.chmod(0o700)
    failed = {
        check["name"]: check["found"] for check in json.loads(done.stdout)["checks"] if check["verdict"] == "failed"
    }
    assert failed == {"folder": f"{store} is no folder that this user can write to"}


@pytest.fixture
def shut_off(tmp_path: Path) -> Iterator[Path]:
    """A folder that doesn't exist, in one inside of a folder that nobody may enter."""
    closed = tmp_path / "closed"
    (closed / "deep").mkdir(parents=True)
    closed.chmod(0o000)
    yield closed / "deep" / "store"
    closed.chmod(0o700)


def test_doctor_tells_of_a_folder_in_one_that_its_user_may_not_enter(
    shut_off: Path, tmp_path: Path, unprivileged: tuple[str, ...]
) -> None:
    link = tmp_path / "link"
    link.symlink_to(shut_off)
    for folder in (shut_off, link):
        asked = [*unprivileged, COMMAND, "doctor", "--json", "--data", str(folder)]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE, check=False)
        checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        assert (checks["folder"]["verdict"], str(folder) in checks["folder"]["found"]) == ("failed", True)


def test_a_session_of_a_project_is_told_of_a_folder_in_one_that_its_user_may_not_enter(
    shut_off: Path, tmp_path: Path, unprivileged: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CONTEXT_GRAPH_NAMESPACE", raising=False)
    (tmp_path / "project" / ".git").mkdir(parents=True)
    done = subprocess.run(
        [*unprivileged, COMMAND, "serve", "--data", str(shut_off)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=tmp_path / "project",
    )
    (line,) = done.stderr.splitlines()
    assert (done.returncode, str(shut_off) in line, "Permission denied" in line) == (1, True, True)


def told_alone(folder: Path, *, through: tuple[str, ...] = (), **environment: str) -> str:
    """Serve alone; return the one line with which it refuses to."""
    done = subprocess.run(
        [*through, COMMAND, "serve", "--standalone", "--data", str(folder)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=os.environ | environment,
    )
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("context-graph: ")
    return line


# ── files turned into something else ────────────────────────────────────────────────────────────────


def garbage(path: Path) -> None:
    path.write_bytes(os.urandom(max(path.stat().st_size, 1_000) if path.exists() else 4_000))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if path.exists() else b"{")


def folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def gone(path: Path) -> None:
    path.unlink(missing_ok=True)


DAMAGES = (garbage, empty, half, folder, gone)


@pytest.mark.parametrize("damage", DAMAGES)
@sampled("name", ["log.duckdb", WAL, "head", "keys"], every=2)
def test_a_store_with_a_damaged_file_is_read_only_or_refused_by_a_sentence_and_left_as_it_is(
    template: Template, tmp_path: Path, name: str, damage: Damage
) -> None:
    store = template.at(tmp_path / "data")
    damage(store / name)
    before = files(store)
    if (name, damage) == ("head", half):  # the other of its two slots is whole
        assert remembered(store, template)
        return
    try:
        with open_hub(store) as hub:
            hub.replayed.get(timeout=PATIENCE)
            sentence = hub.store.ask(ReadStatus(), timeout=PATIENCE).read_only
    except LogError as error:
        sentence = str(error)
        assert name == "log.duckdb" or damage is folder or (name, damage) == ("keys", garbage), "more can be read"
    assert "\n" not in sentence
    assert re.search({WAL: f"{WAL}|events are missing", "keys": "key"}.get(name, name), sentence), sentence
    # What is empty tells nothing, whether it is there or not.
    disposable = ("snapshot", "latencies.json")
    assert telling(files(store), disposable) == telling(before, disposable)


def telling(found: dict[str, bytes], disposable: tuple[str, ...]) -> dict[str, bytes]:
    return {path: data for path, data in found.items() if data and not path.startswith(disposable)}


def disposable_files(template: Template) -> list[str]:
    parts = [str(path.relative_to(template.folder)) for path in (template.folder / "snapshot").rglob("*")]
    return ["latencies.json", "snapshot", *(part for part in parts if (template.folder / part).is_file())]


def test_a_store_whose_disposable_files_are_damaged_has_all_its_memories(template: Template, tmp_path: Path) -> None:
    for name in disposable_files(template):
        for damage in DAMAGES:
            store = template.at(tmp_path / f"{name.replace('/', '-')}-{damage.__name__}")
            if name == "snapshot":
                shutil.rmtree(store / name)
            damage(store / name)
            assert remembered(store, template), store
            shutil.rmtree(store)


@sampled("name", [SOCKET, HUB_INFO, LOCK, LOG], every=2)
def test_a_folder_in_place_of_a_file_of_the_hub_is_named(store: Path, template: Template, name: str) -> None:
    (store / name).mkdir()
    assert str(store / name) in refused(store)
    (store / name).rmdir()
    assert remembered(store, template)


def test_a_hub_replaces_its_disposable_files_when_they_are_damaged(
    window: Open, store: Path, template: Template
) -> None:
    for name in (HUB_INFO, LOCK, "latencies.json"):
        garbage(store / name)
    (store / LOG).write_bytes(os.urandom(2 * MAX_LOG))
    server = window().greeted()
    assert contents(server, template) == [f"{HELLO} 0", f"{HELLO} 1"]
    assert read_hub_info(store)
    assert (store / LOG).stat().st_size < MAX_LOG


def test_damaged_keys_are_reported_and_no_memory_is_taken_for_erased(
    window: Open, store: Path, template: Template
) -> None:
    garbage(store / "keys")
    server = window().greeted()
    error = server.request("memory/retrieve", id=str(template.memories[0]))["error"]
    assert error["code"] == -32004
    assert "lost, because the store was damaged: " in error["message"]
    assert "the keys have lost the chain key" in server.request("store/status")["result"]["read_only"]


# ── models, passphrases, time ───────────────────────────────────────────────────────────────────────


def test_with_damaged_models_operations_that_need_none_still_work(
    window: Open, template: Template, data: Path, tmp_path: Path
) -> None:
    template.at(data)
    package = tmp_path / "packages" / PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    shutil.copytree(package_folder(), package / "model")
    weights = max((package / "model").iterdir(), key=lambda path: path.stat().st_size)
    with weights.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    server = window(environment={"PYTHONPATH": str(package.parent)}).greeted()
    for method, arguments in (("memory/store", {"content": HELLO}), ("search/graph", {"query": HELLO})):
        error = server.request(method, **arguments)["error"]
        assert error["code"] == -32005
        assert weights.name in error["message"]
        assert "SHA-256" in error["message"]
    assert contents(server, template) == [f"{HELLO} 0", f"{HELLO} 1"]
    assert server.request("audit/trail", memory_id=str(template.memories[0]))["result"]["events"]
    assert server.request("store/verify")["result"]["sound"]


@sampled(
    ("environment", "told"),
    [
        ({}, "the keys are behind a passphrase, and none was given"),
        ({"CONTEXT_GRAPH_PASSPHRASE": "open sesame"}, "the passphrase is wrong"),
        ({"CONTEXT_GRAPH_PASSPHRASE_FILE": "/nowhere"}, "No such file or directory: '/nowhere'"),
        ({"CONTEXT_GRAPH_PASSPHRASE_FILE": "binary"}, "no text in UTF-8: "),
    ],
    every=2,
)
def test_without_its_passphrase_a_store_is_not_served_and_the_reason_told(
    data: Path, environment: dict[str, str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    DuckDBLog(data, "xyzzy").close()
    (data / "binary").write_bytes(b"\xff\xfe\xfd")
    monkeypatch.chdir(data)
    before = files(data)
    assert told in refused(data, environment=environment)
    assert {path: content for path, content in files(data).items() if path in before} == before


def test_the_file_of_the_passphrase_is_looked_for_where_the_server_was_started(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    DuckDBLog(data, "xyzzy").close()
    (data.parent / "secret").write_text("xyzzy\n")
    monkeypatch.chdir(data.parent)
    server = Server(data, *LINGER, environment={"CONTEXT_GRAPH_PASSPHRASE_FILE": "secret"})
    try:
        assert stored(server.greeted()) == 0
    finally:
        server.kill()


def numbers(answer: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield each number in an answer with the name of its field."""
    if isinstance(answer, dict):
        for key, value in answer.items():
            yield from numbers(value, key)
    elif isinstance(answer, list):
        for value in answer:
            yield from numbers(value, name)
    elif isinstance(answer, int | float) and not isinstance(answer, bool):
        yield name, answer


@pytest.mark.anyio
async def test_a_clock_that_goes_backwards_loses_and_reorders_nothing(tmp_path: Path, profile: EmbeddedProfile) -> None:
    noon = datetime(2026, 6, 1, 12, tzinfo=UTC)
    now = [noon]
    with start_hub(DuckDBLog(tmp_path), tmp_path, loaded(profile), clock=lambda: now[0]) as hub:
        mind = Mind(hub)
        first = await mind("store_memory", content="Rosa waters the garden on Mondays.", session="s")
        after_first = hub.log.head.seq
        now[0] = noon - timedelta(days=30)
        second = await mind("store_memory", content="Rosa waters the garden on Fridays.", session="s")
        ids = {first["fingerprintId"], second["fingerprintId"]}
        answers = [await mind("search_graph", query="When does Rosa water the garden?")]
        assert {found["fingerprintId"] for found in answers[0]["results"]} == ids
        for hours in (0, -48, 24, -1_000):
            now[0] += timedelta(hours=hours)
            answers += [await mind("consolidate_memories", mode=mode) for mode in ("light", "deep", "rem")]
            answers += [await mind("discover_goals"), await mind("get_alignment_drift")]
            answers += [await mind("get_pruning_candidates"), await mind("get_consciousness_state")]
            answers += [await mind("audit_trail"), await mind("get_dream_status")]
        for answer in answers:
            for name, number in numbers(answer):
                if any(word in name.lower() for word in ("age", "duration", "ms", "seconds", "days", "hours")):
                    assert number >= 0, (name, number)
        assert hub.log.seq_at(noon - timedelta(days=30)) > after_first
        then = await mind("search_graph", query="Rosa", as_of=(noon - timedelta(days=30)).isoformat())
        assert {found["fingerprintId"] for found in then["results"]} == ids, (
            "the last event at or before it stands after both"
        )


# ── signals ─────────────────────────────────────────────────────────────────────────────────────────


@sampled("number", [signal.SIGTERM, signal.SIGINT], every=2)
def test_a_standalone_server_that_is_told_to_end_does_so_though_its_input_stays_open(
    tmp_path: Path, number: signal.Signals
) -> None:
    process = subprocess.Popen(
        [COMMAND, "serve", "--standalone", "--data", str(tmp_path / "data")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.send_signal(number)
    assert process.wait(timeout=PATIENCE) == 0
    assert process.stderr
    assert process.stderr.read() == b""
    assert not (tmp_path / "data" / SOCKET).exists()
    process.communicate()


def test_a_sleep_during_which_the_hub_is_told_to_end_is_answered_by_the_next_one(window: Open, store: Path) -> None:
    server = window().greeted()
    (hub,) = hubs(store)
    server.send(json.dumps({"jsonrpc": "2.0", "id": 9, "method": "memory/consolidate", "params": {"mode": "deep"}}))
    os.kill(hub, signal.SIGTERM)
    answer = server.receive()
    assert (answer["id"], "result" in answer) == (9, True)
    runs = server.request("memory/consolidations")["result"]["runs"]
    assert [run["run_id"] for run in runs] == [answer["result"]["run_id"]]
    assert hubs(store) != [hub]
    assert server.request("store/verify")["result"]["sound"]
