"""OAuth 2.1 resource server: access tokens (JWT) of an external issuer, whose keys are found by its metadata.

A token permits what its `scope` names (`read`, `write`, `admin`) in the namespaces that its claim `namespaces` lists.
"""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import jwt
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.routing import Route

from actors.api.caller import Scope
from actors.api.params.http import is_loopback
from actors.api.params.parsing import invalid
from actors.http.access.keys import PREFIX
from actors.http.guard import RefusedError
from actors.runtime.actor import LOGGER
from actors.runtime.types import JsonObject

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Asymmetric algorithms only: with a symmetric one, anybody could sign with the issuer's public key."""
WELL_KNOWN = ("oauth-authorization-server", "openid-configuration")
TIMEOUT = 5.0
"""Seconds for one request to the issuer."""
AGAIN_SECONDS = 10
"""Seconds after which an issuer that was away is asked again; until then tokens of unknown keys are answered 503."""
KEYS_SECONDS = 300
"""Seconds for which the issuer's keys are cached."""
LEEWAY = 30
"""Seconds by which the issuer's clock may differ from ours."""
MAX_METADATA = 1 << 20
"""Limit of the issuer's metadata, in bytes."""

_URL = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))
"""`AnyHttpUrl(text)` adds a slash to a URL without a path; clients and issuers compare these URLs to the letter."""


class _Keys(jwt.PyJWKClient):
    """The keys of an issuer; those that are cached are found while it is away."""

    def __init__(self, place: str, asking: Callable[[], AbstractContextManager[None]]) -> None:
        super().__init__(place, lifespan=KEYS_SECONDS, timeout=TIMEOUT)
        self._asking = asking

    def fetch_data(self) -> Any:
        """Ask the issuer (`OSError` for one that is away, or answers something else)."""
        with self._asking():
            try:
                return super().fetch_data()
            except (jwt.PyJWTError, ValueError) as error:
                raise OSError(str(error)) from error


class IssuerVerifier(TokenVerifier):
    """Verifies the tokens of an issuer.

    `issuer` is its URL, as in the claim `iss`: HTTPS, or on this machine. `audience` is the URL of this server, as in
    the claim `aud`.

    Raises:
        InvalidParamsFault: The issuer's URL is neither, or the audience is no URL.
    """

    def __init__(self, issuer: str, audience: str) -> None:
        parts = urlsplit(issuer)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            raise invalid("oauth_issuer", "expected a URL with https")
        if urlsplit(audience).scheme not in {"http", "https"} or not urlsplit(audience).hostname:
            raise invalid("oauth_audience", "expected the URL of this server, as https://memory.example.org/mcp")
        self._issuer = issuer
        self._audience = audience
        self._keys: _Keys | None = None
        self._turn = anyio.Lock()
        self._away_until = 0.0
        """When an issuer that was away may be asked again, by the monotonic clock."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what a token permits; None for one that is invalid, expired, or of another issuer or audience.

        Raises:
            RefusedError: The issuer can't be reached, so nobody knows whether the token is valid.
        """
        if token.startswith(PREFIX):
            return None
        try:
            async with self._turn:  # one request to the issuer at a time
                claims = await anyio.to_thread.run_sync(self._claims, token)
        except OSError:
            problem = "The issuer of access tokens can't be reached; try again later"
            raise RefusedError(503, problem, {"retry-after": str(AGAIN_SECONDS)}) from None
        except (jwt.PyJWTError, ValueError) as error:
            LOGGER.info("a token was refused: %s", type(error).__name__)
            return None
        scope = claims.get("scope", claims.get("scp"))
        scopes = scope.split() if isinstance(scope, str) else scope if isinstance(scope, list) else []
        return AccessToken(
            token=token,
            client_id=f"oauth:{claims['sub']}",
            scopes=[str(one) for one in scopes],
            expires_at=int(claims["exp"]),
            resource=self._audience,
            subject=claims["sub"],
            claims=claims,
        )

    def _claims(self, token: str) -> JsonObject:
        if self._keys is None:
            with self._asking():
                place = self._find_keys()
            self._keys = _Keys(place, self._asking)
        key = self._keys.get_signing_key_from_jwt(token)
        claims = jwt.decode(
            token,
            key,
            algorithms=list(ALGORITHMS),
            audience=self._audience,
            issuer=self._issuer,
            leeway=LEEWAY,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
        # JSON can escape half a character; no event with such a name could be logged.
        json.dumps(claims, ensure_ascii=False).encode()
        return claims

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Hold around a request to the issuer; raise `OSError` if one failed a moment ago."""
        if monotonic() < self._away_until:
            raise ConnectionError("the issuer was away a moment ago")
        try:
            yield
        except OSError as error:
            LOGGER.warning("the issuer %s can't be reached: %s", self._issuer, error)
            self._away_until = monotonic() + AGAIN_SECONDS
            raise

    def _find_keys(self) -> str:
        """Return the URL of the issuer's keys, from its metadata (RFC 8414, OpenID Connect Discovery; `OSError`)."""
        parts = urlsplit(self._issuer)
        path = parts.path.rstrip("/")
        places = (f"/.well-known/{WELL_KNOWN[0]}{path}", f"{path}/.well-known/{WELL_KNOWN[1]}")
        for place in places:
            request = urllib.request.Request(parts._replace(path=place).geturl())  # noqa: S310 -- checked above
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:  # noqa: S310
                    metadata = json.loads(answer.read(MAX_METADATA))
            except (urllib.error.HTTPError, http.client.HTTPException, ValueError):
                continue
            match metadata:
                case {"issuer": self._issuer, "jwks_uri": str(keys)}:
                    return keys
                case _:
                    continue
        raise OSError(f"{self._issuer} publishes no metadata")


def resource_metadata(issuer: str, audience: str) -> tuple[str, list[Route]]:
    """Return the URL at which programs find their issuer (RFC 9728), and its routes."""
    resource = _URL.validate_python(audience)
    routes = create_protected_resource_routes(resource, [_URL.validate_python(issuer)], list(Scope))
    return str(build_resource_metadata_url(resource)), routes
