"""Answers that grow past every limit when decompressed: each costs a moment, and leaves nothing behind in memory."""

import gzip
import tracemalloc
from dataclasses import replace

import brotli  # type: ignore[import-untyped]
import pytest
from tests.builders import a_target
from tests.integration.fetch.raw_server import a_client, http, serve
from tests.unit.engine.scripted import ScriptedClient, a_pipeline, visit

from forager.errors import TooLargeError

LIMIT = 2_000_000
VISITS = 30
PLAIN = bytes(20_000_000)


@pytest.mark.parametrize(
    ("coding", "bomb"),
    [("gzip", gzip.compress(PLAIN, mtime=0)), ("br", brotli.compress(PLAIN, quality=1))],
    ids=["gzip", "br"],
)
async def test_outcomes_of_bombs_hold_nothing_but_their_words(coding: str, bomb: bytes) -> None:
    """They wait for the database, perhaps for minutes."""
    tracemalloc.start()
    try:
        async with serve(http(bomb, f"Content-Encoding: {coding}")) as server, a_client(max_bytes=LIMIT) as client:
            tools = replace(a_pipeline(ScriptedClient()), client=client)
            before, _ = tracemalloc.get_traced_memory()
            kept = [await visit(a_target(server.url(f"/{number}")), tools) for number in range(VISITS)]
            after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert {type(outcome.error) for outcome in kept} == {TooLargeError}
    assert after - before < 2 * LIMIT
    assert all(outcome.error is not None and outcome.error.__traceback__ is None for outcome in kept)
