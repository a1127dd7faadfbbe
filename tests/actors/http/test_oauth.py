"""Access tokens of an external issuer, which this test is."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from actors.api.context import Context
from actors.api.params.http import HttpListen
from actors.http.access.oauth import IssuerVerifier
from actors.http.guard import RefusedError
from actors.runtime.faults import InvalidParamsFault
from tests.actors.http.conftest import Serve

pytestmark = pytest.mark.anyio

AUDIENCE = "https://memory.example.org/mcp"
KEY_ID = "first"


class Issuer:
    """An authorization server that has a key and publishes it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        self.away = False
        self.refusals = 0
        """Requests while it was away."""

    def documents(self) -> dict[str, Any]:
        """Return what it publishes, by path."""
        public = RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True) | {
            "kid": KEY_ID,
            "use": "sig",
            "alg": "RS256",
        }
        metadata = {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        return {"/.well-known/oauth-authorization-server": metadata, "/keys": {"keys": [public]}}

    def token(self, key: Any = None, algorithm: str = "RS256", key_id: str = KEY_ID, **changes: Any) -> str:
        """Return a token for an hour; a claim of None is left out."""
        claims = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "anna",
            "scope": "openid write",
            "namespaces": ["team"],
            "exp": datetime.now(UTC) + timedelta(hours=1),
        }
        claims = {name: value for name, value in (claims | changes).items() if value is not None}
        return jwt.encode(claims, key or self.key, algorithm, headers={"kid": key_id})


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            document = found.documents().get(self.path)
            found.refusals += found.away
            self.send_response(503 if found.away else 404 if document is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(document).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Issuer(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield found
        server.shutdown()
        thread.join()


@pytest.fixture
def listen(issuer: Issuer) -> HttpListen:
    return HttpListen(address="127.0.0.1:0", oauth_issuer=issuer.url, oauth_audience=AUDIENCE)


async def test_a_token_permits_its_scope_in_its_namespaces(
    context: Context, serve: Serve, issuer: Issuer, listen: HttpListen
) -> None:
    async with serve(context, listen) as served, served.agent(issuer.token()) as agent:
        stored = await agent.call("store_memory", content="The standup is at ten.")
        assert (await agent.call("memory_retrieve", id=stored["fingerprintId"]))["namespace"] == "team"
        assert (await agent.refused("store_memory", content="x", namespace="other"))["code"] == -32003
        assert (await agent.refused("consolidate_memories"))["code"] == -32003
        trail = await agent.call("audit_trail")
    assert ("http:oauth:anna", "the account anna") in {(event["actor"], event["by"]) for event in trail["events"]}


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": datetime(2020, 1, 1, tzinfo=UTC)},
        {"exp": None},
        {"aud": "https://other.example.org/mcp"},
        {"aud": None},
        {"iss": "https://other.example.org"},
        {"sub": None},
        {"scope": "openid"},
        {"scope": 5},
        {"sub": "anna\ud800"},
        {"namespaces": ["team\ud800"]},
        {"namespaces": None},
        {"namespaces": []},
        {"namespaces": "team"},
        {"key": rsa.generate_private_key(public_exponent=65_537, key_size=2_048)},
        {"key": "a secret of thirty-two bytes or more", "algorithm": "HS256"},
    ],
    ids="+".join,
)
async def test_a_token_that_lacks_anything_permits_nothing(
    context: Context, serve: Serve, issuer: Issuer, listen: HttpListen, changes: dict[str, Any]
) -> None:
    async with serve(context, listen) as served, served.client(issuer.token(**changes)) as client:
        refused = await client.post("/mcp", json={})
        assert refused.status_code == 401
        assert "/.well-known/oauth-protected-resource/mcp" in refused.headers["www-authenticate"]


