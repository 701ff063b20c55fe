"""A real Chromium, or a reason to skip; FORAGER_REQUIRE_SERVICES=1 makes the reason a failure."""

import os
from pathlib import Path

import pytest

from forager.fetch.browser import find_chromium, why_no_browser


@pytest.fixture(scope="session")
def chromium() -> Path:
    if reason := why_no_browser():
        if os.environ.get("FORAGER_REQUIRE_SERVICES") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    found = find_chromium()
    assert found is not None
    return found
