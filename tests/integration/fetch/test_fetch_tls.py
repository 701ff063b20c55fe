"""Certificates are verified: name, age, issuer. An operator may except a domain, for itself alone; the log says so."""

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.integration.fetch.raw_server import Server, a_client, http, serve

from forager.errors import AddressBlockedError, TlsError
from forager.fetch.client import Client
from forager.logs import configure

HERE = Path(__file__).parent
SELF_SIGNED, EXPIRED = HERE / "self_signed.pem", HERE / "expired.pem"


@asynccontextmanager
async def serve_tls(certificate: Path, host: str = "127.0.0.1") -> AsyncIterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    async with serve(http(b"x"), host=host, tls=context) as server:
        yield server


async def test_a_wrong_name_is_a_tls_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(SELF_SIGNED))
    async with serve_tls(SELF_SIGNED, "127.0.0.2") as server, a_client() as client:
        with pytest.raises(TlsError, match="not valid for"):
            await client.get(f"https://127.0.0.2:{server.port}/")
    assert server.requests == []


async def test_an_expired_certificate_is_a_tls_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(EXPIRED))
    async with serve_tls(EXPIRED) as server, a_client() as client:
        with pytest.raises(TlsError, match="expired"):
            await client.get(f"https://localhost:{server.port}/")
    assert server.requests == []


@pytest.fixture(autouse=True)
def log_to_this_test() -> Iterator[None]:
    """The log keeps the stream it met first, and pytest gives each test another."""
    configure()
    yield
    configure()


@pytest.mark.parametrize("certificate", [SELF_SIGNED, EXPIRED])
async def test_an_excepted_domain_is_asked_and_the_log_says_so_once(
    client: Client, certificate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serve_tls(certificate) as server:
        client.enter(f"127.0.0.1:{server.port}", verifies_tls=False)
        for _ in range(2):
            assert (await client.get(f"https://127.0.0.1:{server.port}/")).body == b"x"
    told = capsys.readouterr().err
    assert told.count("tls.unverified") == 1
    assert f"127.0.0.1:{server.port}" in told


async def test_an_exception_is_for_its_domain_and_its_lease(client: Client) -> None:
    async with serve_tls(SELF_SIGNED) as one, serve_tls(SELF_SIGNED) as other:
        client.enter(f"127.0.0.1:{one.port}", verifies_tls=False)
        await client.get(f"https://127.0.0.1:{one.port}/")
        with pytest.raises(TlsError):
            await client.get(f"https://127.0.0.1:{other.port}/")
        client.leave(f"127.0.0.1:{one.port}")
        with pytest.raises(TlsError):  # although the connection of before is still warm
            await client.get(f"https://127.0.0.1:{one.port}/")
    assert other.requests == []
    assert len(one.requests) == 1


async def test_an_excepted_domain_still_meets_the_guard() -> None:
    def refuse(ip: str, port: int) -> None:
        raise AddressBlockedError(f"{ip}:{port} is refused")

    async with serve_tls(SELF_SIGNED) as server, a_client(check_address=refuse) as client:
        client.enter(f"127.0.0.1:{server.port}", verifies_tls=False)
        with pytest.raises(AddressBlockedError):
            await client.get(f"https://127.0.0.1:{server.port}/")
    assert server.connections == 0
