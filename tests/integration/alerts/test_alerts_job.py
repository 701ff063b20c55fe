"""The job `alerts`: what the rules see on a real database."""

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from tests.ground import Ground
from tests.integration.scheduler.stage import a_context, a_visited_page

from forager.alerts import jobs as alerts
from forager.alerts.jobs import AlertsJob
from forager.alerts.rules import evaluate_rules
from forager.alerts.watch import Level
from forager.products.models import Product
from forager.products.store import ProductVisit
from forager.products.store import store as store_products
from forager.stats import series as store
from forager.stats.counters import CounterMap
from forager.stats.jobs.series import SeriesJob
from forager.storage.disk import Disk

pytestmark = pytest.mark.both_servers


async def facts(ground: Ground, *job_names: str) -> Any:
    return await alerts.gather(a_context(ground.conn, job_names=job_names))


async def test_a_quiet_instance_has_nothing_to_tell(ground: Ground) -> None:
    await ground.a_worker()
    assert await AlertsJob().run(a_context(ground.conn)) == "0 open; 0 alerts raised, 0 resolved"


async def test_answers_are_counted_also_before_they_are_folded(ground: Ground) -> None:
    tally = CounterMap()
    for outcome, code, number in (("success", "200", 30), ("blocked_4xx", "404", 8), ("blocked_5xx", "503", 2)):
        tally.add("visits", outcome, number)
        tally.add("status", code, number)
    tally.add("visits", "cancelled", 100)
    for outcome, code, number in (("failed", "dns_error", 3), ("timeout", "timeout", 4), ("failed", "broken", 1)):
        tally.add("visits", outcome, number)
        tally.add("failures", code, number)
    await store.add(ground.conn, 1, tally)
    found = await facts(ground)
    assert (found.visits, found.refused, found.unanswered, found.succeeded) == (48, 10, 7, 30)


async def test_the_frontier_over_the_last_minutes(ground: Ground) -> None:
    for minutes, size in ((3, 10_000.0), (2, 12_000.0), (1, 15_000.0)):
        await ground.conn.execute(
            "INSERT INTO series (minute, metric, label, amount, samples) VALUES"
            " (date_trunc('minute', now()) - make_interval(mins => $1), 'frontier_size', '', 2 * $2::float8, 2)",
            minutes,
            size,
        )
    samples = (await facts(ground)).frontier
    assert [size for _, size in samples][-2:] == [12_000.0, 15_000.0]
    assert all(earlier > later for (earlier, _), (later, _) in pairwise(samples))


async def test_silent_and_dead_workers_are_found_and_those_that_left_are_not(ground: Ground) -> None:
    await ground.a_worker(silent_s=10)
    silent = await ground.a_worker(silent_s=130)
    dead = await ground.a_worker(silent_s=150, status="dead", ended_at="(now())")
    await ground.a_worker(silent_s=5000, status="dead", ended_at="(now() - interval '1 hour')")
    await ground.a_worker(silent_s=5000, status="stopped", ended_at="(now())")
    await ground.a_worker(silent_s=150, status="dead", ended_at="(now() - interval '125 seconds')")  # seen to die
    [found] = (await facts(ground)).workers
    assert found.workers == [silent, dead]
    assert 149 < found.silent_s < 160


async def test_a_dead_worker_that_was_replaced_is_found_no_more(ground: Ground) -> None:
    run, before = await ground.a_run(), "(now() - interval '1 hour')"
    await ground.a_worker(run, started_at=before)
    dead = await ground.a_worker(
        run, silent_s=150, host="lost/boot", status="dead", ended_at="(now())", started_at=before
    )
    assert [found.workers for found in (await facts(ground)).workers] == [[dead]]
    await ground.a_worker(run, host="other/boot")
    assert (await facts(ground)).workers == []


