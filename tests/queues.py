"""Queues of a test's own on the real RabbitMQ: looked into, filled with what a test likes, and removed when it ends."""

import asyncio
import contextlib
import os
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from kombu import Connection, Producer
from kombu.exceptions import OperationalError
from tests.wire import Wire, a_wire

from forager.dispatch.names import Names

BROKER = "amqp://guest:guest@127.0.0.1:5672//"
BROKER_PORT = 5672


class Queues:
    def __init__(self, connection: Connection, prefix: str, url: str = BROKER) -> None:
        self.connection = connection
        self.url = url
        self.names = Names(prefix)
        self.runs: set[int] = set()
        """Whose queues are removed at the end, beside those of the run that never ends."""

    @property
    def settings(self) -> dict[str, str]:
        return {
            "FORAGER_DISPATCH_MODE": "celery",
            "FORAGER_DISPATCH_BROKER_URL": self.url,
            "FORAGER_DISPATCH_QUEUE_PREFIX": self.names.prefix,
        }

    def all(self) -> list[str]:
        return [
            *self.names.of_run(None),
            *(name for run in self.runs for name in self.names.of_run(run)),
            self.names.dead,
        ]

    def depth(self, name: str) -> int:
        """How many messages wait in it; none where it is not there."""
        return self._look(name)[0]

    def listeners(self, name: str) -> int:
        return self._look(name)[1]

    def _look(self, name: str) -> tuple[int, int]:
        try:
            with self.connection.channel() as channel:
                found = channel.queue_declare(name, passive=True)
                return found.message_count, found.consumer_count
        except self.connection.channel_errors:
            return 0, 0

    def publish(self, name: str, body: Any, **more: Any) -> None:
        with self.connection.channel() as channel:
            Producer(channel).publish(body, exchange="", routing_key=name, **more)

    def publish_hint(self, name: str, document: Any, task: str = "forager.crawl") -> None:
        self.publish(name, [[document], {}, {}], headers={"task": task, "id": uuid.uuid4().hex}, serializer="json")

    def take(self, name: str) -> list[Any]:
        """Every message of it, out of the queue."""
        with self.connection.channel() as channel:
            messages = []
            while (message := channel.basic_get(name, no_ack=True)) is not None:
                messages.append(message)
            return messages

    def put_back(self, name: str, messages: list[Any]) -> None:
        """As they were, in this order."""
        for message in messages:
            self.publish(
                name,
                message.body,
                headers=message.headers,
                content_type=message.content_type,
                content_encoding=message.content_encoding,
            )

    def wipe(self) -> None:
        """The queues themselves are gone, as after a broker lost its disk."""
        for name in self.all():
            with self.connection.channel() as channel:
                channel.queue_delete(name)


@contextlib.contextmanager
def open_queues() -> Iterator[Queues]:
    prefix = f"test-{uuid.uuid4().hex[:10]}."
    with Connection(BROKER, connect_timeout=5) as connection:
        try:
            connection.connect()
        except (OSError, OperationalError) as error:
            if os.environ.get("FORAGER_REQUIRE_SERVICES") == "1":
                raise
            pytest.skip(f"no RabbitMQ: {error}")
        queues = Queues(connection, prefix)
        yield queues
        queues.wipe()
        with connection.channel() as channel:
            for name in (queues.names.dead, queues.names.exchange, f"{prefix}celery.pidbox", f"{prefix}celeryev"):
                channel.exchange_delete(name)


@pytest.fixture
def queues() -> Iterator[Queues]:
    with open_queues() as opened:
        yield opened


@pytest.fixture
def wire() -> Iterator[Wire]:
    """To the broker."""
    url = BROKER.replace(f"127.0.0.1:{BROKER_PORT}", "{place}")
    with a_wire(lambda: asyncio.open_connection("127.0.0.1", BROKER_PORT), url) as opened:
        yield opened
