"""The benchmark of peers on servers made for the test: what is stored, asked, killed, judged and skipped."""

import json
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from benchmarks.datasets import Document
from benchmarks.peers import environments
from benchmarks.peers.client import Answer, Call
from benchmarks.peers.command import Result, compare, judge, tables
from benchmarks.peers.measurement import Conversation, Durability, Measurement, Mode, Question, sample, score
from benchmarks.peers.systems import AGENTRECALL, OFFICIAL, OURS, SERVICE, System
from mcp import StdioServerParameters
from rich.console import Console
from rich.progress import Progress
from typer import BadParameter

from tests.benchmarks.datasets import stream, write

pytestmark = pytest.mark.benchmarks

SERVER = """
import json, pathlib, sys
file, message, durable = pathlib.Path(sys.argv[1], "kept"), sys.argv[2], sys.argv[3] == "durable"
print(message, file=sys.stderr, flush=True)
texts = file.read_text().splitlines() if file.exists() else []
unwritten = []
tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("store", "search")]

def write():
    with file.open("a") as kept:
        kept.writelines(text + "\\n" for text in unwritten)
    unwritten.clear()

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    params = message.get("params", {})
    text = params.get("arguments", {}).get("text", "")
    if params.get("name") == "store":
        texts.append(text)
        unwritten.append(text)
        if durable:
            write()
    else:
        text = "\\n".join(one for one in texts if text in one)
    result = {"content": [{"type": "text", "text": text}], "tools": tools}
    if message["method"] == "initialize":
        name = {"name": "peer", "version": "1"}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {}, "serverInfo": name}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
write()
"""
"""A server that names memories by their text and finds what contains the query; unless durable, it writes at exit."""


def peer(*arguments: str, name: str = "peer", program: str = SERVER) -> System:
    return System(
        name=name,
        modes=("contained",),
        filters=True,
        start=lambda _cache, store: StdioServerParameters(
            command=sys.executable, args=["-c", program, str(store), *arguments]
        ),
        store=lambda turn: Call("store", {"text": turn.text}),
        search=lambda question, _mode: [Call("search", {"text": question.text})],
        read=lambda _references: [Call("search", {"text": ""})],
        references=lambda answers: [line for answer in answers for line in answer.text.splitlines()],
        degraded="only by letters",
    )


def compared(tmp_path: Path, *systems: System) -> dict[str, Result | str]:
    turns = [Document(id=str(number), text=f"the word{number:02} is said") for number in range(60)]
    questions = [Question(Document(id="q", text="word07"), frozenset({"the word07 is said"}))]
    with Progress(disable=True) as bar:
        return dict(compare(systems, tmp_path / "cache", tmp_path, [Conversation(turns, questions)], bar))


def shown(results: dict[str, Result | str]) -> str:
    written = StringIO()
    for table in tables(results):
        Console(width=120, file=written).print(table)
    return written.getvalue()


def test_a_hit_is_evidence_among_the_first_results_and_recall_its_share_among_ten() -> None:
    ranked = [f"turn {number}" for number in range(20)]
    assert score(ranked, frozenset({"turn 0"})) == {"hit@1": 1, "hit@5": 1, "hit@10": 1, "recall@10": 1}
    assert score(ranked, frozenset({"turn 4", "turn 10"})) == {"hit@1": 0, "hit@5": 1, "hit@10": 1, "recall@10": 0.5}
    assert set(score([], frozenset({"turn 0"})).values()) == {0}


