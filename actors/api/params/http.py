"""Parameters of operations on the HTTP server of a hub; they come over its own socket only."""

import ipaddress
import re
from typing import Protocol

from actors.api.caller import Caller
from actors.api.params.parsing import Params, invalid

DEFAULT_ADDRESS = "127.0.0.1:8765"
"""Where the server listens unless it is told otherwise."""


class HttpListen(Params, frozen=True, kw_only=True):
    """Serve MCP and pages over HTTP, until the hub ends."""

    address: str | None = None
    """`HOST:PORT`, `:PORT`, `[::1]:PORT`, or a host alone if it is `localhost` or has a dot.

    None for where it runs already, or else `DEFAULT_ADDRESS`.
    """
    tls_cert: str | None = None
    """File with the certificate chain in PEM."""
    tls_key: str | None = None
    """File with its private key in PEM."""
    behind_proxy: bool = False
    """Whether another server in front of this one speaks TLS."""
    allow_hosts: tuple[str, ...] = ()
    """Further names under which the server may be addressed."""
    oauth_issuer: str | None = None
    """URL of an OAuth authorization server whose tokens are accepted."""
    oauth_audience: str | None = None
    """URL of this server, for which such tokens must be issued."""

    def check(self) -> None:
        """Refuse a malformed address, and one that would send keys in clear text."""
        super().check()
        host, _ = self.endpoint
        if (self.tls_cert is None) != (self.tls_key is None):
            raise invalid("tls_cert", "a certificate and its key belong together: give --tls-cert and --tls-key")
        if (self.oauth_issuer is None) != (self.oauth_audience is None):
            raise invalid("oauth_issuer", "give the issuer and, as --oauth-audience, the URL of this server")
        if not all(_is_host(name) for name in self.allow_hosts):
            raise invalid("allow_host", "expected a name without scheme and port, as memory.example.org")
        if not (is_loopback(host) or self.tls or self.behind_proxy):
            problem = f"{host} can be reached from other machines; give --tls-cert and --tls-key, or --behind-proxy"
            raise invalid("address", problem)

    @property
    def tls(self) -> bool:
        """Whether this server speaks TLS."""
        return self.tls_cert is not None

    @property
    def endpoint(self) -> tuple[str, int]:
        """Host and port (`InvalidParamsFault` for a malformed address)."""
        default_host, _, default_port = DEFAULT_ADDRESS.rpartition(":")
        address = self.address or DEFAULT_ADDRESS
        host, separator, port = address.rpartition(":")
        if not separator or address.endswith("]"):
            host, port = address, ""
        host = host.removeprefix("[").removesuffix("]")
        is_word = not separator and "." not in address and address != "localhost"  # of a command rather than a host
        port = port or default_port
        if is_word or not (port.isascii() and port.isdecimal() and int(port) < 1 << 16):
            raise invalid("address", "expected HOST:PORT with a port from 0 to 65535")
        return host or default_host, int(port)


class HttpLogin(Params, frozen=True, kw_only=True):
    """Return a link that logs a browser in once; starts the HTTP server if there is none."""


class WebServer(Protocol):
    """The HTTP server of the process."""

    async def listen(self, params: HttpListen) -> str:
        """Start it, and return its URL."""
        ...

    async def login_link(self) -> str:
        """Start it unless it runs, and return a link that logs a browser in once."""
        ...

    def count(self, caller: Caller, operation: str, *, refused: bool) -> None:
        """Count a call of an operation, for the audit."""
        ...

    def take_replay(self, caller: Caller) -> None:
        """Count a replay of the log for `as_of`; raise `RateLimitFault` if there are too many of the caller."""
        ...


def _is_host(name: str) -> bool:
    """Return whether a text is the name or the address of a machine, and nothing beside."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return re.fullmatch(r"[^\s/:@\[\]]+", name) is not None
    return True


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
