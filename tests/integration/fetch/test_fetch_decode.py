"""Every way a body can be compressed, honestly, badly and with bad intentions."""

import gzip
import platform
import subprocess
import sys
import zlib

import brotli  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.integration.fetch import bombs, codings
from tests.integration.fetch.raw_server import a_client, http, serve

from forager.errors import DecodeError, TooLargeError
from forager.fetch.client import Client
from forager.fetch.decode import decode

TEXT = b"".join(b"<p>paragraph %d of a long page</p>" % i for i in range(12000))
LIMIT = 1_000_000


def squeeze_brotli(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=5))  # at its best it takes half a second


def raw_deflate(data: bytes) -> bytes:
    squeeze = zlib.compressobj(wbits=-15)
    return squeeze.compress(data) + squeeze.flush()


HONEST = [
    pytest.param("", TEXT, id="identity"),
    pytest.param("identity", TEXT, id="identity-said"),
    pytest.param("gzip", gzip.compress(TEXT), id="gzip"),
    pytest.param("x-gzip", gzip.compress(TEXT), id="x-gzip"),
    pytest.param("GZIP", gzip.compress(TEXT), id="upper-case"),
    pytest.param("gzip", gzip.compress(TEXT[:5000]) + gzip.compress(TEXT[5000:]), id="gzip-of-two-members"),
    pytest.param("gzip", gzip.compress(TEXT) + b"\0\0\0\0", id="gzip-with-padding"),
    pytest.param("deflate", zlib.compress(TEXT), id="deflate-zlib"),
    pytest.param("deflate", raw_deflate(TEXT), id="deflate-raw"),
    pytest.param("deflate", gzip.compress(TEXT), id="deflate-that-is-gzip"),
    pytest.param("br", squeeze_brotli(TEXT), id="br"),
    pytest.param("zstd", bombs.squeeze_zstd(TEXT), id="zstd"),
    pytest.param("zstd", bombs.squeeze_zstd(TEXT[:5000]) + bombs.squeeze_zstd(TEXT[5000:]), id="zstd-of-two-frames"),
    pytest.param("gzip, br", squeeze_brotli(gzip.compress(TEXT)), id="two-layers"),
    pytest.param("deflate, gzip, zstd", bombs.squeeze_zstd(gzip.compress(zlib.compress(TEXT))), id="three-layers"),
    pytest.param("utf-8", TEXT, id="no-compression-at-all"),
]


@pytest.mark.parametrize(("encoding", "wire"), HONEST)
async def test_what_a_server_compresses_arrives_plain(client: Client, encoding: str, wire: bytes) -> None:
    async with serve(http(wire, f"Content-Encoding: {encoding}")) as server:
        fetched = await client.get(server.url())
    assert (fetched.body, fetched.wire_bytes, fetched.is_truncated) == (TEXT, len(wire), False)


@pytest.mark.parametrize(("encoding", "wire"), [p for p in HONEST if p.id in {"gzip", "deflate-zlib", "br", "zstd"}])
@pytest.mark.parametrize("share", [0.5, 0.7, 0.97])
def test_a_broken_off_stream_keeps_what_came(encoding: str, wire: bytes, share: float) -> None:
    plain, is_truncated = decode(wire[: int(len(wire) * share)], encoding, LIMIT)
    assert is_truncated
    assert 0 < len(plain) <= len(TEXT)
    assert TEXT.startswith(plain)


