"""Broker client for publishing with confirmation, queue depths and dead letters.

All work runs in one thread over one connection, which is opened when it is first needed. Every response has a timeout,
so that a broker that disappears silently costs only seconds.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import urlsplit

from forager import clock
from forager.dispatch.celery_app import (
    ANSWER_S,
    CONNECT_S,
    CRAWL_TASK,
    PARSE_TASK,
    dead_queue,
    import_celery,
    make_app,
    queue_of,
)
from forager.dispatch.dead_letter import DeadLetter, read_letter
from forager.dispatch.errors import BrokerUnavailableError
from forager.dispatch.message import Hint, ReplayHint
from forager.dispatch.names import Names
from forager.dispatch.store import Depth

T = TypeVar("T")
RECOVERED = (60, 111)
"""AMQP 0-9-1 method id of Recover-Ok: all unacknowledged messages of a channel were requeued."""
PORTION = 200
"""Number of dead letters that are read together when some are redriven."""


class Broker:
    def __init__(self, url: str, names: Names) -> None:
        import_celery()
        self._url = url
        self.names = names
        self._app: Any = None
        self._connection: Any = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="broker")

    async def close(self) -> None:
        await self._do(self._disconnect)
        self._thread.shutdown(wait=False)

    # public methods ------------------------------------------------------------------------------------------------

    async def look(self, queues: Iterable[str]) -> dict[str, Depth]:
        """Returns the number of messages and consumers of each queue. Creates a queue that does not exist."""
        return await self._do(lambda: {name: self._declare_queue(name) for name in (*queues, self.names.dead)})

    async def tell(self, told: Sequence[tuple[str, Hint]]) -> None:
        """Publishes each hint to its queue, persistent and confirmed. Raises BrokerUnavailableError; some may have
        been delivered by then."""
        await self._do(lambda: self._tell(told), is_tried_again=False)

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Returns the first `limit` dead letters without removing them."""
        return await self._do(lambda: self._read_dead(limit))

    async def redrive(self, ids: Sequence[str] | None) -> list[DeadLetter]:
        """Moves dead letters back to the queues that rejected them and returns them; None: all. Given ids, only the
        first of several identical letters is moved: the others are not searched for."""
        return await self._do(lambda: self._redrive(ids))

    async def purge(self, queues: Sequence[str]) -> dict[str, int]:
        """Empties the queues and returns how many messages each had."""
        return await self._do(lambda: {name: self._purge(name) for name in queues})

    # in the broker thread ------------------------------------------------------------------------------------------

    async def _do(self, work: Callable[[], T], *, is_tried_again: bool = True) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._try, work, is_tried_again)

    def _try(self, work: Callable[[], T], is_tried_again: bool) -> T:
        """Runs `work`, and repeats it over a new connection where one was open: it may have broken while idle."""
        import amqp
        from kombu.exceptions import KombuError

        was_open = self._connection is not None
        try:
            return work()
        except (OSError, KombuError, amqp.AMQPError) as error:
            self._drop()
            if is_tried_again and was_open:
                return self._try(work, False)
            raise BrokerUnavailableError(self._error_message(error.__cause__ or error)) from error  # kombu wraps some

    def _error_message(self, error: BaseException) -> str:
        parts = urlsplit(self._url)
        place = f"RabbitMQ at {parts.hostname or '127.0.0.1'}:{parts.port or 5672}"
        if isinstance(error, _RejectedError):
            return f"{place} refuses messages, as it does when its memory, its disk or a queue is full."
        code = getattr(error, "reply_code", None)
        if code in {403, 530}:
            return f"{place} refuses the account or the virtual host of dispatch.broker_url: look at both."
        if code == 406:
            return (
                f"A queue at {place} was made with other arguments ({getattr(error, 'reply_text', '')}):"
                " delete it, or choose another dispatch.queue_prefix."
            )
        return f"{place} does not answer ({type(error).__name__}); workers take domains from the database meanwhile."

    def _channel(self) -> Any:
        if self._connection is None:
            self._app = self._app or make_app(self._url, self.names)
            limits = {"confirm_publish": False, "read_timeout": ANSWER_S, "write_timeout": ANSWER_S}
            connection = self._app.connection_for_write(
                connect_timeout=CONNECT_S, heartbeat=0, transport_options=limits
            )
            connection.ensure_connection(max_retries=1, interval_start=0)  # `connect` would sleep for 2 s between
            self._connection = connection
            dead_queue(self.names)(self._connection.default_channel).declare()
        return self._connection.default_channel

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):  # a broken connection may raise again
                connection.collect(socket_timeout=0.1)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.release()

    def _declare_queue(self, name: str) -> Depth:
        queue = dead_queue(self.names) if name == self.names.dead else queue_of(self.names, name)
        found = queue(self._channel()).queue_declare()
        return Depth(found.message_count, found.consumer_count)

    def _tell(self, told: Sequence[tuple[str, Hint]]) -> None:
        with self._confirmed() as producer:
            for name, hint in told:
                self._app.send_task(
                    PARSE_TASK if isinstance(hint, ReplayHint) else CRAWL_TASK,
                    args=(hint.document(),),
                    queue=queue_of(self.names, name),
                    declare=[],
                    producer=producer,
                    delivery_mode=2,
                    retry=False,
                )

    @contextlib.contextmanager
    def _confirmed(self) -> Iterator[Any]:
        """Yields a producer on its own channel. On exit the broker has confirmed every message; confirmed one by
        one, each took 11 ms, together less than one."""
        from kombu import Producer

        self._channel()
        channel = self._connection.channel()
        channel.confirm_select()
        confirmed = _Confirmed()
        channel.events["basic_ack"].add(confirmed.take)
        channel.events["basic_nack"].add(confirmed.on_reject)
        try:
            with Producer(channel) as producer:
                send = producer.publish
                producer.publish = confirmed.counting(send)
                yield producer
            until = clock.monotonic() + ANSWER_S
            while confirmed.open:
                self._connection.drain_events(timeout=max(0.0, until - clock.monotonic()) or 0.01)
        finally:
            if channel.connection is not None:
                channel.close()

    def _purge(self, name: str) -> int:
        self._declare_queue(name)
        found: int = self._channel().queue_purge(name)
        return found

    def _read_dead(self, limit: int) -> list[DeadLetter]:
        with self._reading() as channel:
            return [read_letter(message, self.names) for message in _each(channel, self.names.dead, limit)]

    def _redrive(self, ids: Sequence[str] | None) -> list[DeadLetter]:
        """Moves dead letters in batches, so that a million letters do not need memory for a million; stops after the
        last requested one. Reads at most the number present at the start: letters that are rejected again are
        appended behind it."""
        wanted, moved = None if ids is None else set(ids), list[DeadLetter]()
        with self._reading() as channel:
            letters = _each(channel, self.names.dead, self._declare_queue(self.names.dead).messages)
            while wanted is None or wanted:
                portion = [(message, read_letter(message, self.names)) for message in islice(letters, PORTION)]
                if not portion:
                    break
                moved += self._move(portion, wanted)
        return moved

    def _move(self, portion: Sequence[tuple[Any, DeadLetter]], wanted: set[str] | None) -> list[DeadLetter]:
        """Moves the requested letters (None: all) whose queue is known, and removes them from `wanted`."""
        chosen = []
        for message, letter in portion:
            if letter.queue is not None and (wanted is None or letter.id in wanted):
                chosen.append((message, letter))
                if wanted is not None:
                    wanted.discard(letter.id)
        with self._confirmed() as producer:
            for message, letter in chosen:
                self._send_on(producer, message, letter.queue or "")
        for message, _ in chosen:
            message.ack()
        return [letter for _, letter in chosen]

    def _send_on(self, producer: Any, message: Any, queue: str) -> None:
        """Publishes the message unchanged. A kill before it is acknowledged leaves it in both queues, which is
        harmless."""
        self._declare_queue(queue)
        own = {name: value for name, value in (message.headers or {}).items() if not name.startswith("x-")}
        kept = {name: message.properties[name] for name in ("correlation_id", "reply_to") if name in message.properties}
        producer.publish(
            message.body,
            exchange="",
            routing_key=queue,
            content_type=message.content_type,
            content_encoding=message.content_encoding,
            headers=own,
            delivery_mode=2,
            **kept,
        )

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Any]:
        """Yields a separate channel, so that messages read and not acknowledged are requeued. Waits for that:
        closing the channel does not, and the next reader could find the queue empty."""
        self._channel()
        channel = self._connection.channel()
        try:
            yield channel
            channel.basic_recover(requeue=True)
            channel.wait(RECOVERED, timeout=ANSWER_S)
        finally:
            channel.close()


