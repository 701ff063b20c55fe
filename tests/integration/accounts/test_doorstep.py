"""What strangers send is not read when it is large."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.integration.accounts.stage import Desk

from forager.accounts.who import Scope
from forager.api.doorstep import LARGE_BYTES

LARGE = b'{"name": "' + b"x" * LARGE_BYTES + b'"}'


class Heard:
    """A body that notes whether anybody read it."""

    was_read = False

    async def body(self) -> AsyncIterator[bytes]:
        self.was_read = True
        yield LARGE


async def send(browser: Any, **headers: str) -> tuple[int, bool]:
    heard = Heard()
    answer = await browser.post(
        "/api/tokens", content=heard.body(), headers={"Content-Type": "application/json"} | headers
    )
    return answer.status_code, heard.was_read


@pytest.mark.parametrize("length", [{}, {"Content-Length": str(len(LARGE))}])
async def test_a_large_body_of_a_stranger_is_refused_unread(desk: Desk, length: dict[str, str]) -> None:
    assert await send(desk.browser(), **length) == (401, False)
    assert await send(desk.browser(Authorization="Bearer fgr_wrong"), **length) == (401, False)


async def test_a_large_body_of_somebody_we_know_is_read_and_judged(desk: Desk) -> None:
    await desk.a_user()
    assert await send(await desk.with_token("alice", Scope.ADMIN)) == (422, True)


async def test_a_small_one_gets_to_the_route(desk: Desk) -> None:
    assert (await desk.browser().post("/api/auth/login", json={})).status_code == 422


@pytest.mark.parametrize("told", ["-1", "x", "1e9", "٣"])
async def test_a_length_that_is_none_is_no_way_around(desk: Desk, told: str) -> None:
    raw = [(b"content-length", told.encode("utf-8")), (b"content-type", b"application/json")]
    answer = await desk.browser().post("/api/tokens", content=b"{}", headers=raw)
    assert answer.status_code == 401
