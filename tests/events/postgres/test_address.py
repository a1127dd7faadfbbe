"""The address of a shared log without its secrets, and as it is read back."""

from pathlib import Path

import pytest

from events.postgres.address import ADDRESS, VARIABLE, check_remembered, log_address, remember_address, without_password
from events.storage.log import LogError


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql:///db?host=/var/run", "postgresql:///db?host=/var/run"),
        ("postgresql://me:secret@db:5432/log", "postgresql://me@db:5432/log"),
        ("postgresql://me:se?cr#et@db/log", "postgresql://me@db/log"),
        ("postgresql://me:sec@ret@db/log", "postgresql://me@db/log"),
        ("postgresql://:secret@db/log", "postgresql://@db/log"),
        ("postgres://[::1]:5432/log?application_name=a@b", "postgres://[::1]:5432/log?application_name=a@b"),
        ("postgresql://me@db/log?password=secret", "postgresql://me@db/log"),
        (
            "postgresql://me@db/log?sslmode=verify-full&sslpassword=secret&options=-c%20a%3Db&p%61ssword=secret",
            "postgresql://me@db/log?sslmode=verify-full&options=-c%20a%3Db",
        ),
        ("postgresql://me@db/log?oauth_client_secret=secret&scram_client_key=secret", "postgresql://me@db/log"),
    ],
)
def test_an_address_loses_its_secrets_and_nothing_else(url: str, shown: str, tmp_path: Path) -> None:
    assert without_password(url) == shown
    remember_address(tmp_path, url)
    assert log_address(tmp_path) == shown


def test_a_remembered_address_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / ADDRESS).write_text("postgresql:/db\n", encoding="utf-8")
    with pytest.raises(LogError, match="--log"):
        log_address(tmp_path)


def test_both_names_of_the_scheme_are_the_address_of_one_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for known, chosen in (("postgres", "postgresql"), ("postgresql", "postgres")):
        remember_address(tmp_path, f"{known}://me@db/log")
        monkeypatch.setenv(VARIABLE, f"{chosen}://me:secret@db/log")
        check_remembered(tmp_path)
        monkeypatch.setenv(VARIABLE, f"{chosen}://me:secret@db/other")
        with pytest.raises(LogError, match="serves the log at"):
            check_remembered(tmp_path)