class _RejectedError(OSError):
    """The broker rejected a message."""


class _Confirmed:
    """Tracks which messages of a new channel are not confirmed yet; one confirmation may cover all up to a tag."""

    def __init__(self) -> None:
        self._sent = 0
        self._taken: set[int] = set()
        self._taken_up_to = 0

    @property
    def open(self) -> bool:
        return any(tag not in self._taken for tag in range(self._taken_up_to + 1, self._sent + 1))

    def counting(self, send: Callable[..., T]) -> Callable[..., T]:
        def publish(*given: Any, **more: Any) -> T:
            self._sent += 1
            return send(*given, **more)

        return publish

    def take(self, tag: int, is_multiple: bool) -> None:
        if is_multiple:
            self._taken_up_to = max(self._taken_up_to, tag)
        else:
            self._taken.add(tag)

    def on_reject(self, *_: Any) -> None:
        raise _RejectedError


def _each(channel: Any, queue: str, limit: int) -> Iterator[Any]:
    for _ in range(limit):
        message = channel.basic_get(queue)
        if message is None:
            return
        yield channel.message_to_python(message) if hasattr(channel, "message_to_python") else message


@contextlib.asynccontextmanager
async def open_broker(url: str, prefix: str) -> AsyncIterator[Broker]:
    broker = Broker(url, Names(prefix))
    try:
        yield broker
    finally:
        await broker.close()