def test_a_damaged_stream_keeps_what_came_before() -> None:
    wire = bytearray(gzip.compress(TEXT))
    wire[len(wire) // 2] ^= 0xFF
    plain, is_truncated = decode(bytes(wire), "gzip", LIMIT)
    assert is_truncated
    assert plain[:1000] == TEXT[:1000]


def test_a_wrong_checksum_is_flagged() -> None:
    assert decode(gzip.compress(TEXT)[:-8] + b"\0" * 8, "gzip", LIMIT) == (TEXT, True)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_what_was_never_compressed_is_a_decode_error(encoding: str) -> None:
    with pytest.raises(DecodeError, match=encoding):
        decode(b"<html>plain text that nobody compressed</html>" * 20, encoding, LIMIT)


def test_more_layers_than_anyone_needs_are_refused() -> None:
    with pytest.raises(DecodeError, match="4 times"):
        decode(b"x", "gzip, gzip, gzip, gzip", LIMIT)


def test_codings_nobody_asked_for_are_refused() -> None:
    with pytest.raises(DecodeError, match="compress"):
        decode(b"x", "compress", LIMIT)


def test_an_empty_body_needs_no_stream() -> None:
    assert decode(b"", "gzip", LIMIT) == (b"", False)


@pytest.mark.parametrize("codec", ["gzip", "br", "zstd"])
def test_the_limit_is_exact(codec: str) -> None:
    wire = {"gzip": gzip.compress, "br": squeeze_brotli, "zstd": bombs.squeeze_zstd}[codec](TEXT)
    assert decode(wire, codec, len(TEXT)) == (TEXT, False)
    with pytest.raises(TooLargeError):
        decode(wire, codec, len(TEXT) - 1)
    assert decode(wire, codec, 1000, may_cut=True) == (TEXT[:1000], True)


@pytest.mark.parametrize("codec", ["gzip", "deflate", "raw-deflate", "br", "br, br", "zstd", "gzip, gzip", "gzip, br"])
def test_a_bomb_is_too_large_and_costs_little_memory(codec: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", bombs.__name__, codec], input=bombs.build(codec), capture_output=True, check=True
    )
    growth = int(done.stdout)
    assert growth * (1 if platform.system() == "Darwin" else 1024) < 50_000_000


BODIES = {size: codings.text(size) for size in (100_000, 600_000, 2_000_000, 8_000_000)}


@pytest.mark.parametrize("piece_bytes", [1400, 100_000_000])
@pytest.mark.parametrize(("encoding", "variant"), list(codings.encoders()))
def test_a_body_of_any_size_and_coding_arrives_whole(encoding: str, variant: str, piece_bytes: int) -> None:
    encode = codings.encoders()[encoding, variant]
    for size, body in BODIES.items():
        if size > 2_000_000 and (piece_bytes < size or "9" in variant):
            continue  # the encoders take seconds
        plain, is_truncated = decode(encode(codings.pieces(body, piece_bytes)), encoding, 10_000_000)
        assert (len(plain), is_truncated) == (size, False)
        assert plain == body


@pytest.mark.parametrize("size", [100_000, 491_457, 8_000_000])
@pytest.mark.parametrize(("encoding", "variant"), [*codings.encoders(), ("br", "quality 11")])
def test_a_large_body_of_few_bytes_on_the_wire_arrives_whole(encoding: str, variant: str, size: int) -> None:
    encode = codings.best_brotli if variant == "quality 11" else codings.encoders()[encoding, variant]
    wire = encode([b" " * size])
    assert decode(wire, encoding, size) == (b" " * size, False)
    with pytest.raises(TooLargeError):
        decode(wire, encoding, size - 1)


def test_brotli_at_its_best_arrives_whole() -> None:
    wire = codings.best_brotli([BODIES[600_000]])
    assert decode(wire, "br", LIMIT) == (BODIES[600_000], False)


@pytest.mark.parametrize(("encoding", "variant"), list(codings.encoders()))
def test_a_large_body_that_breaks_off_is_truncated(encoding: str, variant: str) -> None:
    body = BODIES[2_000_000]
    wire = codings.encoders()[encoding, variant](codings.pieces(body, 50_000))
    plain, is_truncated = decode(wire[: len(wire) * 3 // 4], encoding, 10_000_000)
    assert is_truncated
    assert body.startswith(plain)
    assert len(plain) > len(body) // 2


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
async def test_a_large_page_sent_in_many_chunks_arrives_whole(encoding: str) -> None:
    variant = next(name for coding, name in codings.encoders() if coding == encoding)
    body = BODIES[2_000_000]
    wire = codings.encoders()[encoding, variant](codings.pieces(body, 30_000))
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in codings.pieces(wire, 1000)) + b"0\r\n\r\n"
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    async with serve(head + chunks) as server, a_client(max_bytes=10_000_000) as client:
        fetched = await client.get(server.url())
    assert (len(fetched.body), fetched.is_truncated) == (len(body), False)
    assert fetched.body == body


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
async def test_a_bomb_from_a_server_is_too_large(encoding: str) -> None:
    variant = next(name for coding, name in codings.encoders() if coding == encoding)
    wire = codings.encoders()[encoding, variant]([b" " * 11_000_000])
    async with serve(http(wire, f"Content-Encoding: {encoding}")) as server, a_client(max_bytes=10_000_000) as client:
        with pytest.raises(TooLargeError):
            await client.get(server.url())


def test_a_million_tiny_members_end_soon() -> None:
    plain, _ = decode(gzip.compress(b"x") * 40_000, "gzip", LIMIT)
    assert set(plain) == {ord("x")}


@given(st.binary(max_size=2000), st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, br", "what"]))
@settings(max_examples=300)
def test_arbitrary_bytes_give_bytes_or_a_typed_error(wire: bytes, encoding: str) -> None:
    try:
        plain, _ = decode(wire, encoding, 10_000)
    except (DecodeError, TooLargeError):
        return
    assert len(plain) <= 10_000
