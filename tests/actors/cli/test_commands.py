"""What a person does on the command line: store, search, forget, import and export."""

import json
import os
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from actors.api.parts import PARTS
from actors.cli.commands import program
from events.spaces import SPACES
from tests.acceptance.conftest import COMMAND
from tests.actors.cli.conftest import run, run_json
from tests.actors.conftest import Place


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


def test_a_similar_memory_is_shown_with_the_command_that_calls_it_out_of_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    old = "The rental car for Sardinia is a Fiat Panda with full insurance."
    stored = run_json(tmp_path, "store", old)["fingerprintId"]
    done = run(tmp_path, "store", "They gave us a VW Polo for the days in Sardinia.")
    assert f"similar: {old}" in done.stdout
    advised = re.search(f"if that is out of date: context-graph (supersede) --data {tmp_path} (.*)", done.stdout)
    assert advised is not None
    supersede = (advised[1], *advised[2].split())
    assert run(tmp_path, *supersede).exit_code == 0
    found = run_json(tmp_path, "search", "Which rental car do we have in Sardinia?")["results"]
    assert [one.get("superseded_by") for one in found] == [None, found[0]["fingerprintId"]]
    assert f"context-graph restore --data {tmp_path} {stored}" in run(tmp_path, *supersede).stdout
    assert run(tmp_path, "restore", stored).exit_code == 0


def test_status_shows_the_slowest_operations_and_all_on_request(tmp_path: Path) -> None:
    run(tmp_path, "store", "Mara's dog is called Bo.")
    hours = {f"work {number}": 3_600_000.0 * number for number in range(1, 8)}
    saved = {name: {"median": 1.0, "p95": milliseconds, "count": 2} for name, milliseconds in hours.items()}
    (tmp_path / "latencies.json").write_text(json.dumps(saved))

    def shown(*options: str) -> list[str]:
        rows = run(tmp_path, "status", *options).stdout.partition("samples")[2].splitlines()
        return [re.split("  +", row.strip())[0] for row in rows if row.strip()]

    assert shown() == ["work 7", "work 6", "work 5", "work 4", "work 3"]
    assert shown("--latencies") == list(run_json(tmp_path, "status")["latencies_ms"])


def test_a_narrow_terminal_cuts_no_name_of_a_space_and_no_operation(tmp_path: Path) -> None:
    run_json(tmp_path, "store", "The rent is due on the first.", "--no-hub")
    command = [COMMAND, "status", "--latencies", "--data", str(tmp_path)]
    done = subprocess.run(command, env=os.environ | {"COLUMNS": "60"}, capture_output=True, text=True, check=True)
    assert {space.key for space in SPACES} <= set(done.stdout.split())
    assert run_json(tmp_path, "status")["latencies_ms"].keys() <= {
        line[1:].split("  ")[0] for line in done.stdout.splitlines()
    }


def test_a_memory_is_shown_with_what_its_source_says_of_it(tmp_path: Path) -> None:
    note = tmp_path / "notes" / "Bread.md"
    note.parent.mkdir()
    note.write_text("---\naliases: [Levain]\n---\nThe starter is fed at eight.\n")
    run_json(tmp_path / "store", "import", str(note))
    (found,) = run_json(tmp_path / "store", "search", "starter")["results"]
    shown = run(tmp_path / "store", "show", found["fingerprintId"]).stdout
    assert "path: Bread\n" in re.sub(" +\n", "\n", shown)
    assert 'aliases: ["Levain"]' in shown


def test_a_result_without_competition_says_why_it_was_found_too(tmp_path: Path) -> None:
    run(tmp_path, "store", "Mara's dog is called Bo.")
    assert "found by " in run(tmp_path, "search", "dog").stdout


