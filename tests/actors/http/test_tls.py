"""TLS by the server itself."""

import os
import ssl
from pathlib import Path

import httpx2
import pytest

from actors.api.context import Context
from actors.api.params.http import HttpListen
from actors.runtime.faults import InvalidParamsFault
from tests.actors.http.conftest import Serve
from tests.certificates import write_certificate

pytestmark = pytest.mark.anyio


async def test_agents_and_browsers_are_served_by_tls_and_nobody_without(
    context: Context, serve: Serve, tmp_path: Path
) -> None:
    certificate, key = map(str, write_certificate(tmp_path, "server"))
    trusting = ssl.create_default_context(cafile=certificate)
    async with serve(context, HttpListen(address="127.0.0.1:0", tls_cert=certificate, tls_key=key)) as served:
        assert served.url.startswith("https://")
        async with served.agent(served.key("me"), verify=trusting) as agent:
            await agent.call("store_memory", content="The ferry to Amrum leaves at seven.")
            assert (await agent.call("search_graph", query="When does the ferry leave?"))["results"]
        async with httpx2.AsyncClient(verify=trusting) as browser:
            entered = await browser.get(await served.server.login_link())
            assert "Secure" in entered.headers["set-cookie"].split("; ")
            assert "max-age" in entered.headers["strict-transport-security"]
            assert (await browser.get(f"{served.url}/")).status_code == 200
        async with httpx2.AsyncClient() as strict:
            with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                await strict.get(f"{served.url}/healthz")
        async with httpx2.AsyncClient() as plain:
            with pytest.raises(httpx2.TransportError):
                await plain.get(f"{served.url}/healthz".replace("https", "http"))


async def test_a_certificate_that_cannot_be_used_is_refused_by_its_file_and_what_is_wrong(
    context: Context, serve: Serve, tmp_path: Path
) -> None:
    certificate, key = map(str, write_certificate(tmp_path, "server"))
    other = str(write_certificate(tmp_path, "other")[1])
    encrypted = str(write_certificate(tmp_path, "encrypted", b"a passphrase")[1])
    missing = str(tmp_path / "missing")
    wrong = {
        (certificate, other): f"tls_cert.*{certificate}.*{other}",
        (missing, key): f"tls_cert.*No such file.*{missing}",
        (certificate, missing): f"tls_key.*No such file.*{missing}",
        (certificate, encrypted): f"tls_key.*{encrypted}.*passphrase",
    }
    for (given, given_key), told in wrong.items():
        with pytest.RaisesGroup(pytest.RaisesExc(InvalidParamsFault, match=told)):
            async with serve(context, HttpListen(address="127.0.0.1:0", tls_cert=given, tls_key=given_key)):
                pass


async def test_a_certificate_and_its_key_may_come_from_pipes(context: Context, serve: Serve, tmp_path: Path) -> None:
    ends: list[int] = []
    for file in write_certificate(tmp_path, "server"):
        end, written = os.pipe()
        ends.append(end)
        os.write(written, file.read_bytes())
        os.close(written)
    certificate, key = (f"/dev/fd/{end}" for end in ends)
    async with serve(context, HttpListen(address="127.0.0.1:0", tls_cert=certificate, tls_key=key)) as served:
        assert served.url.startswith("https://")
    for end in ends:
        os.close(end)
