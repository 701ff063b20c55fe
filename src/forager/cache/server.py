"""One Redis server, asked with little patience and left alone for a while when it fails.

          5 failures in a row                        10 s later
    near ─────────────────────▶ away: nobody asks ───────────────▶ one question: answered → near, else → away

A server that is frozen costs what its failures take, less than two seconds, and a question every ten seconds later.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from forager import clock
from forager.errors import ConfigurationError
from forager.logs import log

if TYPE_CHECKING:
    from redis.asyncio import Redis

ATTEMPT_S = 0.2
"""A thousand keys take two milliseconds; who waits longer for them had better ask PostgreSQL."""
RETRIES = 3
RETRY_AFTER_S = 0.1
FAILURES = 5
RESET_S = 10.0
T = TypeVar("T")


class RedisUnavailableError(Exception):
    """Redis does not answer, or not as it should."""


class Server:
    def __init__(self, client: "Redis", trouble: tuple[type[Exception], ...]) -> None:
        self._client = client
        self._trouble = trouble
        self._failures = 0
        self._ask_at = 0.0
        """While it is away: when it is asked again."""

    @property
    def is_away(self) -> bool:
        return self._failures >= FAILURES

    @property
    def is_circuit_open(self) -> bool:
        """It is away, and it is too early to ask again."""
        return self.is_away and clock.monotonic() < self._ask_at

    async def ask(self, question: "Callable[[Redis], Awaitable[T]]", *, retries: int = RETRIES) -> T:
        """Its answer, or AwayError. What must not be done twice is asked without retries."""
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
        # The client closes the connection that failed: its late answer must not be taken for that of the next question.
        # Those that lie idle are most likely dead too.
        with contextlib.suppress(*self._trouble):
            await self._client.connection_pool.disconnect(inuse_connections=False)

    def _note_success(self) -> None:
        if self.is_away:
            log().info("Redis is back", action="redis.back")
        self._failures = 0


@contextlib.asynccontextmanager
async def open_server(url: str) -> AsyncIterator[Server]:
    """Dials when it is first asked: a server that is away is no reason not to start."""
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
            "redis.url is set, and the Redis client is not installed:"
            " install Forager with its extra `redis`, or the package `redis`."
        ) from None
    return redis
