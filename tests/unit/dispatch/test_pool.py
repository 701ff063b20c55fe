"""Celery's pool of a worker: every message has a key of its own, and Celery's thread does what it is sent for."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from forager.dispatch.inbox import MessageReply
from forager.dispatch.message import CrawlHint, Hint
from forager.dispatch.pool import HintPool

Put = tuple[str, Hint, str]
BODY = json.dumps([[CrawlHint(1, 17, 4).document()], {}, {}])


class Pool(HintPool):
    def __init__(self) -> None:
        super().__init__()
        self.come: list[Put] = []
        self.ran: list[MessageReply] = []

    def put(self, key: str, hint: Hint, queue: str) -> None:
        self.come.append((key, hint, queue))

    def bring(self, queue: str) -> str:
        """A message; answers its key."""
        request = {"delivery_info": {"routing_key": queue}}
        message = "forager.crawl", "id", request, BODY, "application/json", "utf-8"
        self.on_apply(self._note, message, callback=lambda _result: None)
        return self.come[-1][0]

    def _note(self, *_given: Any, **_more: Any) -> None:
        self.ran.append(self.verdict)


@pytest.fixture
def pools() -> Iterator[tuple[Pool, Pool]]:
    """Of a Celery that ended, and of the one that was started after it."""
    both = Pool(), Pool()
    yield both
    for pool in both:
        pool.close_sockets()


def test_a_late_word_on_a_message_of_an_old_pool_settles_no_new_one(pools: tuple[Pool, Pool]) -> None:
    old, new = pools
    early = old.bring("crawl_queue")
    late = new.bring("crawl_queue")
    new.give(early, MessageReply.DONE)
    new._process_pending()
    assert new.ran == []
    new.give(late, MessageReply.DONE)
    new._process_pending()
    assert new.ran == [MessageReply.DONE]


def test_a_hint_comes_with_the_queue_that_brought_it(pools: tuple[Pool, Pool]) -> None:
    pool, _ = pools
    pool.bring("priority_queue.3")
    assert pool.come[0][1:] == (CrawlHint(1, 17, 4), "priority_queue.3")


def test_an_errand_is_done_before_what_follows_it(pools: tuple[Pool, Pool]) -> None:
    """Whoever stops to listen and then gives a message back must not get it again."""
    pool, _ = pools
    key = pool.bring("crawl_queue")
    seen: list[list[MessageReply]] = []
    pool.send(lambda: seen.append(list(pool.ran)))
    pool.give(key, MessageReply.LATER)
    pool._process_pending()
    assert (seen, pool.ran) == ([[]], [MessageReply.LATER])
