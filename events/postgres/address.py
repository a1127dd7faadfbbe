"""The address of a shared log: how it is recognised, shown, and remembered in the folder of a hub.

Imports nothing of the database, since a proxy reads it too and must start at once.
"""

import os
import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from events.storage.log import LogError

VARIABLE: Final = "CONTEXT_GRAPH_LOG"
"""Of the environment, which hubs inherit: on a command line everybody could read a password."""
ADDRESS: Final = "log.url"
"""The name of a file in the folder of a hub."""

_SCHEMES: Final = ("postgresql", "postgres")
_PASSWORD: Final = re.compile(r"(?<=://)([^:@/]*):[^@/]*@(?:[^@/?]*@)*")
"""User and password as libpq finds them: up to an `@` before the first slash, also after a question mark."""
_ENCODED: Final = re.compile(r"\w+://(?:[^@/]*@)?[^@?]*(?:\?(?:[\w.%]+=.*)?)?", re.DOTALL)
"""An address in which libpq finds the user and password that were meant: a sign that ends them too early is encoded."""
_SECRETS: Final = frozenset({"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"})
"""Parameters of libpq that nobody else may know."""

OFFLINE_VARIABLE: Final = "CONTEXT_GRAPH_OFFLINE"
MAX_LAG_VARIABLE: Final = "CONTEXT_GRAPH_MAX_LAG"
MAX_LAG: Final = 10.0
"""Seconds that answers of a hub may be behind the log without saying so, unless others are chosen."""


def max_lag() -> float:
    """Return the chosen seconds; a `LogError` where they are no positive number."""
    text = os.environ.get(MAX_LAG_VARIABLE) or str(MAX_LAG)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise LogError(f"--max-lag must be a positive number of seconds, not {text}")
    return seconds


def is_url(text: str) -> bool:
    """Tell whether this is the address of a server."""
    return text.partition("://")[0] in _SCHEMES and "://" in text


def no_url(why: str) -> LogError:
    """Return the error of an address that can't be read, which may hold a password at any place."""
    return LogError(
        f"the address of the log is no URL of a PostgreSQL database: {why}; in a user or password, write % as %25, "
        "@ as %40, / as %2F and ? as %3F"
    )


def check_encoded(url: str) -> None:
    """Check that no sign of a user or password is taken for the host (`LogError`, which repeats nothing of them)."""
    if not _ENCODED.fullmatch(url):
        raise no_url("it has an @, / or ? too many")


def without_password(url: str) -> str:
    """Return an address as it may be shown and stored: the same text, less its secrets."""
    address, _, query = _PASSWORD.sub(r"\1@", url, count=1).partition("?")
    shown = "&".join(one for one in query.split("&") if unquote(one.partition("=")[0]) not in _SECRETS)
    return f"{address}?{shown}" if shown else address


def log_address(folder: Path) -> str | None:
    """Return the address of the log that the hub of a folder works on; None for a log in the folder itself.

    Raises:
        LogError: the chosen or remembered address is none of a server, or has a sign that must be encoded.
    """
    if url := os.environ.get(VARIABLE):
        if not is_url(url):
            raise LogError("--log must be the URL of a PostgreSQL database, as postgresql://user@host/database")
        check_encoded(url)
        return url
    return _remembered(folder)


def remember_address(folder: Path, url: str) -> None:
    """Let later commands on the folder find the log; passwords come from PGPASSWORD or a password file (`OSError`)."""
    (folder / ADDRESS).write_text(without_password(url) + "\n", encoding="utf-8")


def check_remembered(folder: Path) -> None:
    """Check that the chosen log, if one is, is that of the hub which serves a folder (`LogError`)."""
    if not os.environ.get(VARIABLE):
        return
    chosen, served = without_password(log_address(folder) or ""), _remembered(folder)
    if served is None or _canonical(chosen) != _canonical(served):
        raise LogError(
            f"the hub of {folder} serves the log {f'at {served}' if served else 'in that folder'}, not the one at "
            f"{chosen}: choose another folder by --data, or leave --log out"
        )


def _canonical(url: str) -> str:
    """Return an address with one of the two names of the scheme."""
    return f"{_SCHEMES[0]}://{url.partition('://')[2]}"


def _remembered(folder: Path) -> str | None:
    path = folder / ADDRESS
    if not path.is_file():
        return None
    url = path.read_text(encoding="utf-8").strip()
    if not is_url(url):
        raise LogError(f"{path} holds no URL of a PostgreSQL database; name it again by --log postgresql://…")
    return url
