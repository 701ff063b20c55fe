"""Logs in to domains before their first page, and again when a session ended.

It starts nothing by itself: the dispatcher asks for a login when a queue needs one. A login that fails ends the lease:
the pages stay open, the domain is blocked with the reason, and each cooldown is longer than the one before, because a
site may lock an account after a few wrong attempts.
"""

from collections.abc import Coroutine
from typing import Any

from forager import clock
from forager.domains.sessions import LoginRequest
from forager.domains.store import Release
from forager.engine.database_clock import DatabaseClock
from forager.engine.domain_queue import DomainQueue
from forager.engine.login_state import Action
from forager.engine.outcome_handler import OutcomeHandler
from forager.engine.request_timing import LeasedRequest
from forager.engine.robots_cache import EXHAUSTED_HOLD_S, DeferredError, RobotsCache
from forager.errors import (
    AddressBlockedError,
    ExhaustedError,
    LeaseLostError,
    NetworkDownError,
    NetworkError,
    ProxyError,
    RobotsDeniedError,
    SkippedError,
    VisitError,
)
from forager.fetch.client import Client
from forager.fetch.login import MOST_BYTES, LoginResult, log_in
from forager.fetch.models import Fetched
from forager.frontier.models import Outcome
from forager.logs import log
from forager.proxies.models import Proxy
from forager.robots.rules import Rules
from forager.urls.domain import origin_of

LOGIN_FAILED = "login_failed"
COOLDOWNS_S = (900.0, 3600.0, 6 * 3600.0, 86_400.0, 7 * 86_400.0)
"""After one failed login, two in a row, and so on."""
TEMPORARY_S = 300.0
"""A login that the site or the network prevented is tried again after this."""
NETWORK_HOLD_S = 5.0


class Logins:
    def __init__(
        self, client: Client, robots: RobotsCache, outcomes: OutcomeHandler, database_clock: DatabaseClock
    ) -> None:
        self._client = client
        self._robots = robots
        self._outcomes = outcomes
        self._database_clock = database_clock

    async def run(self, queue: DomainQueue) -> None:
        """Logs in within the domain's pace; afterwards the queue is logged in, closing, or asks again later."""
        assert queue.login is not None
        client = _QueueLoginClient(self._client, self._robots, queue)
        domain = queue.lease.domain
        try:
            result = await log_in(client, queue.login.config, domain, cookie_names=lambda: self._cookie_names(queue))
        except (LeaseLostError, DeferredError, ProxyError):
            return  # the next request, or the next lease holder, asks again
        except (NetworkDownError, ExhaustedError):
            queue.hold(clock.monotonic(), EXHAUSTED_HOLD_S)
            return
        except AddressBlockedError as error:
            result = LoginResult(problem=str(error))
        except SkippedError as error:
            result = LoginResult(problem=str(error), is_temporary=True)
        finally:
            for request in client.requests:
                if request.has_left:
                    moment = LoginRequest(client.origin, request.requested_at, request.pace_ms)
                    queue.session.requests.append(moment)
        if queue.is_lost or queue.closing:
            return
        if client.is_local_failure:
            queue.hold(clock.monotonic(), NETWORK_HOLD_S)
            return
        self._apply(queue, result)

    def _cookie_names(self, queue: DomainQueue) -> set[str]:
        return queue.session.jar.names(clock.now())

    def _apply(self, queue: DomainQueue, result: LoginResult) -> None:
        assert queue.login is not None
        domain = queue.lease.domain
        if result.is_ok:
            queue.session.record_login(queue.login.config, clock.now())
            queue.login.record_login()
            log().info("logged in", action="login.ok", domain=domain, found=result.found, requests=len(result.steps))
        elif result.is_temporary:
            reason = f"the login could not be made: {result.problem}"
            log().warning("login not possible", action="login.deferred", domain=domain, reason=result.problem)
            wait_s = queue.wait_s(clock.monotonic())
            queue.close(Release(queue.lease, wait_s, max(TEMPORARY_S, wait_s), reason=reason))
        else:
            self._fail(queue, result.problem or "")

    def _fail(self, queue: DomainQueue, problem: str) -> None:
        failures = queue.session.login_failures
        rest_s = COOLDOWNS_S[min(failures, len(COOLDOWNS_S) - 1)]
        queue.session.record_failure()
        queue.session.jar.clear()
        domain = queue.lease.domain
        reason = f"the login failed: {problem}; `forager domain {domain} login` tries it and shows each step"
        log().warning("login failed", action="login.failed", domain=domain, reason=problem, failures=failures + 1)
        wait_s = queue.wait_s(clock.monotonic())
        queue.close(Release(queue.lease, wait_s, rest_s, status="blocked", reason_code=LOGIN_FAILED, reason=reason))

    def judge(self, queue: DomainQueue, outcome: Outcome, began_with: int) -> bool:
        """Returns whether a visit does not count, because its session had ended: its page is visited again."""
        login = queue.login
        if login is None or queue.is_lost:
            return False
        action = login.judge(outcome, began_with)
        if action is Action.KEEP:
            return False
        if queue.closing:
            return True  # the task stays open for the next lease
        if action is Action.RENEW:
            queue.session.record_end()
            log().info("session ended", action="login.expired", domain=queue.lease.domain, url=outcome.target.url)
        self._outcomes.put_back(queue, outcome, is_last=action is Action.LATER)
        if action is Action.FAIL:
            self._fail(queue, "the pages still ask for a login after the form was accepted")
        return True


