"""Access keys: shown once, kept as scrypt hashes in a private file of the store's folder.

A key is `cg_NAME_SECRET`. The name finds the one record to compare with, so a request costs at most one hash.
"""

import base64
import hashlib
import hmac
import os
import re
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from actors.api.caller import Scope
from actors.api.params.parsing import invalid
from actors.runtime.faults import NotFoundFault, StorageFault
from events.storage.durable import check_private, replace_file
from events.storage.log import LogError

if sys.platform != "win32":
    import fcntl

KEYS = "access.json"
"""Name of the file. A backup doesn't contain it: a restored store has no keys."""
LOCK = "access.lock"

PREFIX = "cg_"
NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,39}")
RESERVED = frozenset({"nobody", "ui"})
"""Names of callers that have no key."""

USE_RECORDED = timedelta(minutes=1)
"""Time between two records of a key's use."""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A key without its secret."""

    name: str
    scope: Scope
    namespaces: tuple[str, ...] | None
    """Namespaces that its owner sees; None for all."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    """Time of the last request, to the minute."""
    salt: bytes
    hash: bytes

    def is_valid(self, now: datetime) -> bool:
        """Return whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class Keys:
    """The keys of a store; changes by other processes are seen at the next call."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamp: tuple[int, int] | None = None
        self._keys: dict[str, Key] = {}
        self._verified: dict[bytes, tuple[str, bytes]] = {}
        """Name and hash of the key of each verified secret, by the secret's SHA-256; saves scrypt's 50 ms."""

    def all(self) -> list[Key]:
        """Return all keys, the oldest first; revoked ones too."""
        return list(self._read().values())

    def create(
        self, name: str, scope: Scope, namespaces: Iterable[str] | None, expires_at: datetime | None = None
    ) -> str:
        """Make a key, and the store's folder if there is none, and return the key; it can't be read again.

        Its name stands in the audit, so it is never given twice. Without `namespaces` its owner sees all.

        Raises:
            InvalidParamsFault: The name is malformed or was given before, no namespace is named, or a blank one.
            LogError: The folder belongs to another user, who could not read the file afterwards.
        """
        if not NAME.fullmatch(name) or name in RESERVED:
            raise invalid("name", "up to 40 small letters, digits, dots and hyphens, and none of the reserved names")
        seen = None if namespaces is None else tuple(sorted(set(namespaces)))
        if seen == ():
            raise invalid("namespace", "name what the key may see by --namespace, or all by --namespace '*'")
        if any(not one.strip() for one in seen or ()):
            raise invalid("namespace", "a blank name is no namespace")
        secret, salt = secrets.token_urlsafe(32), secrets.token_bytes(16)
        key = Key(
            name=name,
            scope=scope,
            namespaces=seen,
            created_at=datetime.now(UTC),
            expires_at=expires_at,
            salt=salt,
            hash=_hash(secret, salt),
        )
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked() as keys:
            if name in keys:
                raise invalid("name", f"a key was named {name} before, and the audit tells keys by their names")
            keys[name] = key
        return f"{PREFIX}{name}_{secret}"

    def revoke(self, name: str) -> Key:
        """Make a key invalid at once; a second call changes nothing (`NotFoundFault`, `LogError` as of `create`)."""
        if name not in self._read():
            raise NotFoundFault(f"Key not found: {name}", name=name)
        with self._locked() as keys:
            if keys[name].revoked_at is None:
                keys[name] = msgspec.structs.replace(keys[name], revoked_at=datetime.now(UTC))
            return keys[name]

    def verify(self, token: str) -> Key | None:
        """Return the valid key of a token, and record its use; None for any other text. Blocks while it hashes."""
        name, _, secret = token.removeprefix(PREFIX).partition("_")
        key = self._read().get(name)
        now = datetime.now(UTC)
        if not token.startswith(PREFIX) or key is None or not key.is_valid(now):
            return None
        digest = hashlib.sha256(token.encode()).digest()
        if self._verified.get(digest) != (name, key.hash):
            if not hmac.compare_digest(_hash(secret, key.salt), key.hash):
                return None
            self._verified[digest] = (name, key.hash)
        if key.last_used_at is None or now - key.last_used_at > USE_RECORDED:
            # A key stays valid when its use can't be recorded, as on a full disk.
            with suppress(OSError, LogError), self._locked() as keys:
                keys[name] = msgspec.structs.replace(keys[name], last_used_at=now)
        return key

    def name_in(self, token: str) -> str | None:
        """Return the name of the key that a token claims to be, valid or not; None if there is none of the name."""
        name = token.removeprefix(PREFIX).partition("_")[0]
        return name if token.startswith(PREFIX) and name in self._read() else None

    def is_known(self, token: str) -> bool:
        """Return whether `verify` answers without a hash."""
        return hashlib.sha256(token.encode()).digest() in self._verified

    def _read(self) -> dict[str, Key]:
        path = self._folder / KEYS
        try:
            found = path.stat()
            stamp = (found.st_mtime_ns, found.st_ino)
            if stamp != self._stamp:
                self._keys = {one.name: one for one in msgspec.json.decode(path.read_bytes(), type=list[Key])}
                self._stamp = stamp
        except FileNotFoundError:
            self._keys, self._stamp = {}, None
        except (OSError, msgspec.DecodeError) as error:
            raise StorageFault(f"Storage failed: {path} can't be read: {error}") from error
        return self._keys

    @contextmanager
    def _locked(self) -> Iterator[dict[str, Key]]:
        """Yield the keys for a change, while no other process changes them, and write them on success."""
        check_private(self._folder)
        descriptor = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            if sys.platform != "win32":
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            keys = dict(self._read())
            yield keys
            replace_file(self._folder / KEYS, msgspec.json.format(msgspec.json.encode(list(keys.values()))))
        finally:
            os.close(descriptor)


def parse_expiry(text: str, now: datetime) -> datetime:
    """Return the time of `90d` (a number of days) or of an ISO 8601 time, which without a zone is this machine's.

    Raises:
        InvalidParamsFault: It is neither, or past.
    """
    try:
        days = re.fullmatch(r"(\d{1,5})d", text)
        at = now + timedelta(days=int(days[1])) if days else datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise invalid("expires", "expected days, as 90d, or an ISO 8601 time") from None
    if at <= now:
        raise invalid("expires", "it is past")
    return at


def _hash(secret: str, salt: bytes) -> bytes:
    """Hash a secret by scrypt with 16 MB, as RFC 7914 suggests for interactive logins."""
    return hashlib.scrypt(base64.b64encode(secret.encode()), salt=salt, n=1 << 14, r=8, p=1, dklen=32)
