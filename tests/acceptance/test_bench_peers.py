"""The benchmark of peers: what is told and asked, how answers are judged, and what is said of who can't run."""

import json
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from rich.console import Console
from rich.progress import Progress
from typer import BadParameter

from tests.acceptance.test_bench import write

sys.path.append(str(Path(__file__).parents[2] / "scripts"))  # what people run is no package

from benchmarks.peers import environments
from benchmarks.peers.client import Answer, Call, Unavailable
from benchmarks.peers.command import Result, compared, judged, tables
from benchmarks.peers.keeping import Kept
from benchmarks.peers.measuring import Found, Measured
from benchmarks.peers.sample import Conversation, Question, sampled
from benchmarks.peers.scoring import ranking, score
from benchmarks.peers.systems import AGENTRECALL, OFFICIAL, OURS, SERVICE, System
from benchmarks.retrieval.corpora import Document

SERVER = """
import json, pathlib, sys
file, says, diligent = pathlib.Path(sys.argv[1], "kept"), sys.argv[2], sys.argv[3] == "diligent"
print(says, file=sys.stderr, flush=True)
told = file.read_text().splitlines() if file.exists() else []
new = []
tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("keep", "search")]

def write():
    with file.open("a") as kept:
        kept.writelines(text + "\\n" for text in new)
    new.clear()

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    params = message.get("params", {})
    text = params.get("arguments", {}).get("text", "")
    if params.get("name") == "keep":
        told.append(text)
        new.append(text)
        if diligent:
            write()
    else:
        text = "\\n".join(one for one in told if text in one)
    result = {"content": [{"type": "text", "text": text}], "tools": tools}
    if message["method"] == "initialize":
        name = {"name": "peer", "version": "1"}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {}, "serverInfo": name}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
write()
"""
"""A server that names memories by their text and finds what contains the query; a lazy one writes when it ends."""


def peer(*arguments: str, name: str = "peer", program: str = SERVER) -> System:
    return System(
        name=name,
        modes=("contained",),
        filters=True,
        start=lambda _cache, store: StdioServerParameters(
            command=sys.executable, args=["-c", program, str(store), *arguments]
        ),
        keep=lambda turn: Call("keep", {"text": turn.text}),
        search=lambda question, _mode: [Call("search", {"text": question.text})],
        read=lambda _references: [Call("search", {"text": ""})],
        named=lambda answers: [line for answer in answers for line in answer.text.splitlines()],
        lesser="only by letters",
    )


def compare(tmp_path: Path, *systems: System) -> dict[str, Result | str]:
    turns = [Document(id=str(number), text=f"the word{number:02} is said") for number in range(60)]
    questions = [Question(Document(id="q", text="word07"), frozenset({"the word07 is said"}))]
    with Progress(disable=True) as bar:
        return dict(compared(systems, tmp_path / "cache", tmp_path, [Conversation(turns, questions)], bar))


def test_a_hit_is_evidence_among_the_first_results_and_recall_the_share_of_it_among_ten() -> None:
    ranked = [f"turn {number}" for number in range(20)]
    assert score(ranked, frozenset({"turn 0"})) == {"hit@1": 1, "hit@5": 1, "hit@10": 1, "recall@10": 1}
    assert score(ranked, frozenset({"turn 4", "turn 10"})) == {"hit@1": 0, "hit@5": 1, "hit@10": 1, "recall@10": 0.5}
    assert score(ranked, frozenset({"turn 5", "turn 9"})) == {"hit@1": 0, "hit@5": 0, "hit@10": 1, "recall@10": 1}
    assert set(score([], frozenset({"turn 0"})).values()) == {0}


def test_results_are_read_back_as_the_turns_that_were_stored() -> None:
    texts = {"a": "Ana: yes", "b": "Ben: no"}
    assert ranking(["b", "unknown", "a"], texts) == ["Ben: no", "Ana: yes"]
    assert ranking([*(["unknown"] * 10), "a"], texts) == []  # what comes eleventh isn't among ten


def test_each_servers_answers_name_memories_alike_when_they_store_search_and_read() -> None:
    digest, other = "d2" * 32, "06" * 32
    stored = Answer(f"Memory stored successfully (hash: {digest})")
    searched = Answer(f"Found 2\n\n1. Ana: yes\n   Hash: {digest}\n\n2. Ben: no\n   Hash: {other}\n   Created: now")
    listed = Answer(json.dumps({"memories": [{"content": "Ana: yes", "content_hash": digest}]}, indent=2))
    assert [SERVICE.named([one]) for one in (stored, searched, listed)] == [[digest], [digest, other], [digest]]

    record = {"id": 7, "content": "Ana: yes"}
    assert AGENTRECALL.named([Answer(json.dumps(record))]) == ["7"]
    assert AGENTRECALL.named([Answer("", {"result": [{"id": 9}, record]})]) == ["9", "7"]
    assert AGENTRECALL.named([Answer("", {"result": []})]) == []

    found = {"results": [{"fingerprintId": "f"}, {"fingerprintId": "g"}]}
    assert OURS.named([Answer("", {"fingerprintId": "f"})]) == ["f"]
    assert OURS.named([Answer("", found)]) == ["f", "g"]
    assert OURS.named([Answer("", {"id": "f"}), Answer("", {"id": "g"})]) == ["f", "g"]


