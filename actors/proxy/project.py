"""The project of a session: the namespace of memories that name none, found from the folder that the client works in.

A repository is one project with all its worktrees. The name of its folder becomes the namespace, which it keeps where
it is moved or renamed (`actors.proxy.claims`). Of two repositories with the same name, the one that comes later gets a
number, and so does one that is called as a namespace that all share: their memories never mix.
"""

import os
from contextlib import suppress
from pathlib import Path

from actors.proxy.claims import claim_namespace, own_claim, owner_beside
from actors.proxy.endpoint import print_notice
from actors.proxy.namespaces import EVERYWHERE, MAX_NAME, name_of_folder, problem_of
from events.wording import reason

FILE = ".context-graph.toml"
"""Names the namespace of the folder that it is in, and of those below."""


class ProjectError(Exception):
    """A project's configuration cannot be read; the message names file and problem."""


def serving_project(chosen: str | None, store: Path) -> str | None:
    """Return the namespace of this process's session: the chosen one, or its project's.

    Claude Code names its project in `CLAUDE_PROJECT_DIR`; other clients start servers in the folder of the project, or
    anywhere: then it is None, and only the client can know a folder. The store's folder is created if necessary.

    Raises:
        ProjectError: As in `find_project`, or the chosen one can't be given to a namespace.
    """
    if chosen is not None:
        problem = problem_of(chosen) or (
            None if 0 < len(chosen) <= MAX_NAME else f"must have 1 to {MAX_NAME} characters"
        )
        if problem or chosen == EVERYWHERE:
            raise ProjectError(f"the namespace {chosen[:MAX_NAME]!r} {problem or 'stands for all in a search'}")
        return chosen
    with suppress(OSError):  # the launcher reports it
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
    named = os.environ.get("CLAUDE_PROJECT_DIR")
    folder = Path(named) if named else Path.cwd()
    found = find_root_project(folder, store) if named else find_project(folder, store)
    if found is not None and (owner := other_owner(found, folder, store)):
        print_notice(f"WARNING {shared_by(found, owner)}")
    return found


def shared_by(namespace: str, owner: Path) -> str:
    """Return a sentence on a namespace that `.context-graph.toml` names and another repository has."""
    return (
        f"this project reads and stores in the namespace {namespace!r}, which {str(owner)!r} uses too, because its "
        f"{FILE} says so"
    )


def find_project(folder: Path, store: Path) -> str | None:
    """Return the namespace of a folder: what `.context-graph.toml` says, or its repository; None without either.

    A repository in the home folder is for its settings, and no project.

    Raises:
        ProjectError: A `.context-graph.toml` is invalid.
    """
    for place in (folder, *folder.parents):
        if (name := _configured(place / FILE)) is not None:
            return name
        if (common := git_common_dir(place)) is not None:
            return None if _is_home(place) else _claim(_name(common), common, store, is_repository=True)
    return None


def find_root_project(folder: Path, store: Path) -> str | None:
    """Return the namespace of a folder that the client names as its root, which without a repository is its name.

    The home folder and the root of the file system are no project: None. Otherwise as `find_project`.
    """
    if (found := find_project(folder, store)) is not None:
        return found
    if _is_home(folder) or folder == Path(folder.anchor):
        return None
    return _claim(folder.name, folder, store, is_repository=False)


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


def other_owner(namespace: str, folder: Path, store: Path) -> Path | None:
    """Return the path of the other project that has the namespace of a folder, by its `.context-graph.toml`, or None.

    Several repositories may share a namespace, but one that was cloned may also name that of somebody else's.
    """
    places = (place for place in (folder, *folder.parents) if not _is_home(place))
    common = next(filter(None, map(git_common_dir, places)), None)
    try:
        own = own_claim(common or folder, is_repository=common is not None, writes=False)
        return owner_beside(namespace, own, store)
    except OSError:
        return None


def _claim(name: str, path: Path, store: Path, *, is_repository: bool) -> str:
    """Return the namespace of a project by the name of its folder, and record it in the store's folder if that exists.

    A repository keeps its namespace when it is moved or renamed, and no other one gets it.
    """
    name = name_of_folder(name)
    if not os.path.isdir(store):  # no error where its parent may not be entered: the hub says so
        return name
    try:
        return claim_namespace(name, own_claim(path, is_repository=is_repository), store)
    except OSError as error:
        raise ProjectError(f"the namespace of {path} cannot be recorded: {reason(error)}") from None


def _is_home(folder: Path) -> bool:
    return folder.resolve() == Path.home().resolve()


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
    if name == EVERYWHERE:
        raise ProjectError(f"{file}: 'namespace' must name one: '{EVERYWHERE}' stands for all in a search")
    if problem := problem_of(name):
        raise ProjectError(f"{file}: 'namespace' {problem}")
    return name
