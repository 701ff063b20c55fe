"""A real Chromium, or a reason to skip; FORAGER_REQUIRE_SERVICES=1 makes the reason a failure.

Two are shared by all tests here, in one event loop: starting one takes more than most of them do with it.
"""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from forager.fetch.browser import Browser, Limits, find_chromium, find_missing_dependency, open_browser

HASTY_MEMORY = 512 * 1024**2
"""Twice what a browser has when it does nothing, and a page that never ends fills it within a second."""


@pytest.fixture(scope="session")
def chromium() -> Path:
    if reason := find_missing_dependency():
        if os.environ.get("FORAGER_REQUIRE_SERVICES") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    found = find_chromium()
    assert found is not None
    return found


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def browser(chromium: Path) -> AsyncIterator[Browser]:
    async with open_browser(chromium, user_agent="Forager/test", limits=Limits(timeout_s=60)) as opened:
        yield opened


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def hasty(chromium: Path) -> AsyncIterator[Browser]:
    """Pages do not have long to rest."""
    limits = Limits(timeout_s=3, memory_bytes=HASTY_MEMORY)
    async with open_browser(chromium, user_agent="Forager/test", limits=limits) as opened:
        yield opened
