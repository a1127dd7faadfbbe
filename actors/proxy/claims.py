"""The claims of projects on namespaces: which repository a namespace belongs to, recorded in the store's folder.

A repository is known by an id in a file of its `.git` folder: the file moves with it, its worktrees share it, and git
copies it to no clone. Where the file can't be written, and for a folder without a repository, only the path counts.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from actors.proxy.endpoint import print_notice
from actors.proxy.namespaces import EVERYWHERE, SHARED

CLAIMS = "projects"
"""Folder in the store's, with one file for each project's namespace."""

ID = Path("context-graph", "id")
"""File in a repository's `.git` folder. In a folder of its own, since git takes files beside HEAD for references."""


class Claim(NamedTuple):
    """The owner of a namespace. Its file has these fields with NUL between them; an earlier version wrote the path."""

    path: Path
    """The `.git` folder of a repository, which all its worktrees share, or a folder without one."""
    id: str = ""
    origin: str = ""
    """A hash of the URL that the repository was cloned from."""


def own_claim(path: Path, *, is_repository: bool, writes: bool = True) -> Claim:
    """Return what identifies a project; with `writes`, a repository without an id gets one if it can be written."""
    path = path.resolve()
    if not is_repository:
        return Claim(path)
    return Claim(path, _id(path) or (_write_id(path) if writes else ""), _origin(path))


def claim_namespace(name: str, own: Claim, store: Path) -> str:
    """Return the namespace of a project: the one it has already, or one by the name of its folder, which is recorded.

    Raises:
        OSError: It can't be recorded.
    """
    for namespace, owner in claims(store) if own.id else ():
        if owner.id != own.id:
            continue
        if owner.path != own.path and _is_there(owner) and not owner.path.samefile(own.path):  # `own` is a copy
            own = own._replace(id=_renew_id(own))
            break
        if owner != own:
            _replace(store / CLAIMS / namespace, own)
        return namespace
    taken = {*SHARED, EVERYWHERE}
    for candidate in chain([] if name in taken else [name], (f"{name}-{number}" for number in count(2))):
        file = store / CLAIMS / candidate
        if _read(file) is None and _create(file, _encoded(own)):
            if sentence := absence(candidate, store):
                print_notice(f"WARNING {sentence}")
            return candidate
        owner = _read(file)
        if owner is None:  # removed meanwhile
            continue
        if _is_same(owner, own):
            if _encoded(owner) != _encoded(own):
                _replace(file, own)
            return candidate
    raise AssertionError  # `count` does not end


def owner_beside(namespace: str, own: Claim, store: Path) -> Path | None:
    """Return the path of the other project that has a namespace; None if it is nobody's, everybody's or the own one."""
    owner = None if namespace in SHARED else dict(claims(store)).get(namespace)
    if owner is None or _is_same(owner, own):
        return None
    return owner.path


def absence(namespace: str, store: Path) -> str | None:
    """Return a sentence on the project that has the namespace before one with a number, if it is not there any more."""
    base, _, number = namespace.rpartition("-")
    if not (base and number.isdecimal()):
        return None
    known = dict(claims(store))
    lower = range(2, min(int(number), len(known) + 2))
    for former in (base, *(f"{base}-{each}" for each in lower)):
        if (owner := known.get(former)) and not _is_there(owner):
            from shlex import join

            command = join(["context-graph", "namespaces", "rename", former, namespace])
            return (
                f"this project has the new namespace {namespace!r}; {former!r} belongs to {str(owner.path)!r}, which "
                f"is not there. If it is the same project, `{command}` moves its memories here"
            )
    return None


def claims(store: Path) -> Iterator[tuple[str, Claim]]:
    """Yield the namespaces of projects with their claims."""
    folder = store / CLAIMS
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        if (owner := _read(file)) is not None and file.name not in SHARED:
            yield file.name, owner


def _is_same(owner: Claim, own: Claim) -> bool:
    """Return whether a claim is a project's own.

    At the same path, that is one of an earlier version, or of a repository that was deleted and cloned again.
    """
    if owner.id and owner.id == own.id:
        return True
    return owner.path == own.path and (not owner.id or owner.origin == own.origin != "")


def _is_there(owner: Claim) -> bool:
    """Return whether a project is where its claim says; another repository may be there."""
    return os.path.isdir(owner.path) and (not owner.id or _id(owner.path) == owner.id)


def _id(git: Path) -> str:
    """Return the id of a repository by its `.git` folder; empty without one."""
    try:
        return (git / ID).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _write_id(git: Path) -> str:
    """Give a repository an id, and return it, or the one that another process gave it; empty if it can't be written."""
    with suppress(OSError):
        _create(git / ID, os.urandom(16).hex().encode())
    return _id(git)


def _renew_id(copy: Claim) -> str:
    """Give the copy of a repository an id of its own, the same in all processes; empty if it can't be written."""
    from hashlib import sha256

    from events.storage.durable import replace_file

    own = sha256(copy.id.encode() + os.fsencode(copy.path)).hexdigest()[:32]
    try:
        replace_file(copy.path / ID, own.encode())
    except OSError:
        return ""
    return own


def _origin(git: Path) -> str:
    """Return a hash of the URL in `[remote "origin"]` of a repository's configuration; empty without one.

    The URL itself may contain a password.
    """
    section = ""
    try:
        lines = (git / "config").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    for line in map(str.strip, lines):
        key, separator, value = line.partition("=")
        if line.startswith("["):
            section = line
        elif separator and section == '[remote "origin"]' and key.strip() == "url":
            from hashlib import sha256

            return sha256(value.strip().encode()).hexdigest()
    return ""


def _read(file: Path) -> Claim | None:
    try:
        path, *rest = file.read_bytes().split(b"\0")
    except FileNotFoundError:
        return None
    return Claim(Path(os.fsdecode(path)), *(field.decode("ascii") for field in rest[:2]))


def _encoded(claim: Claim) -> bytes:
    named = [claim.id, claim.origin] if claim.id else []
    return b"\0".join([os.fsencode(claim.path), *(field.encode() for field in named)])


def _replace(file: Path, own: Claim) -> None:
    from events.storage.durable import replace_file

    replace_file(file, _encoded(own))


def _create(file: Path, content: bytes) -> bool:
    """Create a file with its content at once, so that no other process reads half of it; False if there is one."""
    file.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=file.parent.parent, prefix=".claim-")
    with os.fdopen(descriptor, "wb") as written:
        written.write(content)
    try:
        os.link(temporary, file)
    except FileExistsError:
        return False
    finally:
        Path(temporary).unlink(missing_ok=True)
    return True
