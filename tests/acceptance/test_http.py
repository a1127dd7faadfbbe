"""`serve --http`, `key` and `ui` as a user runs them, and the Python client over the socket and over HTTP."""

import io
import json
import os
import pickle
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from uuid import uuid4

import pytest
from context_graph import AsyncMemory, ContextGraphError, Memory
from pydantic import validate_call
from typer.testing import CliRunner

from actors.cli.commands import program
from actors.proxy.client import Client
from tests.acceptance.conftest import COMMAND, PATIENCE, Open, serving

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the hub's socket is a unix socket")

EXAMPLES = Path(__file__).parent / "examples"
FACTS = ("Ilse waters the ferns on Sundays.", "The cellar key hangs behind the clock.")


def run(*arguments: str, fails: bool = False) -> str:
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


def run_key(folder: Path, *arguments: str, fails: bool = False) -> str:
    """Run a `key` command in this process."""
    done = CliRunner().invoke(program, ["key", *arguments, "--data", str(folder)])
    assert (done.exit_code != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


def create_key(folder: Path, *arguments: str) -> str:
    return run_key(folder, "create", *arguments).strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with serving(folder) as found:
        yield found


def test_a_program_that_started_a_hub_ends_without_a_warning(tmp_path: Path) -> None:
    program = (
        "import sys; from context_graph import Memory\nwith Memory(sys.argv[1]) as memory: print(memory.store('a'))"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-W", "always", "-c", program, str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
    finally:
        run("stop", "--data", str(tmp_path))
    assert "ResourceWarning" not in done.stderr


Opened = Callable[..., Memory]


@pytest.fixture(params=["socket", "http"])
def opened(request: pytest.FixtureRequest, folder: Path, url: str) -> Iterator[Opened]:
    """Open the store in one of both ways, in a namespace of this test."""
    memories: list[Memory] = []

    def by(namespace: str) -> Memory:
        if request.param == "socket":
            memories.append(Memory(folder, namespace=namespace))
        else:
            key = create_key(folder, namespace, "--scope", "write", "-n", namespace)
            memories.append(Memory(url=url, key=key, namespace=namespace))
        return memories[-1]

    yield by
    for memory in memories:
        memory.close()


def test_a_program_stores_finds_forgets_and_restores(opened: Opened, request: pytest.FixtureRequest) -> None:
    memory = opened(f"program-{request.node.callspec.params['opened']}")
    stored = [memory.store(fact, tags=["home"], rationale="as told") for fact in FACTS]
    found = memory.search("Where is the key of the cellar?", limit=1, tags=["home"])
    assert [(one.id, one.content) for one in found] == [(stored[1], FACTS[1])]
    assert memory.search("Where is the key of the cellar?", top_k=1, tags=["home"]) == found, "as the tool calls it"
    memory.forget(stored[1], reason="moved")
    assert FACTS[1] not in [one.content for one in memory.search("Where is the key of the cellar?")]
    memory.restore(stored[1])
    assert memory.get(stored[1])["state"] == "live"
    with pytest.raises(ContextGraphError, match="Content cannot be empty") as refused:
        memory.store("")
    assert refused.value.code == -32602


def test_a_text_is_one_tag_and_a_date_may_be_a_text(opened: Opened, request: pytest.FixtureRequest) -> None:
    memory = opened(f"tagged-{request.node.callspec.params['opened']}")
    moment = datetime(2026, 3, 9, 8, 30, tzinfo=UTC)
    for when, read in (
        ("2026-03-09T08:30:00Z", moment),
        (moment, moment),
        (date(2026, 3, 9), datetime(2026, 3, 9, tzinfo=UTC)),
    ):
        stored = memory.get(memory.store(f"Bo the dog was vaccinated, as noted {when}.", tags="dog", created_at=when))
        assert (stored["tags"], datetime.fromisoformat(stored["createdAt"])) == (["dog"], read)
    assert len(memory.search("vaccinated dog", tags="dog")) == 3
    assert memory.search("vaccinated dog", tags="d") == []
    assert len(memory.search("vaccinated dog", since=moment, until=moment)) == 2, "midnight is earlier"
    with pytest.raises(ContextGraphError, match="created_at"):
        memory.store("The cat was not.", created_at="last spring")


def test_a_time_without_a_zone_is_that_of_this_machine(
    opened: Opened, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(f"local-{request.node.callspec.params['opened']}")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        stored = memory.store("The ferry left late.", created_at=datetime(2026, 3, 9, 8, 30))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert memory.get(stored)["createdAt"] == "2026-03-09T08:30:00+09:00"


def test_a_closed_store_opens_no_connection_again(opened: Opened, request: pytest.FixtureRequest) -> None:
    memory = opened(f"closed-{request.node.callspec.params['opened']}")
    memory.store(FACTS[0])
    memory.close()
    for use in (memory.store, memory.search, memory.tools()[1]):
        with pytest.raises(RuntimeError, match="the store is closed: open another Memory"):
            use("ferns")
    memory.close()


def test_a_program_goes_on_after_its_hub_has_ended(data: Path) -> None:
    program = f"""
import subprocess
from context_graph import Memory

def stop():
    subprocess.run([{COMMAND!r}, "stop", "--data", {str(data)!r}], check=True, capture_output=True)

with Memory({str(data)!r}) as memory:
    for fact in {FACTS!r}:
        memory.store(fact)
        stop()
    print(len(memory.search("Where is the key of the cellar?")))
stop()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.stdout == "2\n", done.stderr


def test_a_program_goes_on_once_a_hub_can_start_again(data: Path) -> None:
    program = f"""
import os, subprocess
from context_graph import ContextGraphError, Memory
from pathlib import Path

folder = Path({str(data)!r})
os.chdir(folder.parent)
with Memory(folder.name) as memory:
    memory.store("A quay.")
    os.chdir("/")
    for _ in range(2):
        subprocess.run([{COMMAND!r}, "stop", "--data", folder], check=True, capture_output=True)
        (folder / "format").rename(folder / "kept")
        (folder / "format").write_text("999")
        try:
            memory.search("quay")
        except ContextGraphError as error:
            print(error.code)
        (folder / "kept").replace(folder / "format")
        print(memory.search("quay")[0].content)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    run("stop", "--data", str(data))
    assert done.stdout == "-32004\nA quay.\n" * 2, done.stderr


def test_a_call_is_answered_by_the_next_hub_where_its_own_is_killed(data: Path) -> None:
    program = f"""
from threading import Timer
from context_graph import Memory
from pathlib import Path
from tests.acceptance.conftest import killed_hub

items = [dict(content=f"Crate {{number}} holds lanterns.", rationale="counted") for number in range(40)]
with Memory({str(data)!r}) as memory:
    memory.store("A quay.")
    killing = Timer(0.05, killed_hub, [Path({str(data)!r})])
    killing.start()
    print(memory.call("memory_inject_batch", items=items)["succeeded"])
    killing.join()
    print(len([one for one in memory.search("lanterns", limit=100) if "Crate" in one.content]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    run("stop", "--data", str(data))
    assert done.stdout == "40\n40\n", done.stderr


def test_a_call_that_is_interrupted_leaves_no_answer_to_the_next(
    folder: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(io, "DEFAULT_BUFFER_SIZE", 8_192)  # as before Python 3.14: the answer comes in several parts
    with Memory(folder, namespace="interrupted") as memory:
        long = memory.store("The lighthouse keeper wrote down every ship. " * 1_000)
        memory.get(long)
        time_left, calls = Client._time_left, iter(range(9))

        def interrupt(client: Client) -> float:  # before each part of the answer that is read, after the first
            if next(calls) == 2:
                raise KeyboardInterrupt
            return time_left(client)

        with monkeypatch.context() as patched:
            patched.setattr(Client, "_time_left", interrupt)
            with pytest.raises(KeyboardInterrupt):
                memory.get(long)
        assert [one.id for one in memory.search("lighthouse keeper")] == [long]


def test_processes_that_fork_read_their_own_answers(data: Path) -> None:
    program = f"""
import os
from context_graph import Memory

memory = Memory({str(data)!r})
memory.store("The parent was here.")
children = []
for child in range(3):
    if not (pid := os.fork()):
        told = [f"Child {{child}} counts sheep number {{number}}." for number in range(20)]
        os._exit(any(memory.get(memory.store(text))["content"] != text for text in told))
    children.append(pid)
print([os.waitpid(pid, 0)[1] for pid in children], memory.search("parent", limit=1)[0].content)
memory.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    run("stop", "--data", str(data))
    assert done.stdout == "[0, 0, 0] The parent was here.\n", done.stderr


class _Strange(BaseHTTPRequestHandler):
    """A server whose answers are none: a stream that is cut off, and JSON of other shapes. The last one is one."""

    answers: ClassVar = [
        ("text/event-stream", ": no event\n\n"),
        ("text/event-stream", 'data: {"jsonrpc": "2.0", "id": 1, "resu'),
        ("application/json", '["none"]'),
        ("application/json", '{"result": 1}'),
        ("application/json", '{"result": {"structuredContent": 1}}'),
        ("application/json", '{"result": {"isError": true}}'),
        ("application/json", '{"error": {"message": 1}}'),
        ("text/html", ""),
        (
            "text/event-stream",
            ': ping\r\n\r\ndata: {"result": {"structuredContent": {"content": "a\u2028b\u0085data: c"}}}\r\n\r\n',
        ),
    ]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        kind, body = self.answers[int(self.path[1])]
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def strange() -> Iterator[str]:
    """The URL of a `_Strange` server, to which the number of its answer is added."""
    with HTTPServer(("127.0.0.1", 0), _Strange) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_an_answer_that_is_none_is_told_as_the_client_s_own_error(strange: str) -> None:
    for number in range(len(_Strange.answers) - 1):
        refused = pytest.raises(ContextGraphError, match="the server answered")
        with Memory(url=f"{strange}/{number}", key="cg_a_b") as memory, refused:
            memory.search("anything")


def test_a_streamed_answer_may_hold_the_line_separators_of_unicode(strange: str) -> None:
    with Memory(url=f"{strange}/{len(_Strange.answers) - 1}", key="cg_a_b") as memory:
        assert memory.get("any") == {"content": "a\u2028b\u0085data: c"}


@pytest.mark.parametrize("arguments", [{"url": "http://127.0.0.1:1"}, {"key": "cg_a_b"}])
def test_a_key_and_a_url_belong_together(arguments: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="both"):
        Memory(**arguments)  # pyright: ignore[reportArgumentType]


def test_an_empty_name_of_a_folder_is_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="data is empty"):
        Memory("")
    assert not list(tmp_path.iterdir())


def test_a_key_may_come_with_the_end_of_its_line_and_is_never_shown(folder: Path, url: str) -> None:
    key = create_key(folder, "from-a-file", "--scope", "read", "-n", "*")
    with Memory(url=url, key=f"{key}\n") as memory:
        memory.search("anything")
    for wrong in (f"{key}\nx", "cg_…"):
        with pytest.raises(ValueError, match="key has characters") as refused:
            Memory(url=url, key=wrong)
        assert wrong not in str(refused.value)


def test_an_error_comes_back_from_another_process(opened: Opened) -> None:
    with pytest.raises(ContextGraphError) as refused:
        opened("pickled").store("")
    error = pickle.loads(pickle.dumps(refused.value))  # noqa: S301 -- as `multiprocessing` does
    assert (str(error), error.code, error.data) == ("Content cannot be empty", -32602, refused.value.data)


def test_what_a_memory_corrects_and_follows_may_be_one_id(opened: Opened, request: pytest.FixtureRequest) -> None:
    memory = opened(f"corrected-{request.node.callspec.params['opened']}")
    first = memory.store("The ferry leaves at nine.")
    noted = memory.store("The ferry is late in winter.", link_to=first)
    second = memory.store("The ferry leaves at ten, not at nine.", supersedes=first)
    third = memory.store("The ferry leaves at eleven, not at ten.", supersedes=[second], link_to=[noted])
    assert (memory.get(second)["supersedes"], memory.get(third)["supersedes"]) == ([first], [second])
    assert (memory.get(noted)["links"], memory.get(third)["links"]) == ([first], [noted])


@pytest.mark.parametrize("end", ["", "/", "/mcp", "/mcp/"])
def test_an_invalid_key_is_told_as_one(url: str, end: str) -> None:
    told = pytest.raises(ContextGraphError, match="the key is unknown, revoked or expired")
    with Memory(url=f"{url}{end}", key="cg_no_key") as memory, told as refused:
        memory.search("anything")
    assert refused.value.code == -32003


def test_a_tool_that_does_not_exist_has_one_code_on_both_ways(opened: Opened) -> None:
    with pytest.raises(ContextGraphError, match="no_such_tool") as refused:
        opened("codes").call("no_such_tool")
    assert refused.value.code == -32601


def test_the_tools_of_an_agent_framework_are_made_of_typed_functions_with_docstrings(opened: Opened) -> None:
    """Frameworks call a function by JSON arguments that they validated by its signature, as pydantic does here."""
    memory = opened(f"agent-{os.urandom(4).hex()}")
    tools = {function.__name__: validate_call(function) for function in memory.tools()}
    assert all(function.__doc__ and "Args:" in function.__doc__ for function in memory.tools())
    stored = tools["remember"](**json.loads('{"content": "The vet is Dr. Ahrens.", "reason": "asked for often"}'))
    assert tools["recall"](**json.loads('{"question": "Who is the vet?", "limit": "1"}')) == [
        f"{stored}: The vet is Dr. Ahrens."
    ]
    assert stored in tools["forget_memory"](memory_id=stored, reason="changed")
    assert tools["recall"](question="Who is the vet?") == []


def test_an_agent_is_told_what_is_wrong_with_its_arguments_and_goes_on(opened: Opened) -> None:
    remember, recall, forget = opened("mistaken").tools()
    assert "cannot be empty" in remember("", reason="asked for often")
    assert "100" in recall("Who is the vet?", limit=500)
    assert "not a full id" in forget("the vet", reason="changed")
    assert "not found" in forget(str(uuid4()), reason="changed")
    with Memory(url="http://127.0.0.1:1", key="cg_a_b") as away, pytest.raises(ContextGraphError, match="be reached"):
        away.tools()[1]("Who is the vet?")


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*_agent.py")), ids=lambda path: path.stem)
def test_an_agent_of_a_framework_remembers_and_recalls(folder: Path, url: str, example: Path) -> None:
    name = example.stem.replace("_", "-")
    key = create_key(folder, name, "--scope", "write", "-n", name)
    nowhere = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY"), "http://127.0.0.1:9") | {"NO_PROXY": "127.0.0.1"}
    command = [sys.executable, str(example), url, key]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=os.environ | nowhere
    )
    assert done.returncode == 0, done.stderr
    assert "The vet is Dr. Ahrens." in done.stdout.splitlines()[-1]


@pytest.mark.anyio
async def test_an_event_loop_uses_the_same_store(folder: Path, url: str) -> None:
    async with AsyncMemory(folder, namespace="loop") as memory:
        stored = await memory.store("The tide turns at noon.")
        assert [one.id for one in await memory.search("When does the tide turn?")] == [stored]
        assert (await memory.get(memory=stored))["namespace"] == "loop"
    with pytest.raises(RuntimeError, match="the store is closed"):
        await memory.search("When does the tide turn?")


def test_keys_are_listed_with_their_last_use_and_revoked_at_once(folder: Path, url: str) -> None:
    key = create_key(folder, "visitor", "-n", "guests", "--expires", "30d")
    with Memory(url=url, key=key) as memory:
        assert memory.search("anything") == []
        run_key(folder, "revoke", "visitor")
        with pytest.raises(ContextGraphError, match="the key is unknown, revoked or expired"):
            memory.search("anything")
    listed: list[dict[str, Any]] = json.loads(run_key(folder, "list", "--json"))["keys"]
    (found,) = (one for one in listed if one["name"] == "visitor")
    assert (found["scope"], found["namespaces"], found["valid"]) == ("read", ["guests"], False)
    assert found["last_used_at"]
    assert key not in json.dumps(listed)
    shown = next(line for line in run_key(folder, "list").splitlines() if line.startswith("visitor"))
    assert re.search(r", until \d{4}-\d\d-\d\d \d\d:\d\d; last used: \d{4}-\d\d-\d\d \d\d:\d\d\Z", shown)


def test_a_key_must_say_what_it_sees(folder: Path) -> None:
    assert "namespace" in run_key(folder, "create", "blind", fails=True)


def test_the_link_of_ui_logs_in_once_to_a_hub_that_an_agent_started(data: Path, window: Open) -> None:
    window().initialize()
    link = run("ui", "--no-open", "--data", str(data)).strip()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(link, timeout=PATIENCE) as page:
        assert page.status == 200
    with pytest.raises(urllib.error.HTTPError, match="403") as refused:
        urllib.request.urlopen(link, timeout=PATIENCE)
    refused.value.close()
    run("stop", "--data", str(data))  # which otherwise goes on for the browser


def test_an_address_that_cannot_be_used_is_told_in_one_sentence(folder: Path, tmp_path: Path, url: str) -> None:
    port = url.rpartition(":")[2]
    said = run("serve", "--http", f"127.0.0.1:{port}", "--data", str(tmp_path), fails=True)
    assert len(said.strip().splitlines()) == 1
    assert said.endswith("can't be listened on: Address already in use\n")
    assert not (tmp_path / "log.duckdb").exists(), "the store isn't opened first, which takes seconds"
    assert "--behind-proxy" in run("serve", "--http", "0.0.0.0:0", "--data", str(tmp_path), fails=True)
    keyless = run("serve", "--http", "0.0.0.0:0", "--behind-proxy", "--data", str(tmp_path), fails=True)
    assert "context-graph key create --data" in keyless
    assert " NAME -n PROJECT" in keyless
