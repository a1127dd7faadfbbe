"""Access keys: what is kept of them, and until when they are valid."""

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from actors.api.caller import Scope
from actors.http.access.keys import KEYS, Keys, parse_expiry
from actors.runtime.faults import InvalidParamsFault, NotFoundFault
from events.storage.log import LogError

NOBODY = 65_534


def test_a_key_is_verified_by_another_process_and_kept_as_a_hash_that_its_owner_alone_may_read(tmp_path: Path) -> None:
    key = Keys(tmp_path).create("ci", Scope.WRITE, ["team"])
    found = Keys(tmp_path).verify(key)
    assert found is not None
    assert (found.name, found.scope, found.namespaces) == ("ci", Scope.WRITE, ("team",))
    written = (tmp_path / KEYS).read_text(encoding="utf-8")
    assert key not in written
    assert key.split("_", 2)[2] not in written
    assert stat.S_IMODE((tmp_path / KEYS).stat().st_mode) == 0o600


@pytest.mark.parametrize("change", [lambda key: key[:-1], lambda key: key + "x", lambda key: key.replace("cg_", "cx_")])
def test_nothing_but_the_key_itself_is_valid(tmp_path: Path, change: object) -> None:
    keys = Keys(tmp_path)
    key = keys.create("ci", Scope.READ, None)
    assert keys.verify(key) is not None
    assert keys.verify(change(key)) is None  # pyright: ignore[reportCallIssue]
    assert keys.verify("") is None


def test_a_revoked_key_is_invalid_at_once_and_its_name_is_never_given_again(tmp_path: Path) -> None:
    server, command = Keys(tmp_path), Keys(tmp_path)
    key = command.create("ci", Scope.READ, None)
    assert server.verify(key) is not None
    command.revoke("ci")
    assert server.verify(key) is None
    with pytest.raises(InvalidParamsFault, match="before"):
        command.create("ci", Scope.READ, None)
    with pytest.raises(NotFoundFault):
        command.revoke("cd")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can make a folder of another user")
def test_the_keys_of_another_user_are_not_changed_who_could_not_read_them_afterwards(tmp_path: Path) -> None:
    Keys(tmp_path).create("ci", Scope.READ, None)
    os.chown(tmp_path, NOBODY, NOBODY)
    os.chown(tmp_path / KEYS, NOBODY, NOBODY)
    before = (tmp_path / KEYS).read_bytes()
    with pytest.raises(LogError, match=f"belongs to user {NOBODY}"):
        Keys(tmp_path).create("cd", Scope.READ, None)
    with pytest.raises(LogError, match=f"belongs to user {NOBODY}"):
        Keys(tmp_path).revoke("ci")
    assert ((tmp_path / KEYS).read_bytes(), (tmp_path / KEYS).stat().st_uid) == (before, NOBODY)


def test_an_expired_key_is_invalid(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    key = keys.create("ci", Scope.READ, None, datetime.now(UTC) - timedelta(seconds=1))
    assert keys.verify(key) is None


def test_the_last_use_of_a_key_is_shown(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    key = keys.create("ci", Scope.READ, None)
    assert [one.last_used_at for one in keys.all()] == [None]
    keys.verify(key)
    (found,) = Keys(tmp_path).all()
    assert found.last_used_at is not None
    assert found.last_used_at >= found.created_at


@pytest.mark.parametrize("name", ["", "A", "a_b", "ui", "a" * 41, "../x"])
def test_a_name_that_could_be_mistaken_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidParamsFault, match="name"):
        Keys(tmp_path).create(name, Scope.READ, None)


def test_an_expiry_is_a_number_of_days_or_a_time_to_come() -> None:
    now = datetime(2026, 11, 1, tzinfo=UTC)
    assert parse_expiry("90d", now) == now + timedelta(days=90)
    assert parse_expiry("2027-01-01", now) == datetime(2027, 1, 1, tzinfo=UTC)
    for wrong in ("soon", "-1d", "2026-01-01", "9" * 6 + "d"):
        with pytest.raises(InvalidParamsFault, match="expires"):
            parse_expiry(wrong, now)


@pytest.mark.parametrize("namespaces", [[""], ["team", " "]])
def test_a_key_of_a_blank_namespace_is_refused(tmp_path: Path, namespaces: list[str]) -> None:
    with pytest.raises(InvalidParamsFault, match="blank"):
        Keys(tmp_path).create("ci", Scope.READ, namespaces)
    assert Keys(tmp_path).all() == []