@pytest.mark.parametrize(("lacks", "told"), [("scope", "read, write and admin"), ("namespaces", "claim namespaces")])
async def test_the_log_tells_what_a_valid_token_lacks(
    context: Context,
    serve: Serve,
    issuer: Issuer,
    listen: HttpListen,
    caplog: pytest.LogCaptureFixture,
    lacks: str,
    told: str,
) -> None:
    with caplog.at_level("INFO", "context-graph"):
        async with serve(context, listen) as served, served.client(issuer.token(**{lacks: None})) as client:
            assert (await client.post("/mcp", json={})).status_code == 401
    assert told in caplog.text


@pytest.mark.parametrize("audience", [AUDIENCE, "https://memory.example.org"])
async def test_programs_find_the_issuer_by_the_metadata_of_the_server(
    context: Context, serve: Serve, issuer: Issuer, audience: str
) -> None:
    listen = HttpListen(address="127.0.0.1:0", oauth_issuer=issuer.url, oauth_audience=audience)
    async with serve(context, listen) as served, served.client() as client:
        challenge = (await client.post("/mcp", json={})).headers["www-authenticate"]
        place = challenge.split('"')[-2].removeprefix("https://memory.example.org")
        metadata = (await client.get(place)).json()
    # To the letter: clients compare both with what the issuer says of itself and of its tokens.
    assert (metadata["resource"], metadata["authorization_servers"]) == (audience, [issuer.url])


@pytest.mark.parametrize("audience", ["memory", "memory.example.org/mcp", "https:///mcp"])
def test_an_audience_that_is_no_url_is_refused_by_name(issuer: Issuer, audience: str) -> None:
    with pytest.raises(InvalidParamsFault, match="oauth_audience"):
        IssuerVerifier(issuer.url, audience)


async def test_an_issuer_that_cannot_be_reached_lets_nobody_in_and_blames_no_token(
    context: Context, serve: Serve, issuer: Issuer
) -> None:
    gone = HttpListen(address="127.0.0.1:0", oauth_issuer="http://127.0.0.1:9", oauth_audience=AUDIENCE)
    async with serve(context, gone) as served, served.client(issuer.token()) as client:
        answers = [await client.post("/mcp", json={}) for _ in range(40)]
        assert {one.status_code for one in answers} == {503}
        assert int(answers[-1].headers["retry-after"]) > 0
        async with served.client(served.key("ci")) as valid:
            assert (await valid.get("/metrics")).status_code == 200


async def test_an_issuer_that_is_away_locks_nobody_out_whose_key_is_known(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    verifier = IssuerVerifier(issuer.url, AUDIENCE)
    assert await verifier.verify_token(issuer.token()) is not None
    assert verifier._keys is not None
    verifier._keys.cooldown_duration = 0
    monkeypatch.setattr(issuer, "away", True)
    with pytest.raises(RefusedError, match="can't be reached"):
        await verifier.verify_token(issuer.token(key_id="unknown"))
    assert await verifier.verify_token(issuer.token()) is not None
    with pytest.raises(RefusedError, match="can't be reached"):
        await verifier.verify_token(issuer.token(key_id="unknown"))
    assert issuer.refusals == 1, "a server that is away is asked at every token"


@pytest.mark.parametrize("keys", ["in maintenance", {"keys": []}], ids=repr)
async def test_an_issuer_whose_keys_cannot_be_read_blames_no_token(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch, keys: object
) -> None:
    documents = issuer.documents() | {"/keys": keys}
    monkeypatch.setattr(issuer, "documents", lambda: documents)
    with pytest.raises(RefusedError, match="can't be reached"):
        await IssuerVerifier(issuer.url, AUDIENCE).verify_token(issuer.token())


async def test_the_clock_of_an_issuer_may_be_some_seconds_fast(issuer: Issuer) -> None:
    verifier = IssuerVerifier(issuer.url, AUDIENCE)
    for seconds, is_valid in ((10, True), (600, False)):
        issued = datetime.now(UTC) + timedelta(seconds=seconds)
        assert (await verifier.verify_token(issuer.token(iat=issued, nbf=issued)) is not None) == is_valid


def test_an_issuer_without_tls_on_another_machine_is_refused() -> None:
    with pytest.raises(InvalidParamsFault, match="https"):
        IssuerVerifier("http://issuer.example.org", AUDIENCE)
