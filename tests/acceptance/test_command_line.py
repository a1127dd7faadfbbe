"""What a person does on the command line."""

import json
import os
import re
import subprocess
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from time import sleep

import pytest

from actors.cli.commands import program
from actors.cli.program import Panel
from tests.acceptance.conftest import COMMAND, PATIENCE, Open, refused
from tests.actors.cli.conftest import run, run_json
from tests.sampling import sampled


def started(data: Path, *arguments: str) -> str:
    """Run a command in a process of its own, and return what it prints."""
    command = [COMMAND, *arguments, "--data", str(data)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout


def test_a_command_that_opened_the_store_leaves_a_hub_for_the_next_ones(tmp_path: Path) -> None:
    started(tmp_path, "store", "Bo is afraid of thunder.", "--no-hub")
    assert "no hub runs" in started(tmp_path, "stop")
    try:
        started(tmp_path, "store", "Bo sleeps in the kitchen.", "--hub")
        found = run_json(tmp_path, "search", "Where does Bo sleep?")
        assert found["results"][0]["content"] == "Bo sleeps in the kitchen."
        assert any("hub: process" in line for line in run(tmp_path, "doctor").stdout.splitlines())
    finally:
        stopped = started(tmp_path, "stop")
    assert "has ended" in stopped


def test_an_import_goes_through_a_hub_so_that_others_use_the_store_meanwhile(tmp_path: Path) -> None:
    source, store = tmp_path / "walks.jsonl", tmp_path / "store"
    source.write_text("".join(json.dumps({"content": f"Walk {n}: Bo swam in pond {n}."}) + "\n" for n in range(9_000)))
    command = [COMMAND, "import", str(source), "--hub", "--data", str(store)]
    try:
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as importing:
            while not (store / "log.duckdb").exists():
                assert importing.poll() is None
                sleep(0.01)
            started(store, "status")
            assert importing.poll() is None, "the import ended before the status was answered"
            importing.terminate()
    finally:
        stopped = started(store, "stop")
    assert "has ended" in stopped


def test_an_import_with_a_model_that_is_nowhere_leaves_no_hub_that_serves_with_it(tmp_path: Path) -> None:
    (note := tmp_path / "walk.md").write_text("Bo swam in the pond.")
    command = [COMMAND, "import", str(note), "--hub", "--embedder", "nowhere", "--data", str(tmp_path / "store")]
    assert subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False).returncode == 1
    assert "no hub runs" in started(tmp_path / "store", "stop")