def test_the_json_of_a_search_is_the_same_with_and_without_an_explanation(tmp_path: Path) -> None:
    run(tmp_path, "store", "Mara's dog is called Bo.")
    plain, explained = (run_json(tmp_path, "search", "dog", *more)["results"][0] for more in ((), ("--explain",)))
    assert plain.keys() == explained.keys()
    assert plain["embedderScores"].keys() == explained["embedderScores"].keys() == {space.key for space in SPACES}


def test_every_space_and_every_other_contribution_to_a_score_is_a_reason_in_words() -> None:
    others = {"context", "priming", "renewal", "causes", "scope", "alignment"}
    assert PARTS.keys() == {space.key for space in SPACES} | others


def test_memories_are_imported_once_and_exported_again(tmp_path: Path) -> None:
    store, file = tmp_path / "store", tmp_path / "memories.jsonl"
    file.write_text(
        '{"content": "The dog sleeps.", "tags": ["pets"]}\n{"content": ""}\nno JSON\n{"content": "An owl."}\n'
    )
    first = run(store, "import", str(file), "--json")
    assert first.exit_code == 1, "two lines are bad"
    told = json.loads(first.stdout)
    assert (told["stored"], [failure["line"] for failure in told["failed"]]) == (2, [2, 3])
    again = json.loads(run(store, "import", str(file), "--json").stdout)
    assert (again["stored"], again["stored_before"]) == (0, 2)
    lines = [json.loads(line) for line in run(store, "export").stdout.splitlines()]
    assert [(line["content"], line.get("tags")) for line in lines] == [("The dog sleeps.", ["pets"]), ("An owl.", None)]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A store with one memory."""
    run_json(tmp_path, "store", "Mara's dog is called Bo.")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("store", "  "), "Content cannot be empty"),
        (("store", "x", "--created-at", "9999-12-31"), "created_at"),
        (("search", "x", "-k", "0"), "top_k"),
        (("history", str(uuid4())), "Memory not found"),
    ],
)
def test_errors_end_with_one_sentence_and_status_1(kept: Path, arguments: tuple[str, ...], words: str) -> None:
    done = run(kept, *arguments)
    assert done.exit_code == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("search", "dog"), ("status",), ("consolidate",), ("schedule", "--pause"), ("ui", "--no-open")],
)
def test_a_mistyped_folder_is_no_new_store(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run(tmp_path / "here", *arguments)
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"no store in {tmp_path / 'here'}" in done.stderr
    assert not (tmp_path / "here").exists()


def test_the_data_folder_comes_from_the_environment_too(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_GRAPH_DATA", str(kept))
    assert json.loads(CliRunner().invoke(program, ["status", "--json"]).stdout)["folder"] == str(kept)


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


def test_a_memory_is_dated_by_the_words_that_searches_understand_or_refused_with_examples(tmp_path: Path) -> None:
    for named, day in (
        ("May 2024", "2024-05-01"),
        ("2024-05-07", "2024-05-07"),
        ("summer 2023", "2023-06-01"),
        ("7.5.2024", "2024-05-07"),
    ):
        memory = run_json(tmp_path, "store", f"The boiler was serviced: {day}.", "--created-at", named)["fingerprintId"]
        assert run_json(tmp_path, "show", memory)["createdAt"] == f"{day}T00:00:00+00:00"
    memory = run_json(tmp_path, "store", "Ole called.", "--created-at", "yesterday")["fingerprintId"]
    created = datetime.fromisoformat(run_json(tmp_path, "show", memory)["createdAt"])
    assert timedelta(days=1) <= datetime.now(UTC) - created < timedelta(days=3)
    refused = run(tmp_path, "store", "Ole called.", "--created-at", "5/7/2026")
    assert refused.exit_code == 2
    words = " ".join(refused.stderr.replace("│", " ").split())
    assert "'--created-at': '5/7/2026' names no time such as 2026-05-02, 2026-05-02T14:30, " in words


def test_a_search_is_limited_to_a_time_and_to_a_speaker(tmp_path: Path) -> None:
    for month in ("03", "04", "05"):
        run_json(tmp_path, "store", f"The rent of month {month} is paid.", "--created-at", f"2026-{month}-10")
    found = run_json(tmp_path, "search", "rent", "--since", "April 2026", "--until", "2026-04")["results"]
    assert [hit["content"] for hit in found] == ["The rent of month 04 is paid."]
    assert run_json(tmp_path, "search", "rent", "--speaker", "Ilse")["results"] == []
    refused = run(tmp_path, "search", "rent", "--since", "soon")
    assert refused.exit_code == 1
    assert "Invalid 'since': names no time such as" in refused.stderr


def test_results_tell_who_said_them(tmp_path: Path) -> None:
    turn = {"content": "I can't stand coriander.", "session": "dinner", "metadata": {"speaker": "Ilse"}}
    file = tmp_path / "turns.jsonl"
    file.write_text(
        f"{json.dumps(turn)}\n{json.dumps({'content': 'Coriander grows in the yard.'})}\n", encoding="utf-8"
    )
    run(tmp_path, "import", str(file))
    results = run_json(tmp_path, "search", "coriander")["results"]
    assert {(hit["content"], hit.get("speaker")) for hit in results} == {
        ("I can't stand coriander.", "Ilse"),
        ("Coriander grows in the yard.", None),
    }
    assert re.findall("said by .*", run(tmp_path, "search", "coriander").stdout) == ["said by Ilse"]


def test_times_are_those_of_the_machines_time_zone_and_of_where_a_memory_was_said(tmp_path: Path, place: Place) -> None:
    place("Etc/GMT+11")
    today = datetime.now().astimezone()
    here = run_json(tmp_path, "store", "Ole called.")["fingerprintId"]
    elsewhere = run_json(tmp_path, "store", "Ana called.", "--created-at", "2026-05-02T21:30+09:00")["fingerprintId"]
    dated = run_json(tmp_path, "store", "Ida called.", "--created-at", "yesterday")["fingerprintId"]
    for memory, said in ((here, f"{today:%Y-%m-%d}"), (elsewhere, "2026-05-02 21:30")):
        shown = run(tmp_path, "show", memory).stdout
        assert re.search(rf"created +{said}", shown)
        assert re.search(rf"stored +{today:%Y-%m-%d}", shown)
    assert run_json(tmp_path, "show", dated)["createdAt"][:10] == f"{today - timedelta(days=1):%Y-%m-%d}"
    assert "2026-05-02 21:30 in default" in run(tmp_path, "search", "Who called? Ana?").stdout
    assert all(f"  {today:%Y-%m-%d}" in line for line in run(tmp_path, "audit").stdout.splitlines()[:3])


def test_an_import_says_what_is_missing_and_what_it_would_redact(tmp_path: Path) -> None:
    missing = run(tmp_path / "store", "import", str(tmp_path / "nothere"))
    assert (missing.exit_code, missing.stderr) == (
        1,
        f"context-graph: there is no file or folder {tmp_path / 'nothere'} to import\n",
    )
    (tmp_path / "notes.md").write_text("The database password is Tr4ctor!Blue9 until May.\n")
    assert (
        "would redact: 1 password" in run(tmp_path / "store", "import", str(tmp_path / "notes.md"), "--dry-run").stdout
    )


def test_an_export_names_what_is_wrong_with_its_target(tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert run(store, "store", "Mara's dog is called Bo.").exit_code == 0
    for target, problem in (
        (tmp_path, "is a folder"),
        (Path(), "is a folder"),
        (tmp_path / "no" / "x.jsonl", "is in no folder"),
    ):
        done = run(store, "export", str(target))
        assert (done.exit_code, done.stderr.count("\n")) == (1, 1), done.stderr
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


def test_an_import_that_is_repeated_names_no_namespace_in_which_nothing_was_stored(tmp_path: Path) -> None:
    lines = [{"content": f"Boat {number} is blue.", "namespace": "harbor"} for number in range(2)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "  2 in namespace harbor\n" in run(tmp_path / "store", "import", str(tmp_path / "a.jsonl")).stdout
    (tmp_path / "b.jsonl").write_text(json.dumps({"content": "The quay is wet.", "namespace": "quay"}) + "\n")
    told = run(tmp_path / "store", "import", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")).stdout
    assert "stored 1 memory; 2 imported before\n" in told
    assert "  1 in namespace quay\n" in told
    assert "in namespace harbor" not in told


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
    assert "scan-03.pdf, scan-04.pdf and 6 more files: PDF isn't read: pdftotext FILE.pdf writes a text that is" in told
    assert "scan-05.pdf" not in told
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
    assert (done.exit_code, "stored 1 memory" in done.stdout) == (0, True), done.stderr
    assert "".join(f"{note}:{problem}".split()) in "".join(done.stderr.split())
    assert "ferns on Sundays" in run_json(store, "search", "ferns")["results"][0]["content"]
    again = run_json(store, "import", str(note))
    assert (again["stored"], again["stored_before"], again["failed"]) == (0, 1, [])
    assert [one["file"] for one in again["ignored"]] == [str(note)]


def test_a_person_compares_forgets_and_restores(tmp_path: Path) -> None:
    one, other = (
        run_json(tmp_path, "store", text)["fingerprintId"] for text in ("The dog sleeps.", "A dog is asleep.")
    )
    compared = run_json(tmp_path, "compare", one, other)
    assert 0.6 < compared["overall_similarity"] < 1
    assert f"{compared['overall_similarity']:.2f} alike" in run(tmp_path, "compare", one, other).stdout
    assert (
        f"context-graph restore --data {tmp_path} {one}\n"
        in run(tmp_path, "forget", one, "--reason", "outdated").stdout
    )
    assert [hit["fingerprintId"] for hit in run_json(tmp_path, "search", "dog")["results"]] == [other]
    assert run(tmp_path, "compare", one, other).exit_code == 1
    assert f"{one} is back" in run(tmp_path, "restore", one).stdout
    assert len(run_json(tmp_path, "search", "dog")["results"]) == 2
    assert run(tmp_path, "restore", one).stderr.startswith("context-graph: Invalid 'id'")
    assert "erased for good" in run(tmp_path, "forget", other, "--hard").stdout
    assert run(tmp_path, "restore", other).exit_code == 1


def test_a_result_shows_its_text_time_and_place_and_why_it_was_found(tmp_path: Path) -> None:
    bo, when = "Mara's dog is called Bo.", "2026-03-02T12:00:00+00:00"
    place = ("--namespace", "home", "--session", "spring", "--created-at", when)
    assert run(tmp_path, "store", bo, *place).stdout.startswith("stored ")
    run(tmp_path, "store", "Ferries leave at noon.", "--namespace", "home")
    found = run(tmp_path, "search", "Who is Mara's dog?", "--namespace", "home").stdout
    first, where, why, *_ = (line.strip() for line in found.splitlines())
    assert first == f"1. {bo}"
    assert where == "2026-03-02 12:00 in home, session spring"
    assert "2. Ferries leave at noon." in found
    assert "less like the question than other memories" in found.partition("2. Ferries")[2]
    assert why.startswith("found by ")
    assert {"wording", "same words", "names", "meaning"} & {*re.split(", | and ", why.removeprefix("found by "))}
    assert re.search(r"\be\d{1,2}(_|\b)", found.replace(bo, "")) is None, "no space by its key, no vector"
    explained = run(tmp_path, "search", "Who is Mara's dog?", "--namespace", "home", "--explain").stdout
    assert re.search(r"^ *e1 \d\.\d\d .* e13 \d\.\d\d", explained, re.MULTILINE)
    assert "2 memories" in run(tmp_path, "status").stdout
