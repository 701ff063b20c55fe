"""A client for one Redis server with short timeouts and a circuit breaker.

          5 failures in a row                               10 s later
    up ─────────────────────▶ unavailable: no requests ───────────────▶ one request: success → up, else → unavailable

A frozen server costs the time of its first failures, less than two seconds, and then one request every ten seconds.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from forager import clock
from forager.config.extras import install_hint
from forager.errors import ConfigurationError
from forager.logs import log

if TYPE_CHECKING:
    from redis.asyncio import Redis

ATTEMPT_S = 0.2
"""A thousand keys take two milliseconds; beyond this timeout PostgreSQL is the faster source."""
RETRIES = 3
RETRY_AFTER_S = 0.1
FAILURES = 5
RESET_S = 10.0
T = TypeVar("T")


class RedisUnavailableError(Exception):
    """Redis does not respond, or returns an error."""


class Server:
    def __init__(self, client: "Redis", trouble: tuple[type[Exception], ...]) -> None:
        self._client = client
        self._trouble = trouble
        self._failures = 0
        self._ask_at = 0.0
        """While Redis is unavailable: the time of the next request."""

    @property
    def is_away(self) -> bool:
        return self._failures >= FAILURES

    @property
    def is_circuit_open(self) -> bool:
        """Returns whether Redis is unavailable and the next attempt is not due yet."""
        return self.is_away and clock.monotonic() < self._ask_at

    async def ask(self, question: "Callable[[Redis], Awaitable[T]]", *, retries: int = RETRIES) -> T:
        """Runs the command and returns its result; raises RedisUnavailableError. Pass `retries=0` for commands that
        must not run twice."""
        if self.is_circuit_open:
            raise RedisUnavailableError
        if self.is_away:
            self._ask_at, retries = clock.monotonic() + RESET_S, 0
        for left in range(retries, -1, -1):
            try:
                async with asyncio.timeout(ATTEMPT_S):
                    answer = await question(self._client)
            except self._trouble as error:
                await self._note_failure(error)
                if self.is_away or not left:
                    raise RedisUnavailableError from error
                await asyncio.sleep(RETRY_AFTER_S)
            else:
                self._note_success()
                return answer
        raise RedisUnavailableError

    async def _note_failure(self, error: Exception) -> None:
        was_away = self.is_away
        self._failures += 1
        if self.is_away and not was_away:
            self._ask_at = clock.monotonic() + RESET_S
            log().warning("Redis is away, PostgreSQL answers alone", action="redis.away", error=repr(error))
        # The client closes the failed connection: its late reply must not be read as the reply to the next command.
        # Idle connections are most likely dead too.
        with contextlib.suppress(*self._trouble):
            await self._client.connection_pool.disconnect(inuse_connections=False)

    def _note_success(self) -> None:
        if self.is_away:
            log().info("Redis is back", action="redis.back")
        self._failures = 0


@contextlib.asynccontextmanager
async def open_server(url: str) -> AsyncIterator[Server]:
    """Connects on first use: Forager starts even when Redis is unavailable."""
    redis = _import_redis()
    from redis.asyncio import Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    try:
        client = Redis.from_url(
            url,
            socket_timeout=ATTEMPT_S,
            socket_connect_timeout=ATTEMPT_S,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
            driver_info=None,
        )
    except ValueError as error:
        raise ConfigurationError(f"redis.url cannot be used: {error}. Write it like redis://host:6379/0.") from None
    trouble = (redis.RedisError, OSError, TimeoutError, ValueError)
    try:
        yield Server(client, trouble)
    finally:
        with contextlib.suppress(*trouble):
            await client.aclose()


def _import_redis() -> Any:
    try:
        import redis
    except ImportError:
        raise ConfigurationError(
            f"redis.url is set, and the Redis client is not installed: {install_hint('redis', 'redis[hiredis]')}."
        ) from None
    return redis
