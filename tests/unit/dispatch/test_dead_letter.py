"""Dead letters: whatever a stranger wrote into one, it is shown, and only queues of ours are believed."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from forager.dispatch.dead_letter import read_letter
from forager.dispatch.names import Names

NAMES = Names("blue.")


def a_message(deaths: Any = None, **more: Any) -> Any:
    headers = {"task": "forager.crawl"} | ({} if deaths is None else {"x-death": deaths})
    return SimpleNamespace(**{"body": b"[[{}]]", "content_type": "application/json", "headers": headers} | more)


@pytest.mark.parametrize(
    "deaths",
    [
        None,
        "blue.crawl_queue",
        7,
        {"queue": "blue.crawl_queue"},
        [],
        [None, "blue.crawl_queue", 5, []],
        [{}],
        [{"queue": None}],
        [{"queue": ["blue.crawl_queue"]}],
        [{"queue": "crawl_queue"}],
        [{"queue": "green.crawl_queue"}],
        [{"queue": "blue.dead_letters"}],
        [{"queue": "blue.crawl_queue.x"}],
        [{"queue": "blue.crawl_queue." + "1" * 300}],
        [{"queue": "blue.parse_queue.3"}],
        [{"queue": "blue.payroll"}],
    ],
    ids=str,
)
def test_who_names_no_queue_of_ours_was_refused_nowhere(deaths: Any) -> None:
    assert read_letter(a_message(deaths), NAMES).queue is None


def test_the_last_queue_of_ours_is_where_it_was_refused() -> None:
    deaths = [{"queue": "green.crawl_queue"}, {"queue": "blue.crawl_queue.12"}, {"queue": "blue.parse_queue"}]
    assert read_letter(a_message(deaths), NAMES).queue == "blue.crawl_queue.12"


@pytest.mark.parametrize(
    "more",
    [
        {"headers": None},
        {"headers": {"task": ["forager.crawl"]}},
        {"headers": {"task": {}}},
        {"content_type": None},
        {"content_type": "text/\ud800"},
        {"body": "\ud800"},
        {"body": memoryview(b"\xff")},
        {"body": json.dumps([[{"v": 1, "\ud800" * 400: 1}]])},
    ],
    ids=[
        "no headers",
        "task a list",
        "task a table",
        "no type",
        "half a character in the type",
        "half a character",
        "bytes",
        "long",
    ],
)
def test_what_it_says_can_be_written_down(more: dict[str, Any]) -> None:
    letter = read_letter(a_message(**more), NAMES)
    assert len(letter.why.encode()) + len(letter.body.encode()) < 2500
