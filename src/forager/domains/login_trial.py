"""Tries the login of a domain for an operator: as a crawl would make it, with every step to be seen and no secret.

A login that succeeds is not wasted: its session is stored for the next lease, and a domain that is blocked because of
its login is freed.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import with_config

from forager import clock
from forager.config.cipher import PasswordCipher
from forager.config.crawl_layers import defaults_of
from forager.config.crawl_settings import CrawlSettings
from forager.config.settings import Settings
from forager.db.rows import RECORD
from forager.db.types import Connection
from forager.domains import service
from forager.domains.access import read_access, read_login, read_robots_agent
from forager.domains.lookup import known_name
from forager.domains.session_store import find_sessions, is_blocked_by_login
from forager.domains.sessions import DomainSession, Sessions, save
from forager.domains.settings import read_layers
from forager.errors import RobotsDeniedError, RobotsUnreachableError, UsageError, VisitError
from forager.fetch.client import Client, open_client
from forager.fetch.login import MOST_BYTES, LoginConfig, LoginStep, log_in
from forager.fetch.models import Fetched
from forager.politeness.guard import guard_from_settings
from forager.politeness.throttle import clamp_delay
from forager.robots.fetch import at_once, fetch_robots
from forager.robots.rules import Rules, parse
from forager.urls.domain import origin_of


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class LoginTrial:
    """What became of a login."""

    name: str
    is_ok: bool
    problem: str | None
    found: str
    """How the result was recognised."""
    was_logged_in: bool
    steps: Sequence[LoginStep]
    cookies: Sequence[str]
    """Names of the cookies that the domain has afterwards."""
    fields: Sequence[str]
    """Names of the fields that were filled."""
    is_stored: bool = False
    """The session is stored for the next lease."""
    was_blocked: bool = False
    """The domain was blocked because of its login, and is free now."""


@dataclass(frozen=True, slots=True, repr=False)
class TrialPlan:
    """What a trial needs of the database."""

    name: str
    settings: CrawlSettings
    login: LoginConfig
    session: DomainSession
    domain_id: int


async def plan_trial(conn: Connection, name: str, settings: Settings, cipher: PasswordCipher) -> TrialPlan:
    known = await known_name(conn, name)
    assert known is not None
    layers = await read_layers(conn, known, cipher)
    effective = layers.resolve(defaults_of(settings)).settings
    login = read_login(effective)
    if login is None:
        raise UsageError(
            f"{known} has no login; `forager domain {known} set --login-url URL --login-field user=NAME "
            "--login-field password=-` sets one."
        )
    stored = await find_sessions(conn, [layers.domain_id])
    session = DomainSession(serves_https=any(row.serves_https for row in stored))
    return TrialPlan(known, effective, login, session, layers.domain_id)


async def try_login(settings: Settings, plan: TrialPlan) -> LoginTrial:
    """Makes the login with an empty cookie jar. Whatever the site does is in the result."""
    guard = guard_from_settings(settings)
    if plan.settings.allow_networks:
        guard = guard.with_networks(plan.settings.allow_networks)
    jar = plan.session.jar
    async with open_client(
        user_agent=settings.agent_header,
        check_address=guard.check_ip,
        timeout_s=settings.fetch.timeout,
        connect_timeout_s=settings.fetch.connect_timeout,
        max_bytes=settings.fetch.max_page_size,
    ) as client:
        access = read_access(plan.settings, serves_https=plan.session.serves_https)
        client.enter(plan.name, verifies_tls=plan.settings.verify_tls, access=access, jar=jar)
        asking = _TrialClient(client, settings, plan.settings)
        try:
            result = await log_in(asking, plan.login, plan.name, cookie_names=lambda: jar.names(clock.now()))
            problem, found = result.problem, result.found
            steps, was_logged_in = result.steps, result.was_logged_in
        except VisitError as error:
            problem, found, steps, was_logged_in = str(error), "", [], False
    names = sorted(jar.names(clock.now()))
    fields = sorted(plan.login.fields)
    return LoginTrial(plan.name, problem is None, problem, found, was_logged_in, steps, names, fields)


async def keep_session(conn: Connection, plan: TrialPlan, cipher: PasswordCipher, *, by: str) -> tuple[bool, bool]:
    """Stores the session of a successful login, unless a worker holds the domain, and frees a domain that was blocked
    because of its login. Returns whether it did either."""
    held = await service.hold_domain(conn, plan.name)
    is_stored = held.claimed_by is None
    if is_stored:
        plan.session.record_login(plan.login, clock.now())
        columns = await Sessions(cipher).seal({plan.domain_id: plan.session})
        await save(conn, columns, (), [plan.domain_id])
    was_blocked = await is_blocked_by_login(conn, plan.domain_id)
    if was_blocked:
        await service.reset(conn, plan.name, by=by, reason="the login succeeds again")
    return is_stored, was_blocked


class _TrialClient:
    """Makes the requests one after the other, in the domain's pace, and only if robots.txt allows them."""

    def __init__(self, client: Client, settings: Settings, crawl: CrawlSettings) -> None:
        self._client = client
        self._settings = settings
        self._crawl = crawl
        self._rules: dict[str, Rules] = {}
        self._next_at = 0.0

    async def get(self, url: str, *, has_secrets: bool = False) -> Fetched:
        await self._wait(url)
        return await self._client.get(url, cut_at=MOST_BYTES, has_secrets=has_secrets)

    async def submit(self, url: str, body: bytes, *, content_type: str, referer: str) -> Fetched:
        await self._wait(url)
        return await self._client.submit(url, body, content_type=content_type, referer=referer, cut_at=MOST_BYTES)

    async def _wait(self, url: str) -> None:
        if self._crawl.obey_robots:
            await self._check_robots(url)
        await self._take_turn()

    async def _take_turn(self) -> None:
        now = clock.monotonic()
        await asyncio.sleep(max(0.0, self._next_at - now))
        self._next_at = clock.monotonic() + clamp_delay(self._crawl.delay)

    async def _check_robots(self, url: str) -> None:
        origin = origin_of(url)
        if origin not in self._rules:
            await self._take_turn()
            ttl_s = self._settings.politeness.robots_ttl
            copy = await fetch_robots(self._client, 0, origin, ttl_s=ttl_s, turn=at_once, waits_s=())
            if copy.error is not None:
                raise RobotsUnreachableError(f"{origin}/robots.txt could not be fetched: {copy.error}")
            agent = read_robots_agent(self._crawl.user_agent, self._settings.politeness.robots_agent)
            self._rules[origin] = parse(copy.text or "").rules_for(agent)
        verdict = self._rules[origin].verdict(url)
        if not verdict.allowed:
            raise RobotsDeniedError(f"line {verdict.line} says {verdict.rule!r}")
