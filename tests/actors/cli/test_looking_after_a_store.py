"""What an administrator meets: missing files, wrong arguments, exports that end early, missing rights."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.cli import diagnosis
from actors.cli.checks import Check, Verdict
from actors.exporters import files, forms
from actors.exporters.files import Export
from actors.runtime.types import JsonObject
from tests.actors.cli.conftest import run, run_json

TOLD = "set CONTEXT_GRAPH_PASSPHRASE or CONTEXT_GRAPH_PASSPHRASE_FILE"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a memory in the namespace `home`."""
    folder = tmp_path / "store"
    assert run(folder, "store", "Mara's dog is called Bo.", "--namespace", "home", "--no-hub").exit_code == 0
    return folder


# ── anchors ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_holds_no_text_is_no_anchor_and_the_store_not_called_damaged(store: Path, tmp_path: Path) -> None:
    (tmp_path / "anchors").write_bytes(b"caf\xe9\n")
    done = run(store, "verify", "--anchor", str(tmp_path / "anchors"))
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.startswith("context-graph: there is no anchor in ")


@pytest.mark.parametrize(("name", "told"), [("keys", "keys is missing"), ("head", "`context-graph verify --data ")])
def test_an_anchor_of_a_store_that_lacks_a_file_says_so(store: Path, name: str, told: str) -> None:
    (store / name).unlink()
    done = run(store, "anchor")
    assert (done.exit_code, done.stdout, told in done.stderr) == (1, "", True), done.output


def test_an_anchor_that_does_not_hold_names_no_loss_that_nobody_knows(store: Path, tmp_path: Path) -> None:
    other = run(tmp_path / "other", "store", "Another store.", "--no-hub")
    assert other.exit_code == 0
    done = run(store, "verify", "--anchor", run(tmp_path / "other", "anchor").stdout.strip())
    assert (done.exit_code, "another store made this anchor" in done.stdout, "lost:" in done.stdout) == (1, True, False)


# ── exports ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("form", ["jsonl", "memories", "markdown", "parquet"])
def test_an_export_of_a_namespace_that_is_not_there_is_refused_and_leaves_nothing(
    store: Path, tmp_path: Path, form: str
) -> None:
    done = run(store, "export", str(tmp_path / "export"), "-f", form, "--namespace", "hoem")
    assert (done.exit_code, done.stderr) == (1, "context-graph: Namespace not found: hoem\n")
    assert not [*tmp_path.glob("export*")]
    assert run(store, "export", str(tmp_path / "export"), "-f", form, "--namespace", "default").exit_code == 0


def test_an_export_to_markdown_that_fails_leaves_no_folder(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "notes"
    assert run(store, "store", "The key hangs behind the canoe.", "--no-hub").exit_code == 0
    with monkeypatch.context() as patched:
        written = forms._properties

        def fail_later(memory: dict[str, object]) -> str:
            if memory["namespace"] == "home":
                raise OSError(28, "No space left on device")
            return written(memory)

        patched.setattr(forms, "_properties", fail_later)
        done = run(store, "export", str(target), "-f", "markdown")
    assert (done.exit_code, "No space left on device" in done.stderr) == (1, True), done.output
    assert not [*tmp_path.glob("notes*")]
    target.mkdir()
    assert run_json(store, "export", str(target), "-f", "markdown")["exported"] == 2
    assert len([*target.rglob("*.md")]) == 2


def test_of_two_exports_to_one_file_the_first_to_end_is_kept_whole(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "kept.jsonl"
    history = files._history

    def export_meanwhile(wanted: Export, left_out: Counter[str]) -> Iterator[JsonObject]:
        yield from history(wanted, left_out)
        files.write(wanted, "memories", target)

    monkeypatch.setattr(files, "_history", export_meanwhile)
    done = run(store, "export", str(target))
    assert (done.exit_code, f"{target} exists already" in done.stderr) == (1, True), done.output
    assert [json.loads(line)["content"] for line in target.read_text().splitlines()] == ["Mara's dog is called Bo."]
    assert [*tmp_path.glob("kept*")] == [target]


# ── messages ────────────────────────────────────────────────────────────────────────────────────────


def test_without_the_passphrase_commands_name_the_variables_for_it(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_GRAPH_PASSPHRASE", "the old boathouse key")
    assert "leave it out, or add it to them by: context-graph passphrase" in run(store, "status").stderr
    assert run(store, "passphrase").exit_code == 0
    monkeypatch.delenv("CONTEXT_GRAPH_PASSPHRASE")
    for command in (("status",), ("verify",), ("backup", str(tmp_path / "backup"))):
        assert run(store, *command).stderr == (
            f"context-graph: the keys are behind a passphrase, and none was given: {TOLD}\n"
        )
    monkeypatch.setenv("CONTEXT_GRAPH_PASSPHRASE_FILE", str(tmp_path / "missing"))
    assert run(store, "status").stderr == (
        "context-graph: the file that CONTEXT_GRAPH_PASSPHRASE_FILE names can't be read: No such file or directory: "
        f"{tmp_path / 'missing'}\n"
    )


def test_a_backup_into_the_store_is_refused_with_a_place_that_is_outside(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store)
    done = run(Path(), "backup", "copy")
    assert (done.exit_code, f"choose one outside, as {store}-backup" in done.stderr) == (1, True), done.output


def test_doctor_names_files_that_its_user_may_not_read(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "keys" and access(path, mode))
    (found,) = (one for one in diagnosis.diagnose(store) if one.name in {"folder", "log"})
    assert found == Check(
        Verdict.FAILED,
        "folder",
        f"this user can't read and write keys in {store}",
        "give the user who runs this all rights to the files: chown -R, chmod -R u+rw",
    )
