"""Files that are imported again after an edit: the new text takes the place of the former one, and no other."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from actors.cli import importing
from actors.cli.importing import Batch
from actors.runtime.types import JsonObject
from tests.actors.cli.conftest import run, run_json

FUSES = "The spare fuses lie on the top shelf of the cellar."
LADDER = "The ladder is lent to Ole until the summer."
PEARS = "The pear tree is pruned in the first week of March."
ROOF = "Two tiles above the attic window are loose."


def filled(text: str) -> str:
    """Return a paragraph that is long enough to be a section of its own."""
    return " ".join([text] + [f"{text.split()[1].capitalize()} note {number} adds no more." for number in range(60)])


def note(**sections: str) -> str:
    """Return a note of sections that are long enough to be memories of their own."""
    return "# House\n\nAll about the house.\n\n" + "\n\n".join(
        f"## {name}\n\n{text}" for name, text in sections.items()
    )


HOUSE = {"Cellar": filled(FUSES), "Shed": filled(LADDER), "Garden": filled(PEARS)}


class Vault:
    """A folder of notes and a store that it is imported into."""

    def __init__(self, path: Path) -> None:
        self.folder, self.store = path / "notes", path / "store"
        self.folder.mkdir(parents=True)

    def write(self, files: Mapping[str, str]) -> None:
        """Write files whose times are all the same."""
        for name, text in files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)
            os.utime(self.folder / name, (1_780_000_000, 1_780_000_000))

    def bring(self, files: Mapping[str, str], *options: str) -> tuple[int, ...]:
        """Write and import; return what was stored, changed, known before, and is gone from its file."""
        self.write(files)
        answer = run_json(self.store, "import", str(self.folder), *options)
        assert not answer["failed"]
        return tuple(answer[name] for name in ("stored", "changed", "stored_before", "gone"))

    def all(self) -> list[JsonObject]:
        """Return the live memories, also those that something superseded."""
        found = run_json(self.store, "search", "house", "--top-k", "50")["results"]
        return [one | {"id": one["fingerprintId"]} for one in found]

    def memories(self, *, superseded: bool = False) -> list[JsonObject]:
        """Return the live memories that hold, or those that something superseded."""
        return [one for one in self.all() if ("superseded_by" in one) is superseded]

    def holding(self, words: str) -> list[str]:
        """Return the contents that hold and have these words."""
        return [one["content"] for one in self.memories() if words in one["content"]]

    def id_of(self, words: str) -> str:
        """Return the id of the only memory with these words."""
        (found,) = (one["id"] for one in self.all() if words in one["content"])
        return found


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path)


def edited(**sections: str) -> dict[str, str]:
    """Return the note with other sections."""
    return {"house.md": note(**(HOUSE | sections))}


def test_an_edited_section_takes_the_place_of_its_former_version_and_the_others_are_known(vault: Vault) -> None:
    assert vault.bring({"house.md": note(**HOUSE), "dog.md": "# Dog\n\nBo fears thunder.\n"})[0] == 5
    head = run_json(vault.store, "status")["log"]["position"]
    changed = filled(LADDER.replace("Ole", "Kari"))
    assert vault.bring(edited(Shed=changed)) == (1, 1, 4, 0)
    assert vault.bring({}) == (0, 0, 5, 0)
    assert [LADDER in one["content"] for one in vault.memories(superseded=True)] == [True]
    (found,) = run_json(vault.store, "search", "Who has the ladder?", "--no-superseded", "--top-k", "1")["results"]
    assert "Kari" in found["content"]
    (found,) = run_json(vault.store, "search", "Who has the ladder?", "--as-of", str(head), "--top-k", "1")["results"]
    assert "Ole" in found["content"]
    assert "superseded_by" not in found


def test_restoring_the_former_version_undoes_it_and_the_next_import_leaves_both(vault: Vault) -> None:
    vault.bring(edited())
    vault.bring(edited(Shed=filled(LADDER.replace("Ole", "Kari"))))
    run_json(vault.store, "restore", vault.id_of("Ole"))
    assert vault.bring({}) == (0, 0, 4, 1)
    assert not vault.memories(superseded=True)


def test_a_text_that_is_changed_back_holds_again_however_often(vault: Vault) -> None:
    other = edited(Shed=filled(LADDER.replace("Ole", "Kari")))
    vault.bring(edited())
    vault.bring(other)
    for files, words in ((edited(), "Ole"), (other, "Kari"), (edited(), "Ole")):
        assert vault.bring(files) == (0, 1, 4, 0)
        assert len(vault.holding("The ladder")) == len(vault.holding(f"The ladder is lent to {words}")) == 1
    assert run_json(vault.store, "replay")["matches"]


def test_a_text_that_is_changed_back_stays_out_of_date_if_a_person_said_so(vault: Vault) -> None:
    vault.bring({"dog.md": "# Dog\n\nBo barks.\n"})
    old = vault.id_of("Bo barks")
    new = run_json(vault.store, "store", "Bo is silent since May.")["fingerprintId"]
    run_json(vault.store, "supersede", old, new)
    vault.bring({"dog.md": "# Dog\n\nBo sleeps.\n"})
    assert vault.bring({"dog.md": "# Dog\n\nBo barks.\n"})[:2] == (0, 0)
    assert [one["id"] for one in vault.memories(superseded=True)] == [old]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("# Dog\n\nBo fears thunder.\n", "# Dog\n\nBo fears nothing.\n", id="a short note"),
        pytest.param("Bo fears thunder.\n", "Bo fears nothing.\n", id="without a heading"),
        pytest.param("# Dog\n\nBo fears thunder.\n", "# Bo\n\nBo fears nothing.\n", id="another title"),
        pytest.param("---\nowner: Mara\n---\nBo\n", "---\nowner: Ole\n---\nBo\n", id="a property"),
        pytest.param("---\ntags: [a]\n---\nBo barks.\n", "---\ntags: [b]\n---\nBo barks.\n", id="a tag"),
        pytest.param(
            "# Dog\n\nBo fears thunder.\n", "# Dog\n\nBo is calm.\n\n" + note(**HOUSE), id="grown and divided"
        ),
    ],
)
def test_what_is_all_of_a_file_gives_way_to_what_the_file_says_now(vault: Vault, before: str, after: str) -> None:
    vault.bring({"dog.md": before})
    old = vault.memories()
    _, changed, _, gone = vault.bring({"dog.md": after})
    assert (changed, gone) == (not vault.holding(old[0]["content"]), 0)
    assert [one["id"] for one in vault.memories(superseded=True)] == [one["id"] for one in old]
    assert not {one["id"] for one in old} & {one["id"] for one in vault.memories()}


def test_a_journal_with_a_new_day_on_top_keeps_the_day_before(vault: Vault) -> None:
    first, second = "## 2026-05-01\n\nFixed the roof.\n", "## 2026-05-02\n\nPainted the door.\n"
    vault.bring({"journal.md": first})
    assert vault.bring({"journal.md": f"{second}\n{first}"})[3] == 0
    assert len(vault.holding("Fixed the roof")) == len(vault.holding("Painted the door")) == 1
    assert vault.bring({"journal.md": f"{second.replace('door', 'gate')}\n{first}"}) == (1, 1, 1, 0)
    assert len(vault.holding("Fixed the roof")) == len(vault.holding("Painted the gate")) == len(vault.memories()) - 1


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        pytest.param(
            {"house.md": note(**HOUSE)},
            {"house.md": note(Cellar=HOUSE["Cellar"], Garden=HOUSE["Garden"])},
            1,
            id="deleted",
        ),
        pytest.param(
            {"house.md": note(**HOUSE)},
            {"house.md": note(**(HOUSE | {"Shed": filled(ROOF)})), "lent.md": f"# Lent\n\n{HOUSE['Shed']}\n"},
            1,
            id="moved to another file",
        ),
        pytest.param(
            {"house.md": note(**HOUSE)},
            {"house.md": note(**(HOUSE | {"Shed": filled(ROOF)})) + f"\n\n## Shed\n\n{filled('Some bees live here.')}"},
            1,
            id="two sections of that heading now",
        ),
        pytest.param(
            {"house.md": note(**HOUSE) + f"\n\n## Shed\n\n{filled('Some bees live here.')}"},
            {"house.md": note(**(HOUSE | {"Shed": filled(ROOF)}))},
            2,
            id="two sections of that heading before",
        ),
        pytest.param(
            {"house.md": note(**HOUSE)},
            {"house.md": note(**HOUSE).replace("## Shed", "## Barn")},
            1,
            id="another heading",
        ),
        pytest.param(
            {"a.md": "# Dog\n\nBo barks.\n"}, {"a.txt": "Dog\n\nBo sleeps.\n"}, 0, id="a file of the same name"
        ),
        pytest.param({"a.md": "# Dog\n\nBo barks.\n"}, {"b.md": "# Dog\n\nBo sleeps.\n"}, 0, id="another file"),
        pytest.param(
            dict.fromkeys(("a.md", "a.txt"), "# Dog\n\nBo barks.\n"),
            {"a.md": "# Dog\n\nBo sleeps.\n"},
            0,
            id="one of two copies",
        ),
        pytest.param({"a.md": "# Dog\n\nBo barks.\n", "b.md": "Bees\n"}, {"a.md": ""}, 0, id="empty now"),
    ],
)
def test_what_may_still_hold_is_superseded_by_nothing(
    vault: Vault, before: dict[str, str], after: dict[str, str], gone: int
) -> None:
    vault.bring(before)
    old = {one["id"] for one in vault.memories()}
    assert vault.bring(after)[1::2] == (0, gone)
    assert old <= {one["id"] for one in vault.memories()}


def test_a_section_that_is_moved_in_its_file_is_there_once(vault: Vault) -> None:
    vault.bring({"house.md": note(**HOUSE)})
    vault.bring({"house.md": note(Garden=HOUSE["Garden"], Shed=HOUSE["Shed"], Cellar=HOUSE["Cellar"])})
    assert len(vault.holding("The ladder is lent")) == len(vault.holding("spare fuses lie")) == 1
    assert len(vault.holding("The pear tree is pruned")) == 1


def test_folders_and_namespaces_are_told_apart(tmp_path: Path) -> None:
    work, home = Vault(tmp_path / "work"), Vault(tmp_path / "home")
    home.store = work.store
    work.bring({"readme.md": "# Notes\n\nThe build runs at night.\n"})
    home.bring({"readme.md": "# Notes\n\nThe bins go out on Monday.\n"})
    assert len(work.memories()) == 2
    assert home.bring({"readme.md": "# Notes\n\nThe bins go out on Friday.\n"}, "--namespace", "home")[1:2] == (0,)
    assert len(work.memories()) == 3


def test_machines_with_other_files_at_a_path_are_told_apart(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    for machine, text in (("desk", "The build runs at night."), ("laptop", "The bins go out on Monday.")):
        monkeypatch.setattr("platform.node", lambda machine=machine: machine)
        assert vault.bring({"readme.md": f"# Notes\n\n{text}\n"}) == (1, 0, 0, 0)
    assert len(vault.memories()) == 2
    assert vault.bring({"readme.md": "# Notes\n\nThe bins go out on Friday.\n"}) == (1, 1, 0, 0)


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        pytest.param("a7,Fix the login", "a7,Fix the login page", 1, id="by its key"),
        pytest.param("1,Fix the login", "1,Buy more coffee", 0, id="the key is the number of the row"),
        pytest.param("a7,Fix the login", "a8,Fix the login page", 0, id="another key"),
    ],
)
def test_a_row_takes_the_place_of_the_row_with_its_key(vault: Vault, before: str, after: str, changed: int) -> None:
    other = "b4,Call the plumber"
    for row, expected in ((before, 0), (after, changed), (after, 0)):
        vault.write({"tasks.csv": f"id,content\n{row}\n{other}\n"})
        assert run_json(vault.store, "import", str(vault.folder / "tasks.csv"))["changed"] == expected
    assert len(vault.memories(superseded=True)) == changed


def test_our_own_exports_are_told_from_the_files_that_their_memories_came_from(vault: Vault, tmp_path: Path) -> None:
    vault.bring({"dog.md": "# Dog\n\nBo barks.\n"})
    for form, name in (("markdown", "vault"), ("jsonl", "all.jsonl")):
        assert run(vault.store, "export", str(tmp_path / name), "-f", form).exit_code == 0
        assert run_json(vault.store, "import", str(tmp_path / name))["changed"] == 0
    assert not vault.memories(superseded=True)
    assert vault.bring({"dog.md": "# Dog\n\nBo sleeps.\n"}) == (1, 1, 0, 0)


@pytest.mark.parametrize("done", [1, 2])
def test_an_import_that_was_interrupted_and_is_repeated_comes_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int
) -> None:
    files = {
        "house.md": note(**(HOUSE | {"Shed": filled(ROOF), "Attic": HOUSE["Cellar"], "Cellar": filled("A new text.")})),
        "dog.md": "# Dog\n\nBo sleeps.\n",
    }
    outcomes = []
    for name in ("whole", "interrupted"):
        vault = Vault(tmp_path / name)
        vault.bring({"house.md": note(**HOUSE), "dog.md": "# Dog\n\nBo barks.\n"})
        if name == "interrupted":
            with monkeypatch.context() as patched:
                patched.setattr(importing, "BATCH", 1)
                patched.setattr(Batch, "add", interrupted(done))
                vault.write(files)
                assert run(vault.store, "import", str(vault.folder)).exit_code
        vault.bring(files)
        outcomes.append(sorted((one["content"], "superseded_by" in one) for one in vault.all()))
    assert outcomes[0] == outcomes[1]
    assert len({flag for _, flag in outcomes[0]}) == 2


def interrupted(done: int) -> Callable[[Batch, JsonObject], None]:
    """Return what takes some answers and fails at the next."""
    left = [done]
    add = Batch.add

    def take(batch: Batch, answer: Any) -> None:
        if not left[0]:
            raise OSError("interrupted")
        left[0] -= 1
        add(batch, answer)

    return take


def test_links_to_a_note_whose_beginning_is_as_before_lead_to_the_memory_that_it_is(vault: Vault) -> None:
    vault.bring(edited() | {"tools.md": "# Tools\n\nSee [[house]].\n"})
    beginning = vault.id_of("All about the house")
    changed = edited(Garden=filled(PEARS.replace("March", "April")))
    assert vault.bring(changed | {"plans.md": "# Plans\n\nSee [[house]].\n"}) == (2, 1, 4, 0)
    assert vault.id_of("All about the house") == beginning
    linked = run_json(vault.store, "show", beginning)["linkedFrom"]
    assert vault.id_of("# Plans") in json.dumps(linked)


def test_a_pool_of_workers_imports_a_change_as_well(vault: Vault) -> None:
    vault.bring(edited())
    assert vault.bring(edited(Shed=filled(ROOF)), "--workers", "1") == (1, 1, 3, 0)
    assert len(vault.memories(superseded=True)) == 1