def test_every_servers_answers_name_memories_alike_when_they_store_search_and_read() -> None:
    digest, other = "d2" * 32, "06" * 32
    stored = Answer(f"Memory stored successfully (hash: {digest})")
    searched = Answer(f"Found 2\n\n1. Ana: yes\n   Hash: {digest}\n\n2. Ben: no\n   Hash: {other}\n   Created: now")
    listed = Answer(json.dumps({"memories": [{"content": "Ana: yes", "content_hash": digest}]}, indent=2))
    assert [SERVICE.references([one]) for one in (stored, searched, listed)] == [[digest], [digest, other], [digest]]
    record = {"id": 7, "content": "Ana: yes"}
    assert AGENTRECALL.references([Answer(json.dumps(record))]) == ["7"]
    assert AGENTRECALL.references([Answer("", {"result": [{"id": 9}, record]})]) == ["9", "7"]
    assert OURS.references([Answer("", {"fingerprintId": "f"})]) == ["f"]
    assert OURS.references([Answer("", {"id": "f"}), Answer("", {"id": "g"})]) == ["f", "g"]
    entities = [
        Answer("", {"entities": [{"name": name} for name in names]}) for names in (["1", "2"], ["3", "2"], ["2", "3"])
    ]
    assert OFFICIAL.references(entities) == ["2", "3", "1"]


def test_only_questions_whose_evidence_was_stored_are_asked(tmp_path: Path) -> None:
    folder = write(tmp_path / "set", stream())
    bread, bees = sample(folder, turns=12, questions=10)  # whole conversations first, then the beginning of one
    assert [(len(one.turns), len(one.questions)) for one in (bread, bees)] == [(3, 0), (9, 1)]
    with pytest.raises(BadParameter, match="no question whose evidence"):
        sample(folder, turns=11, questions=10)


def test_a_server_is_filled_asked_killed_and_read_again(tmp_path: Path) -> None:
    results = compared(tmp_path, peer("all is well", "durable"), peer("all is well", "lazy", name="lazy"))
    durable, lazy = results["peer"], results["lazy"]
    assert isinstance(durable, Result)
    assert isinstance(lazy, Result)
    assert durable.measured.modes[0].figures == {"hit@1": 1, "hit@5": 1, "hit@10": 1, "recall@10": 1}
    assert durable.kept == Durability(acknowledged=60, refused=0, kept=60)
    assert lazy.kept == Durability(acknowledged=60, refused=0, kept=0)  # so it was killed before its orderly end
    assert durable.measured.resident_mb > 0


def test_a_server_that_searches_by_less_than_configured_is_marked(tmp_path: Path) -> None:
    assert "contained (only by letters)" in shown(compared(tmp_path, peer("no model: only by letters", "durable")))


def test_an_unavailable_server_is_skipped_with_the_last_line_of_its_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Any:
        environments.run([sys.executable, "-c", "import sys; print('collecting'); sys.exit('ERROR: no such version')"])

    monkeypatch.setattr("benchmarks.peers.systems.python_environment", fail)
    broken = peer(program="import sys; print('loading', file=sys.stderr); sys.exit('there is no model here')")
    results = compared(tmp_path, broken, AGENTRECALL)
    assert results == {"peer": "there is no model here", AGENTRECALL.name: "ERROR: no such version"}
    assert "skipped: there is no model here" in shown(results)


def result(hit: float, kept: int = 60) -> Result:
    figures = {"hit@1": hit, "hit@5": hit, "hit@10": hit, "recall@10": hit}
    times = {"median": 1.0, "p95": 2.0}
    measured = Measurement(
        modes=[Mode("auto", figures, times)], store_ms=times, refused=0, resident_mb=1, disk_mb=1, degraded=""
    )
    return Result(measured, Durability(acknowledged=60, refused=0, kept=kept))


@pytest.mark.parametrize(
    ("ours", "theirs", "holds"),
    [
        (result(0.6), result(0.5), [True, True]),
        (result(0.6), result(0.6), [False, True]),
        (result(0.6), "not to be had", [False, True]),
        (result(0.6, kept=59), result(0.5), [True, False]),
        ("it doesn't start", result(0.5), [False]),
    ],
)
def test_leading_takes_a_peer_that_ran_and_no_acknowledged_write_lost(
    ours: Result | str, theirs: Result | str, holds: list[bool]
) -> None:
    assert [one.holds for one in judge({OURS.name: ours, "peer": theirs})] == holds
