"""The project of a session: the namespace of memories that name none, found from the folder that the client works in.

A repository is one project with all its worktrees. The folder name is the namespace; of two repositories with the same
name, the one that comes later gets a number, so that their memories never mix.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, count
from pathlib import Path

from events.wording import reason

FILE = ".context-graph.toml"
"""Names the namespace of the folder that it is in, and of those below."""

CLAIMS = "projects"
"""Folder in the store's, with one file for each project's namespace that contains the path of its repository."""

MAX_NAME = 256
"""Characters of a namespace."""


class ProjectError(Exception):
    """A project's configuration cannot be read; the message names file and problem."""


def serving_project(chosen: str | None, store: Path) -> str | None:
    """Return the namespace of this process's session: the chosen one, or its project's.

    Claude Code names its project in `CLAUDE_PROJECT_DIR`; other clients start servers in the folder of the project, or
    anywhere: then it is None, and only the client can know a folder. The store's folder is created if necessary.

    Raises:
        ProjectError: As in `find_project`.
    """
    if chosen is not None:
        return chosen
    with suppress(OSError):  # the launcher reports it
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
    if named := os.environ.get("CLAUDE_PROJECT_DIR"):
        return find_root_project(Path(named), store)
    return find_project(Path.cwd(), store)


def find_project(folder: Path, store: Path) -> str | None:
    """Return the namespace of a folder: what `.context-graph.toml` says, or its repository; None without either.

    A repository in the home folder is for its settings, and no project.

    Raises:
        ProjectError: A `.context-graph.toml` is invalid.
    """
    for place in (folder, *folder.parents):
        if (name := _configured(place / FILE)) is not None:
            return name
        common = git_common_dir(place)
        if common is not None:
            return None if place == Path.home() else claim(_name(common), common, store)
    return None


def find_root_project(folder: Path, store: Path) -> str | None:
    """Return the namespace of a folder that the client names as its root, which without a repository is its name.

    The home folder and the root of the file system are no project: None. Otherwise as `find_project`.
    """
    if (found := find_project(folder, store)) is not None:
        return found
    return None if folder in {Path.home(), Path(folder.anchor)} else claim(folder.name, folder, store)


def git_common_dir(folder: Path) -> Path | None:
    """Return what `git rev-parse --git-common-dir` names in the top folder of a worktree; None in any other folder.

    The files are read, since running git takes 5 ms, and it may not be installed.
    """
    git = folder / ".git"
    try:
        if git.is_dir():
            return git.resolve()
        pointer = git.read_text(encoding="utf-8")
        if not pointer.startswith("gitdir: "):
            return None
        directory = (folder / pointer.removeprefix("gitdir: ").strip()).resolve()
        common = directory / "commondir"
        return (directory / common.read_text(encoding="utf-8").strip()).resolve() if common.exists() else directory
    except (OSError, UnicodeDecodeError):
        return None


def claim(name: str, path: Path, store: Path) -> str:
    """Return the namespace of a project by the name of its folder, and record it in the store's folder if that exists.

    If the project that has the name no longer exists, another one takes over its namespace: it was moved.
    """
    if not os.path.isdir(store):  # no error where its parent may not be entered: the hub says so
        return name
    path = path.resolve()
    for candidate in chain([name], (f"{name}-{number}" for number in count(2))):
        file = store / CLAIMS / candidate
        try:
            if _owner(file) is None and _create(file, path):
                return candidate
            owner = _owner(file)
            if owner is not None and owner != path and not owner.exists():
                from events.storage.durable import replace_file

                replace_file(file, os.fsencode(path))
                owner = path
        except OSError as error:
            raise ProjectError(f"the namespace of {path} cannot be recorded: {reason(error)}") from None
        if owner == path:
            return candidate
    raise AssertionError  # `count` does not end


def claims(store: Path) -> Iterator[tuple[str, Path]]:
    """Yield the namespaces of projects with their paths."""
    folder = store / CLAIMS
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        if (owner := _owner(file)) is not None:
            yield file.name, owner


def _name(common: Path) -> str:
    """Return the name of a repository: that of the folder with `.git`, or of a bare one without its suffix."""
    return common.parent.name if common.name.startswith(".") else common.name.removesuffix(".git")


def _configured(file: Path) -> str | None:
    try:
        text = file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ProjectError(f"{file} cannot be read: {reason(error)}") from None
    import tomllib

    try:
        name = tomllib.loads(text).get("namespace")
    except tomllib.TOMLDecodeError as error:
        raise ProjectError(f"{file}: {error}") from None
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
        raise ProjectError(f"{file}: 'namespace' must be a text of 1 to {MAX_NAME} characters")
    return name


def _owner(file: Path) -> Path | None:
    try:
        return Path(os.fsdecode(file.read_bytes()))
    except FileNotFoundError:
        return None


def _create(file: Path, path: Path) -> bool:
    """Create a file with a path at once, so that no other process reads half of it; False if there is one."""
    file.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=file.parent.parent, prefix=".claim-")
    with os.fdopen(descriptor, "wb") as written:
        written.write(os.fsencode(path))
    try:
        os.link(temporary, file)
    except FileExistsError:
        return False
    finally:
        Path(temporary).unlink(missing_ok=True)
    return True