async def a_proxy(ground: Ground, domain: int, **columns: Any) -> int:
    proxy: int = await ground.conn.fetchval(
        "INSERT INTO proxies (host, port) VALUES ('p' || (SELECT count(*) FROM proxies), 3128) RETURNING id"
    )
    await ground.conn.execute("INSERT INTO domain_proxies (domain_id, proxy_id) VALUES ($1, $2)", domain, proxy)
    for name, value in columns.items():
        await ground.conn.execute(f"UPDATE proxies SET {name} = $2 WHERE id = $1", proxy, value)
    return proxy


async def test_pools_of_domains_that_are_crawled(ground: Ground) -> None:
    used = await ground.a_domain("used.example")
    paused = await ground.a_domain("paused.example", is_active=False)
    await ground.a_domain("direct.example")
    proxies = [await a_proxy(ground, used), await a_proxy(ground, used, is_active=False)]
    await a_proxy(ground, paused)
    page = await ground.a_page("http://used.example/", used)
    await ground.conn.execute(
        "INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, completed_at, proxy_id, error_code)"
        " SELECT $1, $2, 'failed', 'failed', now(), $3, CASE WHEN n < 3 THEN 'proxy_error' ELSE 'timeout' END"
        " FROM generate_series(0, 9) n",
        *(page, used, proxies[0]),
    )
    [pool] = (await facts(ground)).pools
    assert (pool.domain, pool.active, pool.requests, pool.failed) == ("used.example", 1, 10, 3)


async def test_how_well_products_were_read_lately_and_before(ground: Ground) -> None:
    domain = await ground.a_domain()
    for ago, attempts, valid in ((0, 30, 3), (1, 20, 2), (2, 50, 45), (8, 50, 45), (9, 999, 0)):
        await ground.conn.execute(
            "INSERT INTO product_days VALUES ($1, (now() AT TIME ZONE 'UTC')::date - $2::int, 'auto', 1, $3, $3, $4)",
            *(domain, ago, attempts, valid),
        )
    [parser] = (await facts(ground)).parsers
    assert (parser.attempts, parser.valid, parser.attempts_before, parser.valid_before) == (50, 5, 100, 90)


async def test_a_shop_whose_prices_can_no_longer_be_read_raises_an_alert(ground: Ground) -> None:
    shop = await ground.a_domain("shop.example")
    page = await ground.a_page("http://shop.example/lamp", shop)
    lamp = Product(name="Lamp", price=Decimal("49.90"), currency="EUR")
    unpriced = replace(lamp, price=None, problems=("no_price",))
    await store_products(
        ground.conn, [ProductVisit(shop, page, n, "http://shop.example/lamp", lamp) for n in range(50)]
    )
    await ground.conn.execute("UPDATE product_days SET day = day - 3")
    await store_products(
        ground.conn, [ProductVisit(shop, page, n, "http://shop.example/lamp", unpriced) for n in range(50)]
    )
    [finding] = [found for found in evaluate_rules(await facts(ground)) if found.rule == "parse_drop"]
    assert (finding.subject, finding.level) == ("shop.example", Level.BAD)
    assert "0% of the products of shop.example could be read" in finding.message


async def test_what_died_by_our_fault_and_has_no_other_try(ground: Ground) -> None:
    domain = await ground.a_domain()
    dead = await a_visited_page(ground, "http://a.example/dead", domain, outcome="blocked_5xx", code=500)
    retried = await a_visited_page(ground, "http://a.example/retried", domain, outcome="blocked_5xx", code=500)
    for page in (dead, retried):
        await ground.conn.execute(
            "INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, blame, error_code, completed_at)"
            " VALUES ($1, $2, 'failed', 'failed', 'parser', 'parser_crash', now())",
            *(page, domain),
        )
    await ground.a_task(retried)
    await ground.conn.execute(
        "INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, blame, error_code, completed_at)"
        " SELECT id, domain_id, 'failed', 'failed', 'us', 'broken', now() FROM pages WHERE id = $1",
        retried,
    )
    await ground.conn.execute(
        "INSERT INTO webhook_calls (kind, payload, url, next_try_at, died_at) VALUES ('alert', '{}', 'x', NULL, now())"
    )
    assert (await facts(ground)).dead == {"visits": 1, "bugs": 1, "webhooks": 1}


