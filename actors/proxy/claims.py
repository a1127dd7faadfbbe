"""The claims of projects on namespaces: which repository a namespace belongs to, recorded in the store's folder.

A repository is known by an id in a file of its `.git` folder: the file moves with it, its worktrees share it, and git
copies it to no clone. Where the file can't be written, and for a folder without a repository, only the path counts.
"""

import os
import re
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


_MAX_ID = 64
"""Bytes that are read of it."""
_IS_ID = re.compile(r"[0-9a-f]{32}").fullmatch


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

    If the repository with its id is not where the claim says, it was moved; if it is there, this one is a copy of it.

    Raises:
        OSError: It can't be recorded.
    """
    known = dict(claims(store))
    found = next((namespace for namespace, owner in known.items() if _is_at_path(owner, own)), None)
    same = [namespace for namespace, owner in known.items() if own.id and owner.id == own.id and namespace != found]
    moved = next((namespace for namespace in same if not _is_there(known[namespace])), None)
    copied = same[0] if same and moved is None else None
    if copied is not None:
        own = own._replace(id="")  # only the path tells the copy from the other one
    found = found or moved
    if found is not None:
        if known[found] != own and (own.id or not known[found].id):  # an id that can't be read now stays
            _write(store / CLAIMS / found, own, replaces=True)
        return found
    taken = {*SHARED, EVERYWHERE}
    for candidate in chain([] if name in taken else [name], (f"{name}-{number}" for number in count(2))):
        file = store / CLAIMS / candidate
        if not _write(file, own):
            owner = _read(file)  # of a start at the same time
            if owner is None or not _is_at_path(owner, own):
                continue
        elif copied is not None:
            print_notice(
                f"WARNING this project is a copy of {str(known[copied].path)!r}, which has the namespace {copied!r}; "
                f"it has the namespace {candidate!r}"
            )
        elif sentence := absence(candidate, store):
            print_notice(f"WARNING {sentence}")
        return candidate
    raise AssertionError  # `count` does not end


def owner_beside(namespace: str, own: Claim, store: Path) -> Path | None:
    """Return the path of the other project that has a namespace; None if it is nobody's, everybody's or the own one."""
    owner = None if namespace in SHARED else dict(claims(store)).get(namespace)
    if owner is None or _is_at_path(owner, own) or (own.id and owner.id == own.id):
        return None
    return owner.path


def absence(namespace: str, store: Path) -> str | None:
    """Return a sentence on the project that has the namespace before one with a number, if it is not there any more."""
    base, _, number = namespace.rpartition("-")
    known = dict(claims(store))
    own = known.get(namespace)
    if not (base and number.isdecimal()) or own is None or namespace in {own.path.name, own.path.parent.name}:
        return None  # its name has the number, not only its namespace
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


def _is_at_path(owner: Claim, own: Claim) -> bool:
    """Return whether a claim is of this path, or of its folder before that was a repository.

    Two repositories that are known to come from different ones are not the same, though one took the other's place.
    """
    if owner.path != own.path:
        return not owner.id and owner.path == own.path.parent and own.path.name == ".git"
    return not (owner.id and own.id) or owner.id == own.id or owner.origin == own.origin


def _is_there(owner: Claim) -> bool:
    """Return whether a project is where its claim says; another repository may be there."""
    return os.path.isdir(owner.path) and (not owner.id or _id(owner.path) == owner.id)


def _id(git: Path) -> str:
    try:
        with (git / ID).open("rb") as file:
            text = file.read(_MAX_ID).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if _IS_ID(text) else ""


def _write_id(git: Path) -> str:
    """Give a repository an id, and return it, or the one that another process gave it; empty if it can't be written."""
    with suppress(OSError):
        _write(git / ID, os.urandom(16).hex().encode(), replaces=(git / ID).exists())
    return _id(git)


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
    """Return a claim; None if there is none, or the file holds none."""
    try:
        path, *rest = file.read_bytes().split(b"\0")
        own, origin = [*(field.decode("ascii") for field in rest[:2]), "", ""][:2]
    except (OSError, UnicodeDecodeError):
        return None
    owner = Claim(Path(os.fsdecode(path)), own, origin)
    return owner if owner.path.is_absolute() and (not own or _IS_ID(own)) else None


def _encoded(claim: Claim) -> bytes:
    named = [claim.id, claim.origin] if claim.id else []
    return b"\0".join([os.fsencode(claim.path), *(field.encode() for field in named)])


def _write(file: Path, content: Claim | bytes, *, replaces: bool = False) -> bool:
    """Write a file at once, so that no other process reads half of it; False if there is one that is not replaced."""
    file.parent.mkdir(mode=0o700, exist_ok=True)
    # Beside the folder, since each file in the folder of claims is one.
    descriptor, temporary = tempfile.mkstemp(dir=file.parent.parent, prefix=".claim-")
    try:
        with os.fdopen(descriptor, "wb") as written:
            written.write(_encoded(content) if isinstance(content, Claim) else content)
            written.flush()
            os.fsync(written.fileno())
        (os.replace if replaces else os.link)(temporary, file)
    except FileExistsError:
        return False
    finally:
        Path(temporary).unlink(missing_ok=True)
    return True
