"""What a person does on the command line."""

import json
import os
import re
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from actors.api.parts import PARTS
from actors.cli.commands import program
from actors.cli.program import Panel
from events.spaces import SPACES
from tests.acceptance.conftest import COMMAND, PATIENCE, Open, refused


def run(data: Path, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, arguments[0], "--data", str(data), *arguments[1:]],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def run_json(data: Path, *arguments: str, stdin: str | None = None) -> Any:
    done = run(data, *arguments, "--json", stdin=stdin)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_store_search_history_and_status_share_one_folder(tmp_path: Path) -> None:
    stored = run_json(tmp_path, "store", "-", "--tag", "pets", "-r", "for the vet", stdin="Mara's dog is called Bo.")
    memory = stored["fingerprintId"]
    found = run_json(tmp_path, "search", "What is the name of the dog?", "-t", "pets")
    assert [hit["fingerprintId"] for hit in found["results"]] == [memory]
    assert len(found["results"][0]["embedderScores"]) == 13
    history = run_json(tmp_path, "history", memory)
    assert [event["kind"] for event in history["events"]] == ["memory_recalled", "memory_stored"]
    assert "for the vet" in history["events"][-1]["what"]
    status = run_json(tmp_path, "status")
    assert status["memories"]["live"] == 1
    assert len(status["spaces"]) == 13
    assert status["log"]["position"] == 5, "spaces, memory and recall, and the workspace turned to either"
    assert status["latencies_ms"]["forward"]["median"] > 0, "as the last process that used a model measured them"


def test_a_command_that_opened_the_store_leaves_a_hub_for_the_next_ones(tmp_path: Path) -> None:
    assert run(tmp_path, "store", "Bo is afraid of thunder.", "--no-hub").returncode == 0
    assert "no hub runs" in run(tmp_path, "stop").stdout
    try:
        assert run(tmp_path, "store", "Bo sleeps in the kitchen.", "--hub").returncode == 0
        found = run_json(tmp_path, "search", "Where does Bo sleep?")
        assert found["results"][0]["content"] == "Bo sleeps in the kitchen."
        assert any("hub: process" in line for line in run(tmp_path, "doctor").stdout.splitlines())
    finally:
        stopped = run(tmp_path, "stop").stdout
    assert "has ended" in stopped


def test_a_running_hub_with_another_log_or_other_models_is_not_taken_for_what_was_asked(
    data: Path, window: Open, tmp_path: Path
) -> None:
    server = window()
    server.initialize()
    server.call("store_memory", content="Bo is afraid of thunder.")
    assert run(data, "backup", str(tmp_path / "backup")).returncode == 0
    address = "postgresql://keeper@db.example/other"
    for arguments, words in (
        (("status", "--log", address.replace("@", ":secret@")), f"in that folder, not the one at {address}:"),
        (
            ("search", "thunder", "--embedder", "full", "--models", str(tmp_path)),
            "it with embedded, not full in",
        ),
        (("restore", str(tmp_path / "backup"), "--replace"), f"context-graph stop --data {data}"),
        (("backup", str(data / "backup")), "inside the store's folder"),
    ):
        done = run(data, *arguments)
        assert (done.returncode, words in done.stderr, "Traceback" in done.stderr) == (1, True, False), done.stderr
    assert f"not the one at {address}:" in refused(data, "--log", address)
    assert run(data, "search", "thunder", "--embedder", "embedded").returncode == 0


