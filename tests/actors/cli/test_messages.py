"""What commands say to a person: counts, names with a typo, folders that can't be one, input that isn't there."""

import json
import re
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actors.cli.commands import program
from actors.cli.views.terminal import Screen
from actors.proxy.serve_command import parse_plain
from events.wording import with_folder
from tests.acceptance.conftest import COMMAND, PATIENCE, refused
from tests.actors.api.stream import BOAT
from tests.actors.cli.conftest import run, run_json
from tests.actors.conftest import Place
from tests.sampling import sampled

SINGULAR = re.compile(
    r"(?<![\d.,:+-])1 (?:other |more )?"
    r"(?:memories|events|links|edges|files|goals|spaces|times|interactions|clusters|patterns|groups|causes|characters)\b"
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with one memory in the namespace `home`."""
    folder = tmp_path / "store"
    done = run(folder, "store", "Mara's dog is called Bo.", "--namespace", "home", "--no-hub")
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def note(tmp_path: Path) -> Path:
    file = tmp_path / "ferns.md"
    file.write_text("Ilse waters the ferns on Sundays.\n")
    return file


def test_advice_names_the_store_that_the_command_names(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "an other"
    told = run(other, "search", "Bo").output
    assert f"`context-graph store --data '{other}'` or an agent's" in told
    assert (
        f"context-graph key create --data {store} NAME"
        in CliRunner().invoke(program, ["key", "list", "--data", str(store)]).output
    )
    monkeypatch.setenv("CONTEXT_GRAPH_DATA", str(other))  # other commands find it too
    assert "`context-graph store` or an agent's" in CliRunner().invoke(program, ["search", "Bo"]).output


@pytest.mark.parametrize(
    ("advice", "completed"),
    [
        ("run: context-graph stop", "run: context-graph stop --data /a"),
        ("`context-graph verify` tells; `restore` too", "`context-graph verify --data /a` tells; `restore` too"),
        ("context-graph restore B --data C --replace", "context-graph restore B --data C --replace"),
        (
            "run context-graph move --to X, then context-graph passphrase --data X",
            "run context-graph move --data /a --to X, then context-graph passphrase --data X",
        ),
        ("context-graph namespaces rename a b", "context-graph namespaces rename --data /a a b"),
        ("context-graph install --client x", "context-graph install --client x"),
    ],
)
def test_each_command_of_advice_names_one_store(advice: str, completed: str) -> None:
    assert with_folder(advice, Path("/a")) == completed


def test_no_command_says_one_memories(store: Path, note: Path, tmp_path: Path) -> None:
    memory = run_json(store, "search", "Bo", "--no-hub")["results"][0]["fingerprintId"]
    renaming = ["namespaces", "rename", "home", "house", "--data", str(store), "--json"]
    run_of_move = json.loads(CliRunner().invoke(program, renaming).stdout)["run_id"]
    commands = (
        ("undo", run_of_move),
        ("status",),
        ("namespaces",),
        ("goals",),
        ("mind",),
        ("verify",),
        ("scan",),
        ("backup", str(tmp_path / "copy")),
        ("export", str(tmp_path / "out.jsonl")),
        ("import", str(note), "--dry-run"),
        ("forget", memory),
        ("import", str(note)),
        ("consolidate", "deep"),
        ("candidates",),
        ("drift",),
        ("diff", "0"),
        ("diff", "2", "3"),
        ("history", memory),
        ("audit",),
        ("replay",),
    )
    printed = {command: run(store, *command).output for command in commands}
    assert printed["undo", run_of_move].startswith("1 memory is back")
    assert printed["status",].startswith("1 memory, ")
    assert {command: found for command, text in printed.items() if (found := SINGULAR.findall(text))} == {}


# ── namespaces ──────────────────────────────────────────────────────────────────────────────────────


@sampled(
    "command", [("search", "dog", "--no-hub"), ("goals",), ("drift",), ("mind",), ("candidates",), ("consolidate",)]
)
def test_a_namespace_with_a_typo_is_named_with_the_one_that_was_meant(store: Path, command: tuple[str, ...]) -> None:
    done = run(store, *command, "--namespace", "hoem")
    assert done.exit_code == 0, done.output
    assert done.stderr == "The namespace 'hoem' holds no live memories; did you mean 'home'?\n"
    assert run(store, *command, "--namespace", "home").stderr == ""
    assert run(store, *command).stderr == ""


def test_goals_say_of_which_namespace_they_are(store: Path) -> None:
    assert run(store, "goals").stdout.splitlines()[-1] == "0 of 0 memories in default compared"
    assert run(store, "goals", "-n", "home").stdout.startswith("no North Star in home yet")
    assert "no North Star in home yet" in run(store, "drift", "-n", "home").stdout
    for command in ("goals", "drift"):
        done = run(store, command, "-n", "*")
        assert (done.exit_code, "Invalid 'namespace': each namespace has goals of its own" in done.stderr) == (1, True)


@pytest.mark.parametrize("command", ["goals", "drift"])
def test_what_is_missing_for_goals_is_said_once_and_in_words_of_commands(store: Path, command: str) -> None:
    done = run(store, command, "-n", "home")
    assert done.stderr == ""
    assert done.stdout.count("North Star") == 1
    assert not re.search(r"[a-z]_[a-z]", done.stdout.replace(str(store), ""))


def test_a_memory_says_in_words_whether_it_is_about_the_north_star(tmp_path: Path) -> None:
    stray = "Aunt Bertha's parrot recites the whole of the Erlking at breakfast."
    lines = tmp_path / "lines.jsonl"
    lines.write_text("\n".join(json.dumps({"content": text, "namespace": "yard"}) for text in (*BOAT, stray)))
    store = tmp_path / "store"
    assert run_json(store, "import", str(lines))["stored"] == len(BOAT) + 1
    star = run_json(store, "goals", "-n", "yard")["north_star"]
    told = {}
    for text in ("parrot", star["members"][0]):
        memory = run_json(store, "search", text)["results"][0]["fingerprintId"] if text == "parrot" else text
        assert "alignmentBand" in run_json(store, "show", memory)
        told[text] = next(line for line in run(store, "show", memory).stdout.splitlines() if "North Star" in line)
    assert re.search(r"0\.\d\d, about another subject$", told.pop("parrot").rstrip())
    assert re.search(r"[01]\.\d\d, (?:partly )?on its subject$", told.popitem()[1].rstrip())


@pytest.mark.parametrize(("since", "until"), [("3", "1"), ("2026-03-02", "2026-03-01")])
def test_an_audit_that_ends_before_it_begins_is_refused(store: Path, since: str, until: str) -> None:
    done = run(store, "audit", "--since", since, "--until", until)
    assert (done.exit_code, done.stderr) == (1, f"context-graph: Invalid 'since': {since} is after 'until', {until}\n")


def test_a_restore_says_whether_a_memory_is_shown_again_or_holds_again(store: Path) -> None:
    old = run_json(store, "search", "Bo", "--no-hub")["results"][0]["fingerprintId"]
    new = run_json(store, "store", "Mara's dog is called Bobo.", "--supersedes", old, "--no-hub")["fingerprintId"]
    run(store, "forget", old)
    assert (
        run(store, "restore", old).stdout == f"{old} is back; {new} still supersedes it: restore it again to end that\n"
    )
    assert run(store, "restore", old).stdout == f"{old} is back: it holds again, and {new} supersedes it no more\n"
    assert run(store, "restore", old).exit_code == 1
    run(store, "forget", old)
    assert run(store, "restore", old).stdout == f"{old} is back\n"


def test_an_audit_without_events_says_so(store: Path) -> None:
    assert run(store, "audit", "--since", "2099-01-01").stdout == "there is no such event\n"


def test_the_workspace_is_shown_as_one_namespace_sees_it(store: Path) -> None:
    run(store, "store", "The ferry leaves at nine.", "--namespace", "sea", "--no-hub")
    shown = {name: run(store, "mind", "-n", name).stdout for name in ("home", "sea", "*")}
    assert all("in the workspace" in text for text in shown.values())
    assert "ferry" not in shown["home"]


def test_the_folder_before_the_name_of_a_command_on_namespaces_is_the_one_it_changes(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_GRAPH_DATA", str(tmp_path / "another"))
    done = run(store, "namespaces", "rename", "home", "house")
    assert (done.exit_code, done.stdout.splitlines()[:1]) == (0, ["1 memory moved from home to house"]), done.output
    done = run(store, "namespaces", "--json", "rename", "house", "hut")
    assert json.loads(done.stdout)["moved_from"] == {"house": 1}, "--json stands before the name too"


def test_a_line_break_in_a_name_a_tag_or_a_reason_fakes_no_line(tmp_path: Path) -> None:
    faked = "\n     99  faked"
    exported = {"content": "The boat is blue.", "tags": [f"boat{faked}"], "session": f"chat{faked}"}
    (tmp_path / "export.jsonl").write_text(json.dumps(exported | {"namespace": f"harbor{faked}"}) + "\n")
    store = tmp_path / "store"
    run_json(store, "import", str(tmp_path / "export.jsonl"))
    (found,) = run_json(store, "search", "boat")["results"]
    memory = found["fingerprintId"]
    run_json(store, "forget", memory, "--reason", f"sold{faked}")
    run_json(store, "restore", memory)
    reading = (("namespaces",), ("search", "boat"), ("show", memory), ("history", memory), ("audit",), ("diff", "0"))
    for command in reading:
        shown = run(store, *command).stdout
        assert [line for line in shown.splitlines() if line.strip() == "99  faked"] == [], command
    for command in reading[:5]:
        assert "\N{SYMBOL FOR NEWLINE}     99  faked" in re.sub(" +\n +", "     ", run(store, *command).stdout), command
    moved = run(store, "namespaces", "rename", f"harbor{faked}", "harbor")
    assert (moved.exit_code, len(moved.stdout.splitlines())) == (0, 3), "a name that is stored can be left"
    assert run_json(store, "namespaces")["namespaces"][0]["namespace"] == "harbor"


@pytest.mark.parametrize("name", [" home", "home ", "ho\nme", "ho\x1bme", "ho\u202eme"])
def test_a_namespace_that_looks_like_another_one_or_like_more_lines_cannot_be_given(store: Path, name: str) -> None:
    for command in (
        ("store", "The dog is called Bo.", "-n", name),
        ("import", str(store), "-n", name),
        ("namespaces", "rename", "home", name),
    ):
        done = run(store, *command)
        assert (done.exit_code, "must " in done.stderr) == (1, True), (command, done.output)


def test_a_key_for_a_namespace_without_memories_is_made_with_a_warning(store: Path) -> None:
    made = CliRunner().invoke(program, ["key", "create", "typo", "-n", "hom", "--data", str(store)])
    assert (made.exit_code, made.stdout[:8]) == (0, "cg_typo_")
    assert made.stderr == "The namespace 'hom' holds no live memories; did you mean 'home'?\n"
    made = CliRunner().invoke(program, ["key", "create", "ci", "-n", "home", "--data", str(store)])
    assert (made.exit_code, made.stderr) == (0, "")


# ── folders and files ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "wrong", [("ci",), ("ci", "-n", "home", "--expires", "soon"), ("CI", "-n", "home"), ("ci", "-n", " ")]
)
def test_a_key_that_is_refused_leaves_no_folder(tmp_path: Path, wrong: tuple[str, ...]) -> None:
    done = CliRunner().invoke(program, ["key", "create", *wrong, "--data", str(tmp_path / "new")])
    assert (done.exit_code, done.stderr.startswith("context-graph: Invalid '")) == (1, True), done.output
    assert not (tmp_path / "new").exists()
    made = CliRunner().invoke(program, ["key", "create", "ci", "-n", "home", "--data", str(tmp_path / "new")])
    assert (made.exit_code, made.stdout[:6]) == (0, "cg_ci_"), made.output


def test_a_key_expires_at_the_time_of_this_machine_that_a_person_names(tmp_path: Path, place: Place) -> None:
    place("America/New_York")
    create = ["key", "create", "ci", "-n", "home", "--expires", "2099-12-01", "--data", str(tmp_path)]
    assert CliRunner().invoke(program, create).exit_code == 0
    listed = CliRunner().invoke(program, ["key", "list", "--data", str(tmp_path)])
    assert listed.stdout == "ci: read, home, until 2099-12-01 00:00; last used: never\n"


@sampled(
    "command",
    [
        ("export",),
        ("export", "-f", "markdown"),
        ("reembed",),
        ("repair",),
        ("backup",),
        ("move", "--to"),
        ("anchor", "--file"),
        ("anchor", "--git"),
        ("schedule", "--anchor"),
        ("doctor", "--bundle"),
        ("store", "A ferry.", "--modality", "image", "--image"),
    ],
)
def test_an_empty_path_is_refused_and_never_the_current_folder(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    done = run(store, *command, "")
    assert (done.exit_code, "it is empty; name a file or folder" in done.stderr) == (2, True), done.output
    assert [*(tmp_path / "here").iterdir()] == []


@pytest.mark.parametrize("option", ["--embedder", "--models"])
def test_an_empty_choice_of_models_is_refused_by_the_name_of_its_option(
    store: Path, tmp_path: Path, option: str
) -> None:
    for command in (("reembed", str(tmp_path / "new")), ("search", "ferry"), ("import", str(store))):
        done = run(store, *command, option, "")
        told = " ".join(done.stderr.replace("│", " ").split())
        assert (done.exit_code, f"Invalid value for '{option}'" in told, "it is empty" in told) == (2, True, True), told
    assert parse_plain(["serve", option, ""], {}) is None, "serve is left to the command that refuses it"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--tls-cert", "server.pem", "--tls-key", "server.key"), "--tls-cert needs --http"),
        (("--behind-proxy",), "--behind-proxy needs --http"),
        (("--oauth-issuer", "https://login.example.org"), "--oauth-issuer needs --http"),
        (("127.0.0.1:8765",), "HOST:PORT needs --http"),
        (("--http", "--namespace", "crew"), "--namespace has no effect with --http"),
        (("--http", "--tools", "core"), "--tools has no effect with --http"),
        (("--http", "--linger", "5"), "--linger has no effect with --http"),
    ],
    ids=repr,
)
def test_an_option_that_would_have_no_effect_on_the_server_is_refused(
    tmp_path: Path, options: tuple[str, ...], told: str
) -> None:
    done = run(tmp_path / "store", "serve", *options)
    assert (done.exit_code, told in " ".join(done.stderr.replace("│", " ").split())) == (2, True), done.output
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("form", ["jsonl", "memories", "parquet"])
def test_an_export_takes_the_place_of_a_file_only_where_that_is_said(store: Path, tmp_path: Path, form: str) -> None:
    file = tmp_path / "kept"
    file.write_text("a letter")
    done = run(store, "export", str(file), "-f", form)
    problem = f"context-graph: {file} exists already: name another; with --replace the export takes its place\n"
    assert (done.exit_code, done.stderr, file.read_text()) == (1, problem, "a letter")
    assert run(store, "export", str(file), "-f", form, "--replace").exit_code == 0
    assert file.read_bytes() != b"a letter"
    assert [*tmp_path.glob("kept*")] == [file]


@pytest.mark.parametrize(
    ("name", "options", "first"),
    [
        ("kept.parquet", (), b"PAR1"),
        ("kept.json", (), b'{"id'),
        ("kept.json", ("-f", "parquet"), b"PAR1"),
        ("kept.parquet", ("-f", "memories"), b'{"id'),
    ],
)
def test_an_export_is_in_the_format_that_is_chosen_or_else_that_its_file_is_named_after(
    store: Path, tmp_path: Path, name: str, options: tuple[str, ...], first: bytes
) -> None:
    assert run(store, "export", str(tmp_path / name), *options).exit_code == 0
    assert (tmp_path / name).read_bytes()[:4] == first


@pytest.mark.parametrize("command", [("reembed",), ("repair",), ("backup",), ("move", "--to")])
def test_nothing_is_created_inside_the_store_that_it_is_made_from(store: Path, command: tuple[str, ...]) -> None:
    before = {path.name for path in store.iterdir()}
    done = run(store, *command, str(store / "copy"))
    assert (done.exit_code, f"inside the store's folder {store}: choose" in done.stderr) == (1, True), done.output
    assert {path.name for path in store.iterdir()} == before


def test_a_backup_onto_something_names_its_argument_and_a_misspelt_address_is_no_folder(
    store: Path, tmp_path: Path
) -> None:
    done = run(store, "backup", str(tmp_path))
    assert (done.exit_code, done.stderr) == (1, f"context-graph: Invalid 'target': {tmp_path} exists already\n")
    done = run(store, "move", "--to", "postgre://host/base")
    assert (done.exit_code, "'postgre://host/base' is no address of a PostgreSQL server" in done.stderr) == (1, True)


def test_a_text_that_is_too_long_is_refused_in_words(store: Path) -> None:
    done = run(store, "store", "x" * 70_000, "--no-hub")
    assert (done.exit_code, done.stderr) == (1, "context-graph: Invalid 'content': longer than 65,536 characters\n")


def test_a_folder_that_cannot_be_made_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "store"
    advice = "choose another folder by --data or CONTEXT_GRAPH_DATA"
    line = f"context-graph: no store can be made in {folder} (Not a directory): {advice}"
    for command in (("store", "x", "--no-hub"), ("import", str(tmp_path / "file.md"))):
        (tmp_path / "file.md").write_text("A note.\n")
        done = run(folder, *command)
        assert (done.exit_code, done.stderr) == (1, f"{line}\n")
    assert refused(folder) == line


def test_a_restore_says_what_its_argument_is_not_and_how_to_replace_a_store(store: Path, tmp_path: Path) -> None:
    backup, empty = tmp_path / "backup", tmp_path / "empty"
    empty.mkdir()
    assert run(store, "backup", str(backup)).exit_code == 0
    for what, sentence in (
        (tmp_path / "bakcup", "is neither the id of a memory nor a folder"),
        (empty, f"{empty} isn't a backup: No such file or directory: {empty / 'backup.json'}"),
        (backup, f"{store} isn't empty; with --replace it is renamed, and the backup takes its place"),
    ):
        done = run(store, "restore", str(what))
        assert (done.exit_code, sentence in done.stderr) == (1, True), done.output


def test_the_import_of_one_note_calls_it_a_note(note: Path, tmp_path: Path) -> None:
    assert run(tmp_path / "store", "import", str(note)).stdout.startswith("a note: 1 file\n")


# ── a passphrase without a terminal ─────────────────────────────────────────────────────────────────


def passphrase(store: Path, *arguments: str, given: str) -> subprocess.CompletedProcess[str]:
    """Change the passphrase of a store in a session without a terminal."""
    return subprocess.run(
        [COMMAND, "passphrase", "--data", str(store), *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        start_new_session=True,
    )


def test_a_passphrase_without_a_terminal_is_read_from_standard_input_or_asked_for_in_a_sentence(store: Path) -> None:
    missing = passphrase(store, given="")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr == (
        "context-graph: New passphrase: there is no terminal to type it, and standard input is empty; pass it on "
        "standard input, or set CONTEXT_GRAPH_PASSPHRASE or CONTEXT_GRAPH_PASSPHRASE_FILE\n"
    )
    changed = passphrase(store, given="the old boathouse key\n")
    assert (changed.returncode, changed.stderr) == (0, "")
    assert passphrase(store, "--remove", given="another boathouse key\n").returncode == 1
    removed = passphrase(store, "--remove", given="the old boathouse key\n")
    assert (removed.returncode, removed.stderr) == (0, "")


def test_a_path_of_nobodys_home_is_a_file(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(store, "export", "~kept.jsonl")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "~kept.jsonl").stat().st_size


@pytest.mark.parametrize(
    ("is_terminal", "lines"),
    [
        (True, ["1. The boathouse key", "   hangs behind the red", "   canoe.", "   Ask Ben."]),
        (False, ["1. The boathouse key hangs behind the red canoe.", "   Ask Ben."]),
    ],
)
def test_a_text_breaks_between_words_on_a_terminal_and_nowhere_else(is_terminal: bool, lines: list[str]) -> None:
    written = StringIO()
    screen = Screen(file=written, width=24, force_terminal=is_terminal, color_system=None, soft_wrap=True)
    screen.print_item("1. ", "The boathouse key hangs behind the red canoe.\nAsk Ben.")
    assert [line.rstrip() for line in written.getvalue().splitlines()] == lines


def test_a_text_is_shown_on_a_terminal_no_wider_than_its_mark() -> None:
    written = StringIO()
    Screen(file=written, width=3, force_terminal=True, color_system=None, soft_wrap=True).print_item("1. ", "Ab")
    assert written.getvalue().split() == ["1.", "A", "b"]
