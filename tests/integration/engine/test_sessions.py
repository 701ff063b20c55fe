"""Cookies and logins outlive a lease: encrypted, bounded, and written only by the lease holder."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.builders import a_spec, an_order
from tests.ground import Ground

from forager import clock
from forager.config.cipher import PasswordCipher
from forager.db.database import Database
from forager.domains.sessions import DomainSession, LoginRequest, Sessions
from forager.domains.store import Release
from forager.engine.claims import Claims
from forager.engine.config import RunConfig
from forager.fetch.login import LoginConfig
from forager.fetch.origin import split_url

LOGIN = LoginConfig("http://a.example/login", {"user": "a", "pw": "s3cret"})


def a_session() -> DomainSession:
    session = DomainSession()
    session.jar.take(["sid=s3cret-sid; Path=/"], *split_url("http://a.example/"), clock.now())
    session.record_login(LOGIN, clock.now())
    session.requests.append(LoginRequest("http://a.example", datetime(2026, 1, 1, tzinfo=UTC), 50))
    return session


class Worker:
    def __init__(self, ground: Ground, database: Database, run: int, keys: tuple[str, ...]) -> None:
        self.ground, self.run = ground, run
        config = RunConfig(run, a_spec())
        self.claims = Claims(database, config, an_order().lease, sessions=Sessions(PasswordCipher(keys)))

    async def stored(self) -> list[tuple[Any, ...]]:
        return [
            tuple(row) for row in await self.ground.conn.fetch("SELECT sealed, login_failures FROM domain_sessions")
        ]


async def a_worker(ground: Ground, database: Database, *keys: str) -> Worker:
    run = await ground.a_run(a_spec())
    await ground.a_domain(run=run, pages=1)
    return Worker(ground, database, run, keys)


async def test_a_session_is_stored_with_the_release_and_claimed_again(ground: Ground, database: Database) -> None:
    worker = await a_worker(ground, database, "key")
    number = await ground.a_worker(worker.run)
    [lease] = (await worker.claims.domains(number, 10)).leases
    await worker.claims.release(number, [Release(lease, 0.0)], {lease.domain_id: a_session()})
    [(sealed, _)] = await worker.stored()
    assert "s3cret" not in sealed
    again = (await worker.claims.domains(number, 10)).sessions[lease.domain_id]
    assert again.is_live(LOGIN, clock.now())
    assert not again.is_live(LoginConfig(LOGIN.url, {"user": "b"}), clock.now())
    assert not again.has_changed
    assert await ground.conn.fetchval("SELECT count(*) FROM robots_requests WHERE purpose = 'login'") == 1


async def test_a_lost_lease_writes_no_session(ground: Ground, database: Database) -> None:
    worker = await a_worker(ground, database, "key")
    number = await ground.a_worker(worker.run)
    [lease] = (await worker.claims.domains(number, 10)).leases
    await ground.conn.execute("UPDATE domains SET version = version + 1")
    session = a_session()
    await worker.claims.save_sessions(number, {lease.token: session})
    await worker.claims.release(number, [Release(lease, 0.0)], {lease.domain_id: a_session()})
    assert await worker.stored() == []


async def test_without_a_key_only_failures_are_stored(ground: Ground, database: Database) -> None:
    worker = await a_worker(ground, database)
    number = await ground.a_worker(worker.run)
    [lease] = (await worker.claims.domains(number, 10)).leases
    await worker.claims.save_sessions(number, {lease.token: a_session()})
    assert await worker.stored() == []
    failed = a_session()
    failed.record_failure()
    await worker.claims.save_sessions(number, {lease.token: failed})
    assert await worker.stored() == [(None, 1)]
    assert not failed.has_changed


@pytest.mark.parametrize("keys", [("another",), ()])
async def test_a_session_that_cannot_be_read_is_none(ground: Ground, database: Database, keys: tuple[str, ...]) -> None:
    worker = await a_worker(ground, database, "key")
    number = await ground.a_worker(worker.run)
    [lease] = (await worker.claims.domains(number, 10)).leases
    await worker.claims.release(number, [Release(lease, 0.0)], {lease.domain_id: a_session()})
    other = Worker(ground, database, worker.run, keys)
    found = (await other.claims.domains(number, 10)).sessions[lease.domain_id]
    assert len(found.jar) == 0
    assert found.logged_in_at is None