@pytest.mark.parametrize(
    "arguments", [("export", "-"), ("status",), ("status", "--json"), ("search", "dog", "--json", "--no-hub")]
)
def test_a_command_whose_output_is_closed_ends_without_a_word(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert run(tmp_path, "store", "Mara's dog is called Bo.", "--no-hub").returncode == 0
    reader, writer = os.pipe()
    os.close(reader)
    command = [COMMAND, *arguments, "--data", str(tmp_path)]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("shown", [(), ("--json",)])
def test_an_answer_that_cannot_be_written_is_one_sentence(tmp_path: Path, shown: tuple[str, ...]) -> None:
    assert run(tmp_path, "store", "Mara's dog is called Bo.", "--no-hub").returncode == 0
    with Path("/dev/full").open("w") as full:
        command = [COMMAND, "status", *shown, "--data", str(tmp_path)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (1, "context-graph: No space left on device\n")


def test_a_person_compares_forgets_and_restores(data: Path, window: Open) -> None:
    window().initialize()  # a hub answers all commands, so that none of them loads the models
    one, other = (run_json(data, "store", text)["fingerprintId"] for text in ("The dog sleeps.", "A dog is asleep."))
    compared = run_json(data, "compare", one, other)
    assert 0.6 < compared["overall_similarity"] < 1
    assert f"{compared['overall_similarity']:.2f} alike" in run(data, "compare", one, other).stdout
    assert "restore brings it back" in run(data, "forget", one, "--reason", "outdated").stdout
    assert [hit["fingerprintId"] for hit in run_json(data, "search", "dog")["results"]] == [other]
    assert run(data, "compare", one, other).returncode == 1
    assert f"{one} is back" in run(data, "restore", one).stdout
    assert len(run_json(data, "search", "dog")["results"]) == 2
    assert run(data, "restore", one).stderr.startswith("context-graph: Invalid 'id'")
    assert "erased for good" in run(data, "forget", other, "--hard").stdout
    assert run(data, "restore", other).returncode == 1


def test_a_result_shows_its_text_time_and_place_and_why_it_was_found(data: Path, window: Open) -> None:
    window().initialize()
    bo, when = "Mara's dog is called Bo.", "2026-03-02T12:00:00+00:00"
    place = ("--namespace", "home", "--session", "spring", "--created-at", when)
    assert run(data, "store", bo, *place).stdout.startswith("stored ")
    run(data, "store", "Ferries leave at noon.", "--namespace", "home")
    found = run(data, "search", "Who is Mara's dog?", "--namespace", "home").stdout
    first, where, why, *_ = (line.strip() for line in found.splitlines())
    assert first == f"1. {bo}"
    assert where == "2026-03-02 12:00 in home, session spring"
    assert "2. Ferries leave at noon." in found
    assert "less like the question than other memories" in found.partition("2. Ferries")[2]
    assert why.startswith("found by ")
    assert {"wording", "same words", "names", "meaning"} & {*re.split(", | and ", why.removeprefix("found by "))}
    assert re.search(r"\be\d{1,2}(_|\b)", found.replace(bo, "")) is None, "no space by its key, no vector"
    explained = run(data, "search", "Who is Mara's dog?", "--namespace", "home", "--explain").stdout
    assert re.search(r"^ *e1 \d\.\d\d .* e13 \d\.\d\d", explained, re.MULTILINE)
    assert "2 memories" in run(data, "status").stdout


def test_a_result_without_competition_says_why_it_was_found_too(tmp_path: Path) -> None:
    run(tmp_path, "store", "Mara's dog is called Bo.")
    assert "found by " in run(tmp_path, "search", "dog").stdout


def test_the_json_of_a_search_is_the_same_with_and_without_an_explanation(tmp_path: Path) -> None:
    run(tmp_path, "store", "Mara's dog is called Bo.")
    plain, explained = (run_json(tmp_path, "search", "dog", *more)["results"][0] for more in ((), ("--explain",)))
    assert plain.keys() == explained.keys()
    assert plain["embedderScores"].keys() == explained["embedderScores"].keys() == {space.key for space in SPACES}


def test_help_lists_all_commands_by_what_they_are_for() -> None:
    shown = subprocess.run([COMMAND, "--help"], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    places = [shown.index(f"{panel.value} ─") for panel in Panel]
    assert places == sorted(places)
    for command in program.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "")
        assert (re.search(rf"^│ {name} ", shown, re.MULTILINE) is None) == command.hidden, name


def test_every_space_and_every_other_contribution_to_a_score_is_a_reason_in_words() -> None:
    others = {"context", "priming", "renewal", "causes", "scope", "alignment"}
    assert PARTS.keys() == {space.key for space in SPACES} | others


def test_memories_are_imported_once_and_exported_again(tmp_path: Path) -> None:
    store, file = tmp_path / "store", tmp_path / "memories.jsonl"
    file.write_text(
        '{"content": "The dog sleeps.", "tags": ["pets"]}\n{"content": ""}\nno JSON\n{"content": "An owl."}\n'
    )
    first = run(store, "import", str(file), "--json")
    assert first.returncode == 1, "two lines are bad"
    told = json.loads(first.stdout)
    assert (told["stored"], [failure["line"] for failure in told["failed"]]) == (2, [2, 3])
    again = json.loads(run(store, "import", str(file), "--json").stdout)
    assert (again["stored"], again["stored_before"]) == (0, 2)
    lines = [json.loads(line) for line in run(store, "export").stdout.splitlines()]
    assert [(line["content"], line.get("tags")) for line in lines] == [("The dog sleeps.", ["pets"]), ("An owl.", None)]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one memory."""
    folder = tmp_path_factory.mktemp("kept")
    run_json(folder, "store", "Mara's dog is called Bo.")
    return folder


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("store", "  "), "Content cannot be empty"),
        (("store", "x", "--created-at", "soon"), "created_at"),
        (("search", "x", "-k", "0"), "top_k"),
        (("history", str(uuid4())), "Memory not found"),
    ],
)
def test_errors_end_with_one_sentence_and_status_1(kept: Path, arguments: tuple[str, ...], words: str) -> None:
    done = run(kept, *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("search", "dog"), ("status",), ("consolidate",), ("schedule", "--pause")])
def test_a_mistyped_folder_is_no_new_store(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run(tmp_path / "here", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"no store in {tmp_path / 'here'}" in done.stderr
    assert not (tmp_path / "here").exists()


def test_the_data_folder_comes_from_the_environment_too(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_GRAPH_DATA", str(kept))
    done = subprocess.run([COMMAND, "status", "--json"], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert json.loads(done.stdout)["folder"] == str(kept)


def test_a_secret_is_told_when_it_is_stored_and_left_out_when_that_is_wanted(tmp_path: Path) -> None:
    told = run(tmp_path, "store", "The database password is Tr4ctor!Blue9 until May.").stdout
    assert "looks like a secret" in told
    assert "--redact" in told
    assert "memory_delete" not in told
    again = run(tmp_path, "store", "The database password is Tr4ctor!Blue9 until May.", "--redact").stdout
    assert "left out: password" in again
    assert "looks like" not in again


def test_an_importance_beyond_its_limits_is_stored_at_the_nearer_end_and_told(tmp_path: Path) -> None:
    stored = run(tmp_path, "store", "The ferns are in the hall.", "--importance", "2", "--json")
    assert stored.stderr == "importance is 0 to 1: 2 counts as 1\n"
    listed = run_json(tmp_path, "show", json.loads(stored.stdout)["fingerprintId"])
    assert listed["importance"] == 1.0


def test_the_version_is_told() -> None:
    told = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True).stdout
    assert told == f"context-graph {version('context-graph')}\n"


def test_an_import_says_what_is_missing_and_what_it_would_redact(tmp_path: Path) -> None:
    missing = run(tmp_path / "store", "import", str(tmp_path / "nothere"))
    assert (missing.returncode, missing.stderr) == (
        1,
        f"context-graph: there is no file or folder {tmp_path / 'nothere'} to import\n",
    )
    (tmp_path / "notes.md").write_text("The database password is Tr4ctor!Blue9 until May.\n")
    assert (
        "would redact: 1 password" in run(tmp_path / "store", "import", str(tmp_path / "notes.md"), "--dry-run").stdout
    )


def test_text_that_is_not_utf_8_is_refused_by_name_and_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    command = [COMMAND, "store", "--data", str(tmp_path / "store")]
    for text, given in (("-", b"K\xfcche"), (b"K\xfcche", b"")):
        done = subprocess.run([*command, text], input=given, capture_output=True, timeout=PATIENCE, check=False)
        assert (done.returncode, b"the text is not UTF-8" in done.stderr) == (2, True), done.stderr
    subprocess.run([*command, "-"], input="\ufeffKüche".encode(), timeout=PATIENCE, check=True)
    assert run_json(tmp_path / "store", "search", "Küche")["results"][0]["content"] == "Küche"


def test_an_export_names_what_is_wrong_with_its_target(tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert run(store, "store", "Mara's dog is called Bo.").returncode == 0
    for target, problem in (
        (tmp_path, "is a folder"),
        (Path(), "is a folder"),
        (tmp_path / "no" / "x.jsonl", "is in no folder"),
    ):
        done = run(store, "export", str(target))
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert done.stderr.startswith(f"context-graph: {target} {problem}")


def test_an_import_counts_in_namespaces_only_what_is_stored_and_calls_an_empty_file_empty(tmp_path: Path) -> None:
    store, lines, empty = tmp_path / "store", tmp_path / "lines.jsonl", tmp_path / "empty.jsonl"
    lines.write_text('{"content": "The ferry is late."}\n{"content": ""}\n{"content": "x", "namespace": 5}\n')
    empty.touch()
    told = json.loads(run(store, "import", str(lines), "--json").stdout)
    assert (told["stored"], told["namespaces"], len(told["failed"])) == (1, {"default": 1}, 2)
    shown = run(store, "import", str(lines)).stdout
    assert "1 file\n" in shown
    assert run(store, "import", str(empty)).stderr == f"context-graph: {empty} is empty; nothing was imported\n"


def test_an_import_of_notes_says_how_many_files_were_empty_and_stores_none_of_them(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferns.md").write_text("Ilse waters the ferns on Sundays.\n")
    for name in ("plan.md", "untitled.txt"):
        (folder / name).write_text("\n")
    told = run(tmp_path / "store", "import", str(folder)).stdout
    assert "left out: empty files (2)" in told
    assert run_json(tmp_path / "store", "status")["memories"]["live"] == 1


def test_an_import_of_a_folder_names_the_files_that_it_does_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / "ferns.md").write_text("Ilse waters the ferns on Sundays.\n")
    (folder / ".obsidian" / "app.json").write_text("{}")
    (folder / "chats.json").write_text("[]")
    for number in range(11):
        (folder / f"scan-{number:02}.pdf").write_bytes(b"%PDF")
    told = " ".join(run(tmp_path / "store", "import", str(folder), "--dry-run").stdout.split())
    assert "chats.json: not of the folder's format" in told
    assert "scan-08.pdf: unknown format" in told
    assert "scan-09.pdf" not in told
    assert "not read: 2 more files" in told
    assert "app.json" not in told


@pytest.mark.parametrize(
    ("front", "problem"),
    [
        ("title: {{title}}\ndate: {{date}}", "line 2: its properties are no YAML and are left out"),
        ("tags: [plants\ndate: 2026-03-01", "line 3: its properties are no YAML and are left out"),
        ("date: 2024-99-99", "line 1: its properties are no YAML and are left out"),
        ("- only\n- a list", "line 1: its properties are no YAML and are left out"),
    ],
)
def test_a_note_with_properties_that_cannot_be_read_is_stored_without_them(
    tmp_path: Path, front: str, problem: str
) -> None:
    note = tmp_path / "ferns.md"
    note.write_text(f"---\n{front}\n---\nIlse waters the ferns on Sundays.\n")
    store = tmp_path / "store"
    done = run(store, "import", str(note))
    assert (done.returncode, "stored 1 memory" in done.stdout) == (0, True), done.stderr
    assert "".join(f"{note}:{problem}".split()) in "".join(done.stderr.split())
    assert "ferns on Sundays" in run_json(store, "search", "ferns")["results"][0]["content"]
    again = run_json(store, "import", str(note))
    assert (again["stored"], again["stored_before"], again["failed"]) == (0, 1, [])
    assert [one["file"] for one in again["ignored"]] == [str(note)]


@pytest.mark.parametrize(
    "arguments", [("status",), ("store", "Bo sleeps."), ("serve",), ("namespaces",), ("hub",), ("install", "--all")]
)
def test_an_empty_folder_is_refused_instead_of_taking_the_current_one(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    command = [COMMAND, *arguments, "--data", ""]
    done = subprocess.run(
        command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (2, "", [])
    assert "'--data'" in done.stderr
    assert "it is empty" in done.stderr


def test_an_import_of_an_empty_name_does_not_read_the_current_folder(tmp_path: Path) -> None:
    here, store = tmp_path / "here", tmp_path / "store"
    here.mkdir()
    (here / "ferns.md").write_text("Ilse waters the ferns on Sundays.\n")
    command = [COMMAND, "import", "", "--data", str(store)]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, "an empty name" in done.stderr) == (1, "", True)
    assert not store.exists()


def test_an_empty_variable_for_the_folder_counts_as_none(tmp_path: Path) -> None:
    surroundings = os.environ | {
        "CONTEXT_GRAPH_DATA": "",
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "HOME": str(tmp_path),
    }
    here = tmp_path / "here"
    here.mkdir()
    command = [COMMAND, "store", "Bo sleeps in the kitchen.", "--no-hub"]
    subprocess.run(command, cwd=here, env=surroundings, capture_output=True, timeout=PATIENCE, check=True)
    assert list(here.iterdir()) == []
    assert len([*tmp_path.rglob("log.duckdb")]) == 1