def test_a_running_hub_with_another_log_or_other_models_is_not_taken_for_what_was_asked(
    data: Path, window: Open, tmp_path: Path
) -> None:
    server = window().greeted()
    server.call("store_memory", content="Bo is afraid of thunder.")
    assert run(data, "backup", str(tmp_path / "backup")).exit_code == 0
    (tmp_path / "walnuts.md").write_text("Ilse dries walnuts.")
    address = "postgresql://keeper@db.example/other"
    for arguments, words in (
        (("status", "--log", address.replace("@", ":secret@")), f"in that folder, not the one at {address}:"),
        (
            ("search", "thunder", "--embedder", "full", "--models", str(tmp_path)),
            "it with embedded, not full in",
        ),
        *(
            ((*command, "--embedder", "full"), "it with embedded, not full:")
            for command in (("import", str(tmp_path / "walnuts.md")), ("scan",), ("review",), ("ui", "--no-open"))
        ),
        (("restore", str(tmp_path / "backup"), "--replace"), f"context-graph stop --data {data}"),
        (("backup", str(data / "backup")), "inside the store's folder"),
    ):
        command = [COMMAND, *arguments, "--data", str(data)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert (done.returncode, words in done.stderr, "Traceback" in done.stderr) == (1, True, False), done.stderr
    assert f"not the one at {address}:" in refused(data, "--log", address)
    assert run(data, "search", "thunder", "--embedder", "embedded").exit_code == 0


@sampled(
    "arguments", [("export", "-"), ("status",), ("status", "--json"), ("search", "dog", "--json", "--no-hub")], every=2
)
def test_a_command_whose_output_is_closed_ends_without_a_word(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    run_json(tmp_path, "store", "Mara's dog is called Bo.")
    reader, writer = os.pipe()
    os.close(reader)
    command = [COMMAND, *arguments, "--data", str(tmp_path)]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@sampled("arguments", [("export", "-"), ("status",), ("status", "--json")])
def test_an_answer_that_cannot_be_written_is_one_sentence(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    run_json(tmp_path, "store", "Mara's dog is called Bo.")
    with Path("/dev/full").open("w") as full:
        command = [COMMAND, *arguments, "--data", str(tmp_path)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (1, "context-graph: No space left on device\n")


@sampled("arguments", [("status",), ("status", "--json"), ("search", "dog")])
def test_a_command_whose_output_was_never_open_ends_with_an_error(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    run_json(tmp_path, "store", "Mara's dog is called Bo.")
    command = ["/bin/sh", "-c", '"$0" "$@" >&-', COMMAND, *arguments, "--data", str(tmp_path)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (1, "context-graph: Bad file descriptor\n")


@sampled("arguments", [("store", "-"), ("import", "-"), ("review",), ("serve", "--linger", "0")])
def test_input_that_was_never_open_is_empty(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    def ended(source: str) -> tuple[int, str, str]:
        command = ["/bin/sh", "-c", f'"$0" "$@" {source}', COMMAND, *arguments, "--data", str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done.returncode, done.stdout, done.stderr

    run_json(tmp_path, "store", "Mara's dog is called Bo.")
    assert ended("<&-") == ended("</dev/null")


def test_help_lists_all_commands_by_what_they_are_for() -> None:
    shown = subprocess.run([COMMAND, "--help"], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    places = [shown.index(f"\n{panel.value}:\n") for panel in Panel]
    assert places == sorted(places)
    for command in program.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "")
        assert (re.search(rf"^  {name} ", shown, re.MULTILINE) is None) == command.hidden, name


def test_the_version_is_told() -> None:
    told = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True).stdout
    assert told == f"context-graph {version('context-graph')}\n"


def test_text_that_is_not_utf_8_is_refused_by_name_and_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    command = [COMMAND, "store", "--data", str(tmp_path / "store")]
    for text, given in (("-", b"K\xfcche"), (b"K\xfcche", b"")):
        done = subprocess.run([*command, text], input=given, capture_output=True, timeout=PATIENCE, check=False)
        assert (done.returncode, b"the text is not UTF-8" in done.stderr) == (2, True), done.stderr
    subprocess.run([*command, "-"], input="\ufeffKüche".encode(), timeout=PATIENCE, check=True)
    assert run_json(tmp_path / "store", "search", "Küche")["results"][0]["content"] == "Küche"


def test_a_text_on_standard_input_is_refused_as_too_long_before_it_ends(tmp_path: Path) -> None:
    command = [COMMAND, "store", "-", "--no-hub", "--data", str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as storing:
        assert storing.stdin
        assert storing.stderr
        with suppress(BrokenPipeError):
            storing.stdin.write(b"y" * (1 << 20))
            storing.stdin.flush()
        try:
            assert storing.wait(PATIENCE) == 1, "the input goes on"
        finally:
            storing.kill()
            with suppress(BrokenPipeError):
                storing.stdin.close()
        assert b"longer than 65,536 characters" in storing.stderr.read()


def test_what_an_output_cannot_encode_is_escaped_in_it(tmp_path: Path) -> None:
    run_json(tmp_path, "store", "Mara’s dog Bo likes Øl 🎉.")
    for command, encoding in (("search", "cp1252"), ("search", "ascii"), ("export", "cp1252")):
        options = ("dog", "--no-hub") if command == "search" else ("-",)
        done = subprocess.run(
            [COMMAND, command, *options, "--data", str(tmp_path)],
            env=os.environ | {"PYTHONIOENCODING": encoding},
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b""), (command, encoding)
        if command == "search":
            assert "Mara’s dog Bo likes Øl 🎉.".encode(encoding, "backslashreplace") in done.stdout
        else:
            assert done.stdout.isascii()
            first, _end = json.JSONDecoder().raw_decode(done.stdout.decode())
            assert "Mara’s dog Bo likes Øl 🎉." in json.dumps(first, ensure_ascii=False)


@sampled(
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


@sampled("arguments", [("serve",), ("store", "Bo sleeps."), ("install", "--all")])
def test_a_folder_whose_path_is_not_utf_8_is_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    command = [COMMAND, *arguments, "--data", os.fsencode(tmp_path) + b"/d\xe9p\xf4t"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "its path isn't UTF-8" in done.stderr


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
