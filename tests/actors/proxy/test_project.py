"""The project of a folder: its repository with all worktrees, or what a file says."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from actors.proxy.claims import absence, claims
from actors.proxy.project import ProjectError, find_project, find_root_project, git_common_dir, serving_project


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    return subprocess.run(
        ["/usr/bin/env", "git", "-C", str(folder), *identity, *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def paths(store: Path) -> dict[str, Path]:
    return {namespace: claim.path for namespace, claim in claims(store)}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)


def test_a_repository_is_one_project_with_its_folders_and_worktrees(tmp_path: Path, store: Path) -> None:
    clinic = repository(tmp_path / "src" / "clinic")
    (clinic / "desk" / "deep").mkdir(parents=True)
    git(clinic, "worktree", "add", "-q", str(tmp_path / "elsewhere" / "feature"))
    folders = (clinic, clinic / "desk" / "deep", tmp_path / "elsewhere" / "feature")
    assert {find_project(folder, store) for folder in folders} == {"clinic"}
    for folder in (clinic, tmp_path / "elsewhere" / "feature"):
        named = Path(git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir"))
        assert git_common_dir(folder) == named


def test_worktrees_of_a_bare_repository_and_submodules_have_the_name_that_people_know(
    tmp_path: Path, store: Path
) -> None:
    source = repository(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / "clinic.git"))
    git(tmp_path / "clinic.git", "worktree", "add", "-q", str(tmp_path / "one"))
    assert find_project(tmp_path / "one", store) == "clinic"
    git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / "shop" / ".bare"))
    git(tmp_path / "shop" / ".bare", "worktree", "add", "-q", str(tmp_path / "shop" / "main"))
    assert find_project(tmp_path / "shop" / "main", store) == "shop"
    outer = repository(tmp_path / "outer")
    git(outer, "submodule", "-q", "add", str(source), "library")
    assert find_project(outer / "library", store) == "library"
    named = git(outer / "library", "rev-parse", "--path-format=absolute", "--git-common-dir")
    assert git_common_dir(outer / "library") == Path(named)


def test_two_repositories_of_one_name_never_share_a_namespace(tmp_path: Path, store: Path) -> None:
    work, own = repository(tmp_path / "work" / "api"), repository(tmp_path / "own" / "api")
    assert [find_project(folder, store) for folder in (work, own, work, own)] == ["api", "api-2", "api", "api-2"]
    assert paths(store) == {"api": work / ".git", "api-2": own / ".git"}


def test_a_repository_that_was_moved_keeps_its_namespace(tmp_path: Path, store: Path) -> None:
    before = repository(tmp_path / "work" / "api")
    assert find_project(before, store) == "api"
    after = tmp_path / "archive" / "api"
    after.parent.mkdir()
    before.rename(after)
    assert find_project(after, store) == "api"
    assert paths(store) == {"api": after / ".git"}


def test_a_file_names_the_namespace_of_its_folder_and_those_below(tmp_path: Path, store: Path) -> None:
    clinic = repository(tmp_path / "clinic")
    (clinic / "desk").mkdir()
    (clinic / ".context-graph.toml").write_text('namespace = "Praxis Süd"\n')
    assert find_project(clinic / "desk", store) == "Praxis Süd"
    (clinic / "desk" / ".context-graph.toml").write_text('namespace = "desk"\n')
    assert find_project(clinic / "desk", store) == "desk"
    (tmp_path / ".context-graph.toml").write_text('namespace = "all"\n')
    (clinic / ".context-graph.toml").unlink()
    assert find_project(clinic, store) == "clinic", "a repository ends the search for the file"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("namespace = ]\n", "line 1"),
        ("namespace = 5", "'namespace' must be a text of 1 to 256 characters"),
        ('other = "x"', "'namespace' must be"),
        ('namespace = ""', "'namespace' must be"),
        (f'namespace = "{"x" * 257}"', "'namespace' must be"),
        ('namespace = "*"', "stands for all"),
        ('namespace = "a\\nb"', "must not contain line breaks"),
        ('namespace = " a"', "must neither begin nor end with a blank"),
    ],
)
def test_an_invalid_file_is_an_error_that_names_it(tmp_path: Path, store: Path, text: str, problem: str) -> None:
    file = tmp_path / ".context-graph.toml"
    file.write_text(text)
    with pytest.raises(ProjectError, match=problem) as error:
        find_project(tmp_path, store)
    assert str(file) in str(error.value)


def test_a_folder_without_a_repository_is_a_project_only_where_the_client_names_it(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    assert find_project(notes, store) is None
    assert find_root_project(notes, store) == "notes"
    monkeypatch.chdir(notes)
    assert serving_project(None, store) is None
    assert serving_project("chosen", store) == "chosen"
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(notes))
    assert serving_project(None, store) == "notes"


def test_the_home_folder_is_no_project_even_if_its_settings_are_in_git(tmp_path: Path, store: Path) -> None:
    home = repository(tmp_path / "home")
    (home / "notes").mkdir()
    assert find_root_project(home, store) is None
    assert find_project(home / "notes", store) is None
    assert find_root_project(home / "notes", store) == "notes"
    assert find_root_project(Path("/"), store) is None


def test_without_a_store_nothing_is_recorded(tmp_path: Path) -> None:
    clinic = repository(tmp_path / "clinic")
    assert find_project(clinic, tmp_path / "store") == "clinic"
    assert not (tmp_path / "store").exists()


def test_a_repository_that_is_renamed_keeps_its_namespace_also_without_commits(tmp_path: Path, store: Path) -> None:
    git(tmp_path, "init", "-q", "api")
    assert find_project(tmp_path / "api", store) == "api"
    (tmp_path / "api").rename(tmp_path / "server")
    assert find_project(tmp_path / "server", store) == "api"
    assert find_project(repository(tmp_path / "api"), store) == "api-2", "another one in its place"
    assert paths(store) == {"api": tmp_path / "server" / ".git", "api-2": tmp_path / "api" / ".git"}


def test_neither_a_clone_nor_a_copy_of_a_repository_has_its_namespace(tmp_path: Path, store: Path) -> None:
    api = repository(tmp_path / "work" / "api")
    assert find_project(api, store) == "api"
    git(tmp_path, "clone", "-q", str(api), str(tmp_path / "clone" / "api"))
    shutil.copytree(tmp_path / "work", tmp_path / "copy")
    folders = [tmp_path / "clone" / "api", tmp_path / "copy" / "api", api] * 2
    assert [find_project(folder, store) for folder in folders] == ["api-2", "api-3", "api"] * 2
    shutil.rmtree(api)
    assert find_project(tmp_path / "clone" / "api", store) == "api-2"


def test_a_copy_keeps_its_namespace_when_the_other_one_is_moved_or_starts_in_another_store(
    tmp_path: Path, store: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    api, copy, elsewhere = repository(tmp_path / "work" / "api"), tmp_path / "copy" / "api", tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert find_project(api, store) == "api"
    shutil.copytree(tmp_path / "work", tmp_path / "copy")
    assert [find_project(folder, elsewhere) for folder in (copy, api)] == ["api", "api-2"]
    assert [find_project(folder, store) for folder in (copy, api, copy)] == ["api-2", "api", "api-2"]
    assert f"is a copy of {str(api / '.git')!r}" in capfd.readouterr().err
    api.rename(tmp_path / "moved")
    assert [find_project(folder, store) for folder in (copy, tmp_path / "moved", copy)] == ["api-2", "api", "api-2"]


def test_starts_of_a_moved_repository_at_the_same_time_find_one_namespace(tmp_path: Path, store: Path) -> None:
    place = repository(tmp_path / "0" / "api")
    assert find_project(place, store) == "api"
    with ThreadPoolExecutor(4) as pool:
        for number in range(1, 40):
            (tmp_path / str(number)).mkdir()
            place = place.rename(tmp_path / str(number) / "api")
            assert {*pool.map(find_project, [place] * 4, [store] * 4)} == {"api"}
    assert [file.name for file in (store / "projects").iterdir()] == ["api"]
    assert not [file for file in store.iterdir() if file.name.startswith(".")]


@pytest.mark.parametrize("torn", [b"", b"\0", b"/x\0\xff\xfe\0", b"/x\0abc", b"x\0\0"])
def test_a_file_that_is_no_claim_takes_nothing_from_others(tmp_path: Path, store: Path, torn: bytes) -> None:
    api = repository(tmp_path / "api")
    assert find_project(api, store) == "api"
    (store / "projects" / "web").write_bytes(torn)
    (store / "projects" / "folder").mkdir()
    assert find_project(api, store) == "api"
    assert find_project(repository(tmp_path / "web"), store) == "web-2"
    assert [*paths(store)] == ["api", "web-2"]


@pytest.mark.parametrize("broken", ["", "ab\0cd", "x" * 100_000])
def test_a_broken_id_is_replaced_and_the_path_tells_the_project(tmp_path: Path, store: Path, broken: str) -> None:
    api = repository(tmp_path / "api")
    assert find_project(api, store) == "api"
    (api / ".git" / "context-graph" / "id").write_text(broken)
    assert [find_project(api, store) for _ in "ab"] == ["api", "api"]
    assert api.rename(tmp_path / "server")
    assert find_project(tmp_path / "server", store) == "api"


def test_a_folder_keeps_its_namespace_when_it_becomes_a_repository(tmp_path: Path, store: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert find_root_project(tmp_path / "plain", store) == "plain"
    git(tmp_path, "init", "-q", "plain")
    assert find_root_project(tmp_path / "plain", store) == "plain"


def test_a_folder_whose_name_has_a_number_is_told_nothing_of_another_one(
    tmp_path: Path, store: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert find_project(repository(tmp_path / "python"), store) == "python"
    shutil.rmtree(tmp_path / "python")
    assert find_project(repository(tmp_path / "python-3"), store) == "python-3"
    assert absence("python-3", store) is None
    assert not capfd.readouterr().err


def test_a_repository_that_is_deleted_and_cloned_again_keeps_its_namespace_and_another_one_there_does_not(
    tmp_path: Path, store: Path
) -> None:
    source, api = repository(tmp_path / "source"), tmp_path / "work" / "api"
    for _ in "ab":
        git(tmp_path, "clone", "-q", str(source), str(api))
        assert find_project(api, store) == "api"
        shutil.rmtree(api)
    assert find_project(repository(api), store) == "api-2"


def test_a_repository_that_cannot_be_written_is_known_by_its_path(
    tmp_path: Path, store: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    api = repository(tmp_path / "work" / "api")
    (api / ".git" / "context-graph").write_text("no folder for an id\n")
    assert [find_project(api, store) for _ in "ab"] == ["api", "api"]
    api.parent.rename(tmp_path / "archive")
    assert find_project(tmp_path / "archive" / "api", store) == "api-2", "it could be any other"
    told = capfd.readouterr().err
    assert str(api / ".git") in told
    assert "`context-graph namespaces rename api api-2`" in told
    assert find_project(tmp_path / "archive" / "api", store) == "api-2"
    assert not capfd.readouterr().err


def test_a_claim_of_an_earlier_version_holds_for_its_path(tmp_path: Path, store: Path) -> None:
    here, gone = repository(tmp_path / "here" / "api"), tmp_path / "gone" / "web" / ".git"
    (store / "projects").mkdir()
    (store / "projects" / "api").write_bytes(bytes(here / ".git"))
    (store / "projects" / "web").write_bytes(bytes(gone))
    assert find_project(here, store) == "api"
    assert find_project(repository(tmp_path / "other" / "web"), store) == "web-2"
    here.rename(tmp_path / "moved")
    assert find_project(tmp_path / "moved", store) == "api"
    assert paths(store)["web"] == gone


@pytest.mark.parametrize("name", ["personal", "default", "*"])
def test_a_folder_called_as_a_namespace_that_all_share_has_another_one(tmp_path: Path, store: Path, name: str) -> None:
    folder = repository(tmp_path / name)
    assert [find_root_project(folder, store) for _ in "ab"] == [f"{name}-2"] * 2


def test_the_name_of_a_folder_becomes_one_that_can_be_given(tmp_path: Path, store: Path) -> None:
    assert find_project(repository(tmp_path / " a\nb\x1b "), store) == "a_b_"


def test_a_file_that_names_the_namespace_of_another_repository_is_told(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    api, web = repository(tmp_path / "api"), repository(tmp_path / "web")
    monkeypatch.chdir(api)
    assert serving_project(None, store) == "api"
    (api / ".context-graph.toml").write_text('namespace = "api"\n')
    assert serving_project(None, store) == "api"
    assert not capfd.readouterr().err, "its own"
    monkeypatch.chdir(web)
    (web / ".context-graph.toml").write_text('namespace = "shared"\n')
    assert serving_project(None, store) == "shared"
    assert not capfd.readouterr().err, "nobody's"
    (web / ".context-graph.toml").write_text('namespace = "api"\n')
    assert serving_project(None, store) == "api"
    told = capfd.readouterr().err
    assert f"the namespace 'api', which '{api / '.git'}' uses too, because its .context-graph.toml says so" in told