async def test_the_disk_and_the_jobs(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    await ground.conn.execute(
        "INSERT INTO jobs (name, every_s, next_at, error) VALUES"
        " ('alerts', 30, now() - interval '1 day', 'x'), ('of_old', 30, now() - interval '1 day', NULL),"
        " ('score', 60, now() - interval '1 hour', 'ValueError: no')"
    )
    disk = Disk("/data", 1, 100)
    monkeypatch.setattr(alerts, "read_disks", lambda _settings: (disk,))
    found = await facts(ground, "alerts", "score")
    assert found.disks == (disk,)
    [job] = found.jobs
    assert (job.name, job.error) == ("score", "ValueError: no")
    assert 3599 < job.late_s < 3660


async def test_a_killed_worker_is_an_alert_from_the_job_itself(ground: Ground) -> None:
    await ground.a_worker(silent_s=200)
    assert await AlertsJob().run(a_context(ground.conn)) == "1 open; 1 alert raised, 0 resolved"
    assert await AlertsJob().run(a_context(ground.conn)) == "1 open; 0 alerts raised, 0 resolved"
    await SeriesJob().run(a_context(ground.conn))
    state = {(each.metric, each.label): each.amount for each in await store.read_state(ground.conn, dead_after_s=120)}
    assert state["alerts_open", "critical"] == 1


async def test_what_the_search_server_refused_is_an_alert_until_it_is_gone(ground: Ground) -> None:
    await ground.conn.execute("SELECT follow_for_search_server(true)")
    try:
        await ground.conn.execute(
            "INSERT INTO search_rejected (kind, id, reason, refused_at) VALUES"
            " ('page', 1, 'an old reason', now() - interval '1 hour'), ('product', 1, 'too long', now())"
        )
        await AlertsJob().run(a_context(ground.conn))
        await ground.conn.execute("UPDATE alert_watches SET bad_since = bad_since - interval '2 minutes'")
        assert await AlertsJob().run(a_context(ground.conn)) == "1 open; 1 alert raised, 0 resolved"
        row = await ground.conn.fetchrow("SELECT rule, message FROM alerts")
        assert row["rule"] == "search_rejected"
        assert row["message"] == "The search server would not take 2 documents; the last: too long."
        await ground.conn.execute("DELETE FROM search_rejected")
        await AlertsJob().run(a_context(ground.conn))
        await ground.conn.execute("UPDATE alert_watches SET quiet_since = quiet_since - interval '2 minutes'")
        assert await AlertsJob().run(a_context(ground.conn)) == "0 open; 0 alerts raised, 1 resolved"
    finally:
        await ground.conn.execute("SELECT follow_for_search_server(false)")


async def test_a_search_server_that_was_left_is_no_reason_for_an_alert(ground: Ground) -> None:
    await ground.conn.execute("INSERT INTO search_rejected (kind, id, reason) VALUES ('page', 1, 'too long')")
    assert (await facts(ground)).unsearchable == 0


async def test_due_work_without_a_worker_becomes_an_alert_after_a_minute(ground: Ground) -> None:
    await ground.a_domain(pages=1, ready_at="(now() - interval '10 minutes')")
    assert await AlertsJob().run(a_context(ground.conn)) == "0 open; 0 alerts raised, 0 resolved"
    await ground.conn.execute("UPDATE alert_watches SET bad_since = bad_since - interval '61 seconds'")
    assert await AlertsJob().run(a_context(ground.conn)) == "1 open; 1 alert raised, 0 resolved"
    [alert] = await ground.conn.fetch("SELECT rule, severity, message FROM alerts")
    assert (alert["rule"], alert["severity"]) == ("crawl_stalled", "critical")
    assert alert["message"] == "1 domain has been due for 10 min: no worker is alive."