def test_a_search_word_by_word_puts_first_what_most_words_find() -> None:
    question = Document(id="q", text="When did Ana adopt the puppy?")
    assert [call.arguments["query"] for call in OFFICIAL.search(question, "question")] == [question.text]
    assert [call.arguments["query"] for call in OFFICIAL.search(question, "words")] == ["when", "adopt", "puppy"]
    answers = [
        Answer("", {"entities": [{"name": name} for name in names]}) for names in (["1", "2"], ["3", "2"], ["2", "3"])
    ]
    assert OFFICIAL.named(answers) == ["2", "3", "1"]
    assert OFFICIAL.named(answers[:1]) == ["1", "2"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    turns = {f"{name}/{order}": (f"{name}{order}", {"namespace": name}) for name in "abc" for order in range(4)}
    questions = {f"q-{turn}": (f"who said {text}?", known, turn) for turn, (text, known) in turns.items()}
    return write(tmp_path, turns, questions)


def test_whole_conversations_come_first_and_only_what_was_told_is_asked(folder: Path) -> None:
    one, two, three = sampled(folder, turns=10, questions=100)
    assert [len(told.turns) for told in (one, two, three)] == [4, 4, 2]
    assert [len(told.questions) for told in (one, two, three)] == [4, 4, 2]
    assert three.questions[1].evidence == {"c1"}


def test_fewer_questions_are_spread_over_all_conversations(folder: Path) -> None:
    assert [len(told.questions) for told in sampled(folder, turns=12, questions=3)] == [1, 1, 1]


def test_a_folder_none_of_whose_evidence_is_told_is_refused(folder: Path) -> None:
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq-a/0\tc/3\t1\n")
    with pytest.raises(BadParameter, match="no question whose evidence"):
        sampled(folder, turns=4, questions=10)


def test_a_server_is_told_asked_killed_and_read_again(tmp_path: Path) -> None:
    results = compare(tmp_path, peer("all is well", "diligent"), peer("all is well", "lazy", name="lazy"))
    diligent, lazy = results["peer"], results["lazy"]
    assert isinstance(diligent, Result)
    assert isinstance(lazy, Result)
    assert diligent.measured.found[0].figures == {"hit@1": 1, "hit@5": 1, "hit@10": 1, "recall@10": 1}
    assert diligent.kept == Kept(acknowledged=60, refused=0, kept=60)
    assert lazy.kept == Kept(acknowledged=60, refused=0, kept=0)  # so it was killed before it could end
    assert diligent.measured.resident_mb > 0
    assert diligent.measured.disk_mb > 0


def test_a_server_that_searches_by_something_less_than_was_meant_is_told_apart(tmp_path: Path) -> None:
    results = compare(tmp_path, peer("no model: only by letters", "diligent"))
    assert "contained (only by letters)" in shown(results)


def test_a_server_that_does_not_start_is_skipped_with_what_it_said_last(tmp_path: Path) -> None:
    broken = peer(program="import sys; print('loading', file=sys.stderr); sys.exit('there is no model here')")
    results = compare(tmp_path, broken)
    assert results == {"peer": "there is no model here"}
    assert "skipped: there is no model here" in shown(results)


def test_a_server_that_cannot_be_installed_is_skipped_with_what_the_installer_said_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Any:
        environments.run([sys.executable, "-c", "import sys; print('collecting'); sys.exit('ERROR: no such version')"])

    monkeypatch.setattr("benchmarks.peers.systems.python_environment", fail)
    assert compare(tmp_path, AGENTRECALL) == {AGENTRECALL.name: "ERROR: no such version"}


def test_an_installer_that_is_not_there_is_a_reason_too() -> None:
    with pytest.raises(Unavailable, match="no-such-installer: No such file"):
        environments.run(["no-such-installer"])


def result(hit: float, kept: int = 60) -> Result:
    figures = {"hit@1": hit, "hit@5": hit, "hit@10": hit, "recall@10": hit}
    times = {"median": 1.0, "p95": 2.0}
    found = [Found("some", figures, times)]
    measured = Measured(found=found, store_ms=times, refused=0, resident_mb=1.0, disk_mb=1.0, lesser="")
    return Result(measured, Kept(60, 0, kept))


def test_leading_means_to_find_more_than_everybody_who_ran() -> None:
    def leads(*peers: Result | str) -> bool | None:
        others = {f"peer {number}": one for number, one in enumerate(peers)}
        return judged({OURS.name: result(0.6), **others})[0].holds

    assert leads(result(0.5), "not to be had")
    assert not leads(result(0.5), result(0.6))
    assert not leads("not to be had")  # nobody was led


def test_a_write_that_was_acknowledged_and_is_gone_fails() -> None:
    assert judged({OURS.name: result(0.6, kept=60)})[1].holds
    assert not judged({OURS.name: result(0.6, kept=59)})[1].holds


def shown(results: dict[str, Result | str]) -> str:
    written = StringIO()
    for table in tables(results):
        Console(width=120, file=written).print(table)
    return written.getvalue()
