"""A hint is exactly what it should be, or poison."""

import json
from typing import Any

import pytest

from forager.dispatch.message import CrawlHint, InvalidMessageError, ReplayHint, read_hint

GOOD = {"v": 1, "run": 3, "domain_id": 17, "version": 4}


@pytest.mark.parametrize("hint", [CrawlHint(3, 17, 4), ReplayHint(9)])
def test_it_survives_the_way(hint: CrawlHint | ReplayHint) -> None:
    assert read_hint(json.loads(json.dumps(hint.document()))) == hint


@pytest.mark.parametrize(
    "document",
    [
        None,
        "text",
        7,
        [],
        {},
        GOOD | {"v": 2},
        GOOD | {"v": True},
        GOOD | {"v": "1"},
        GOOD | {"run": "3"},
        GOOD | {"run": 3.0},
        GOOD | {"run": None},
        GOOD | {"run": True},
        GOOD | {"domain_id": -1},
        GOOD | {"domain_id": 2**63},
        GOOD | {"more": 1},
        GOOD | {"replay": 9},
        {"v": 1, "replay": "9"},
        {name: value for name, value in GOOD.items() if name != "version"},
    ],
)
def test_anything_else_is_poison(document: Any) -> None:
    with pytest.raises(InvalidMessageError):
        read_hint(document)
