"""What health and metrics say of a broker, from what whoever sends hints wrote down."""

from typing import Any

import pytest

from forager.api.system import _queue
from forager.stats.routes.prometheus import Snapshot, render
from forager.stats.series import Number

GOOD = {"queue_age_s": 1.0, "queue_messages": 3, "dead_letters": 0}


@pytest.mark.parametrize(
    ("numbers", "state", "words"),
    [
        (GOOD, "ok", "3 messages wait"),
        (GOOD | {"queue_age_s": None}, "degraded", "no word from the broker"),
        (GOOD | {"queue_age_s": 31.0}, "degraded", "no word from the broker"),
        (GOOD | {"dead_letters": 2}, "degraded", "2 dead letters"),
    ],
)
def test_health(numbers: dict[str, Any], state: str, words: str) -> None:
    part = _queue(numbers)
    assert part["state"] == state
    assert words in part["detail"]


def test_metrics() -> None:
    text = render(
        Snapshot(state=[Number("queue_messages", "crawl_queue", 3.0), Number("queue_consumers", "crawl_queue", 2.0)])
    )
    assert b'crawler_queue_messages{queue="crawl_queue"} 3.0' in text
    assert b'crawler_queue_consumers{queue="crawl_queue"} 2.0' in text
