"""TLS by the server itself, with a certificate that this test signs."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from actors.api.context import Context
from actors.api.params.http import HttpListen
from actors.runtime.faults import InvalidParamsFault
from tests.actors.http.conftest import Serve

pytestmark = pytest.mark.anyio


def _write_certificate(folder: Path, name: str) -> tuple[str, str]:
    """Write a certificate for this machine and its key, and return both paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return str(paths[0]), str(paths[1])


async def test_agents_and_browsers_are_served_by_tls_and_nobody_without(
    context: Context, serve: Serve, tmp_path: Path
) -> None:
    certificate, key = _write_certificate(tmp_path, "server")
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


async def test_a_certificate_that_fits_no_key_is_refused_by_name(
    context: Context, serve: Serve, tmp_path: Path
) -> None:
    certificate, _ = _write_certificate(tmp_path, "server")
    _, other = _write_certificate(tmp_path, "other")
    for key in (other, str(tmp_path / "missing.key")):
        with pytest.RaisesGroup(pytest.RaisesExc(InvalidParamsFault, match="tls_cert")):
            async with serve(context, HttpListen(address="127.0.0.1:0", tls_cert=certificate, tls_key=key)):
                pass