class _QueueLoginClient:
    """Makes the requests of a login: each under the domain's pace, over its route, and only if robots.txt allows it."""

    def __init__(self, client: Client, robots: RobotsCache, queue: DomainQueue) -> None:
        self._client = client
        self._robots = robots
        self._queue = queue
        self.requests: list[LeasedRequest] = []
        self.is_local_failure = False
        self.origin = ""

    async def get(self, url: str, *, has_secrets: bool = False) -> Fetched:
        await self._check_robots(url)
        async with self._robots.turn(self._queue, origin_of(url), self.requests) as on_sent:
            via = self._find_route()
            return await self._diagnosed(
                url, self._client.get(url, cut_at=MOST_BYTES, on_sent=on_sent, via=via, has_secrets=has_secrets)
            )

    async def submit(self, url: str, body: bytes, *, content_type: str, referer: str) -> Fetched:
        await self._check_robots(url)
        async with self._robots.turn(self._queue, origin_of(url), self.requests) as on_sent:
            via = self._find_route()
            sending = self._client.submit(
                url, body, content_type=content_type, referer=referer, cut_at=MOST_BYTES, on_sent=on_sent, via=via
            )
            return await self._diagnosed(url, sending)

    def _find_route(self) -> Proxy | None:
        via = self.requests[-1].via
        if via is None and self._queue.pool is not None:
            raise ProxyError("no proxy of its pool may be used now")
        return via

    async def _diagnosed(self, url: str, sending: Coroutine[Any, Any, Fetched]) -> Fetched:
        try:
            return await sending
        except NetworkError as error:
            self.is_local_failure = await self._robots.is_local_failure(self._queue, origin_of(url), error)
            raise

    async def _check_robots(self, url: str) -> None:
        self.origin = origin = origin_of(url)
        rules = self._robots.get_rules(self._queue, origin, clock.monotonic())
        if rules is None:
            await self._robots.fetch(self._queue, origin)
            rules = self._queue.robots.find_fresh(origin, clock.monotonic())
        if rules is None:
            raise DeferredError
        if isinstance(rules, VisitError):
            raise rules
        assert isinstance(rules, Rules)
        verdict = rules.verdict(url)
        if not verdict.allowed:
            raise RobotsDeniedError(f"line {verdict.line} says {verdict.rule!r}")
