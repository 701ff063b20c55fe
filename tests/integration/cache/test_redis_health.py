"""A Redis that is away is seen: in /health, in /metrics and as an alert. Nothing else stops."""

import time

import asyncpg
import pytest
from tests.ground import Ground
from tests.integration.api.conftest import client_for, running, settings, token_of
from tests.integration.cache.conftest import OwnRedis
from tests.integration.scheduler.stage import a_context

from forager.accounts.identity import Role, Scope
from forager.alerts import jobs as alerts
from forager.alerts.jobs import AlertsJob
from forager.alerts.rules import RULES, evaluate_rules
from forager.alerts.service_health import probe_services
from forager.cache import server as module
from forager.config.settings import Settings

__all__ = ["settings"]
UP = 'crawler_service_up{service="redis"}'


@pytest.fixture
def with_redis(settings: Settings, redis: OwnRedis, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr(module, "RESET_S", 0.1)
    monkeypatch.setattr("forager.stats.routes.prometheus.FRESH_S", 0.0)
    monkeypatch.setattr("forager.stats.routes.prometheus.REST", 0)
    return settings.replace(redis_url=redis.url)


@pytest.mark.parametrize("how", ["kill", "freeze"])
async def test_health_and_metrics_say_that_redis_is_away_and_back(
    with_redis: Settings, redis: OwnRedis, conn: asyncpg.Connection, how: str
) -> None:
    token = await token_of(conn, Role.USER, Scope.READ)
    async with running(with_redis) as app, client_for(app) as anybody, client_for(app, token) as user:
        assert (await anybody.get("/health")).json()["parts"]["redis"] == {"state": "ok", "detail": "answers"}
        assert f"{UP} 1.0" in (await user.get("/metrics")).text
        redis.kill() if how == "kill" else redis.freeze()
        began = time.monotonic()
        answer = await anybody.get("/health")
        assert time.monotonic() - began < 5
        assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
        assert answer.json()["parts"]["redis"]["state"] == "degraded"
        assert f"{UP} 0.0" in (await user.get("/metrics")).text
        redis.start() if how == "kill" else redis.thaw()
        while (await anybody.get("/health")).json()["parts"]["redis"]["state"] != "ok":
            assert time.monotonic() - began < 20


async def test_without_redis_there_is_no_part_for_it(settings: Settings) -> None:
    async with running(settings) as app, client_for(app) as anybody:
        assert "redis" not in (await anybody.get("/health")).json()["parts"]


async def test_a_redis_that_is_away_is_an_alert(with_redis: Settings, redis: OwnRedis, ground: Ground) -> None:
    assert await probe_services(with_redis, ground.conn) == {"redis": True}
    redis.kill()
    assert await probe_services(with_redis, ground.conn) == {"redis": False}
    hold = RULES["service_away"].hold
    await AlertsJob().run(a_context(ground.conn, with_redis))
    await ground.conn.execute("UPDATE alert_watches SET bad_since = bad_since - $1::interval", hold)
    await AlertsJob().run(a_context(ground.conn, with_redis))
    [row] = await ground.conn.fetch("SELECT rule, subject, severity FROM alerts WHERE resolved_at IS NULL")
    assert tuple(row) == ("service_away", "redis", "warning")


async def test_a_broker_whose_queues_nobody_could_read_is_an_alert(settings: Settings, ground: Ground) -> None:
    with_broker = settings.replace(dispatch_mode="celery")
    await ground.conn.execute("DELETE FROM queue_depths")
    assert await probe_services(with_broker, ground.conn) == {"broker": False}
    await ground.conn.execute(
        "INSERT INTO queue_depths (queue, messages, consumers, seen_at) VALUES ('crawl', 0, 0, now())"
    )
    assert await probe_services(with_broker, ground.conn) == {"broker": True}
    await ground.conn.execute("UPDATE queue_depths SET seen_at = now() - interval '31 seconds'")
    facts = await alerts.gather(a_context(ground.conn))
    assert not [each for each in evaluate_rules(facts) if each.rule == "service_away"]
    assert await probe_services(with_broker, ground.conn) == {"broker": False}
