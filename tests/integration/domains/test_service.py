"""What an operator does to a domain: every verb leaves the promises kept and says in the history who did it and why."""

from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from forager.config.cipher import PasswordCipher
from forager.domains import service as domain_admin
from forager.domains.admin import move
from forager.domains.status import DomainStatus
from forager.errors import NotFoundError, UsageError
from forager.explain.check import check
from forager.frontier import claim
from forager.pages import service as page_service

DAY_S = 86_400.0
SHOP = "shop.example"
BY: dict[str, Any] = {"by": "cli:ann", "reason": "manual review"}
AGAIN: dict[str, Any] = {"by": "cli:ann", "refresh_every_s": 14 * DAY_S}
RESTS = AGAIN | {"cipher": PasswordCipher(["k" * 32])}
NOT_FOUND = """
    UPDATE crawl_tasks SET outcome = 'blocked_4xx', status_code = 404 WHERE outcome IN ('failed', 'blocked_robots');
    UPDATE run_outcomes SET pages = 3 WHERE outcome = 'blocked_4xx';
    DELETE FROM run_outcomes WHERE outcome IN ('failed', 'blocked_robots')"""
STATES = ["pending", "active", "exhausted", "blocked", "unreachable"]


@pytest.fixture
async def sound(world: Any) -> Any:
    """After the test, too, every promise is kept."""
    yield world
    async with world.conn.transaction(isolation="repeatable_read", readonly=True):
        findings = [finding for verdict in await check(world.conn) for finding in verdict.findings]
    assert [(finding.name, finding.examples) for finding in findings if finding.broken] == []


async def do(world: Any, verb: Any, *arguments: Any, **more: Any) -> Any:
    """One verb is one transaction."""
    async with world.conn.transaction():
        return await verb(world.conn, *arguments, **more)


async def domain(world: Any, name: str = SHOP) -> Any:
    return await world.conn.fetchrow("SELECT *, status::text FROM domains WHERE name = $1", name)


async def history(world: Any, name: str = SHOP) -> list[tuple[str, str, str, str]]:
    rows = await world.conn.fetch(
        "SELECT from_status::text, to_status::text, reason, moved_by FROM domain_history"
        " WHERE domain_id = $1 ORDER BY id",
        world.domains[name],
    )
    return [tuple(row) for row in rows]


async def open_tasks(world: Any) -> dict[str, Any]:
    rows = await world.conn.fetch(
        "SELECT p.url, t.scheduled_for, t.created_by FROM crawl_tasks t JOIN pages p ON p.id = t.page_id"
        " WHERE t.outcome IS NULL"
    )
    return {row["url"].removeprefix("http://shop.example/"): row for row in rows}


async def finish(world: Any) -> None:
    """Everything of the shop was visited: one page is gone, one failed, one was refused, two were read."""
    await world.conn.execute("DELETE FROM crawl_tasks WHERE outcome IS NULL")
    for name, status, outcome, code in (
        ("later", "failed", "failed", None),
        ("new", "blocked", "blocked_robots", None),
    ):
        error = "connect_error" if outcome == "failed" else "robots_denied"
        await world.close(
            f"http://shop.example/{name}", outcome, code, error_code=error, error_message="no", blame="nobody"
        )
        await world.conn.execute(
            "UPDATE pages SET status = $2::text::page_status WHERE url LIKE '%' || $1", name, status
        )
        await world.conn.execute(
            "INSERT INTO run_outcomes VALUES ($1, $2::text::task_outcome, $3, 1, 100, 0)", world.run, outcome, error
        )
    await world.conn.execute("UPDATE pages SET fetched_at = now() - interval '1 hour' WHERE status = 'fetched'")
    await world.conn.execute("UPDATE domains SET frontier_size = 0, ready_at = NULL WHERE name = $1", SHOP)


async def stand(world: Any, status: str) -> None:
    """The shop, moved to a state by its allowed moves."""
    code = "x" if status in {"blocked", "unreachable"} else None
    if status == "exhausted":
        await finish(world)
    if status == "pending":
        await stand(world, "blocked")
    await world.conn.execute(
        "UPDATE domains SET status = $2::text::domain_status, block_reason_code = $3, block_reason = $3,"
        " next_crawl_after = now() + interval '3 days', blocked_returns = 2, consecutive_error_count = 4,"
        " error_streak_code = 'forbidden' WHERE name = $1 AND status <> $2::text::domain_status",
        SHOP,
        status,
        code,
    )


async def lease(world: Any) -> None:
    """The shop is worked on, and its waiting page is under way, for a run with a limit."""
    await world.conn.execute("UPDATE runs SET max_pages = 10, pages_claimed = 4")
    await world.conn.execute("UPDATE domains SET run_pages = 4 WHERE name = $1", SHOP)
    await world.conn.execute(
        "UPDATE domains SET claimed_by = $1, claim_expires_at = now() + interval '1 hour', version = version + 1"
        " WHERE name = $2",
        world.worker,
        SHOP,
    )
    await world.conn.execute(
        "UPDATE crawl_tasks SET locked_by = $1, locked_at = now(), status = 'crawling' WHERE outcome IS NULL",
        world.worker,
    )


# Reset --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", STATES)
async def test_a_reset_forgets_what_held_a_domain_back(sound: Any, status: str) -> None:
    await stand(sound, status)
    done = await do(sound, domain_admin.reset, "www.shop.example", **BY)
    row = await domain(sound)
    assert (done.was, done.status, row["status"]) == (
        status,
        row["status"],
        "active" if status == "active" else "pending",
    )
    assert (row["next_crawl_after"], row["block_reason_code"], row["error_streak_code"]) == (None, None, None)
    assert (row["consecutive_error_count"], row["blocked_returns"], row["is_due"]) == (0, 0, True)
    assert (await history(sound))[-1] == (status, row["status"], "manual review", "cli:ann")


async def test_an_exhausted_domain_is_crawled_again(sound: Any) -> None:
    await stand(sound, "exhausted")
    done = await do(sound, domain_admin.reset, SHOP, **BY)
    assert (done.reopened, done.revisited) == (2, 2)
    assert set(await open_tasks(sound)) == {"", "about", "later", "new"}
    assert (await domain(sound))["frontier_size"] == 2


async def test_what_is_gone_stays_gone_unless_asked_for(sound: Any) -> None:
    await stand(sound, "exhausted")
    done = await do(sound, domain_admin.reset, SHOP, also_gone=True, **BY)
    assert done.reopened == 3
    assert "gone" in await open_tasks(sound)


async def test_a_planned_visit_comes_now_and_only_once(sound: Any) -> None:
    await stand(sound, "exhausted")
    await do(sound, domain_admin.configure, SHOP, {"revisit_every": 30 * DAY_S}, **RESTS)
    assert (await do(sound, domain_admin.reset, SHOP, **BY)).revisited == 2
    now = await sound.conn.fetchval("SELECT now()")
    assert all(task["scheduled_for"] <= now for task in (await open_tasks(sound)).values())


async def test_a_reset_again_changes_no_counter(sound: Any) -> None:
    await stand(sound, "exhausted")
    await do(sound, domain_admin.reset, SHOP, **BY)
    before = await domain(sound)
    done = await do(sound, domain_admin.reset, SHOP, **BY)
    assert (done.was, done.reopened, done.revisited) == ("pending", 0, 0)
    assert (await domain(sound))["frontier_size"] == before["frontier_size"]


async def test_retries_of_a_blocked_domain_come_now(sound: Any) -> None:
    await stand(sound, "blocked")
    await sound.conn.execute("UPDATE crawl_tasks SET scheduled_for = now() + interval '1 day' WHERE outcome IS NULL")
    await do(sound, domain_admin.reset, SHOP, **BY)
    assert (await open_tasks(sound))["later"]["scheduled_for"] <= await sound.conn.fetchval("SELECT now()")


async def test_a_domain_of_which_nothing_waits_is_crawled_again(sound: Any) -> None:
    """As one that was exhausted before somebody blocked it."""
    await stand(sound, "exhausted")
    await sound.conn.execute("UPDATE pages SET status = 'gone' WHERE status IN ('failed', 'blocked')")
    await sound.damage(NOT_FOUND)
    await do(sound, domain_admin.block, SHOP, **BY)
    assert (await do(sound, domain_admin.reset, SHOP, **BY)).revisited == 2
    assert set(await open_tasks(sound)) == {"", "about"}


async def test_a_blocked_domain_that_gave_nothing_is_asked_for_its_home(sound: Any) -> None:
    home = await sound.add_domain("gone.example", status="blocked", block_reason_code="x", pages_discovered=1)
    await sound.add_page("http://gone.example/", status="gone", depth=0)
    await sound.close("http://gone.example/", "blocked_4xx", 404, error_code="http_status", blame="nobody")
    await sound.conn.execute("UPDATE run_outcomes SET pages = 2 WHERE outcome = 'blocked_4xx'")
    done = await do(sound, domain_admin.reset, "gone.example", **BY)
    assert (done.reopened, done.revisited) == (1, 0)
    assert await sound.conn.fetchval("SELECT frontier_size FROM domains WHERE id = $1", home) == 1


async def test_the_holder_of_a_lease_goes_on(sound: Any) -> None:
    await lease(sound)
    before = await domain(sound)
    await do(sound, domain_admin.reset, SHOP, **BY)
    after = await domain(sound)
    assert (after["claimed_by"], after["version"]) == (sound.worker, before["version"])


OPEN_BREAKER = """
    UPDATE domains SET breaker_state = 'open', breaker_failures = 5, breaker_opened_at = now() - interval '10 s',
                       next_allowed_at = now() + interval '50 s', next_crawl_after = now() + $1, pace_extra_s = 3,
                       consecutive_error_count = 2, error_streak_code = 'server_error'
    WHERE name = 'shop.example'"""


async def test_a_reset_closes_the_breaker_and_forgets_that_the_server_was_slow(sound: Any) -> None:
    await sound.conn.execute(OPEN_BREAKER, timedelta(seconds=50))
    await do(sound, domain_admin.reset, SHOP, **BY)
    row = await domain(sound)
    assert (row["breaker_state"], row["breaker_failures"], row["breaker_opened_at"]) == ("closed", 0, None)
    assert (row["pace_extra_s"], row["next_crawl_after"]) == (0.0, None)


@pytest.mark.parametrize(("rest_s", "ends"), [(50, True), (3600, False)])
async def test_only_the_breaker_is_closed_and_only_its_own_rest_ends(sound: Any, rest_s: int, ends: bool) -> None:
    """Another rest, such as a Retry-After, is not its to end."""
    await sound.conn.execute(OPEN_BREAKER, timedelta(seconds=rest_s))
    done = await do(sound, domain_admin.reset_breaker, SHOP, rest_s=60.0, **BY)
    assert (done.name, done.was, done.is_leased) == (SHOP, "open", False)
    row = await domain(sound)
    assert (row["breaker_state"], row["breaker_failures"], row["breaker_opened_at"]) == ("closed", 0, None)
    assert (row["next_crawl_after"] is None) is ends
    assert row["next_allowed_at"] < datetime.now(UTC) + timedelta(seconds=10)
    assert (row["consecutive_error_count"], row["pace_extra_s"]) == (2, 3.0)
    assert (await history(sound))[-1][2:] == ("manual review", "cli:ann")


async def test_a_switched_off_domain_stays_off(sound: Any) -> None:
    await do(sound, domain_admin.switch, SHOP, False, **BY)
    assert not (await do(sound, domain_admin.reset, SHOP, **BY)).is_active
    assert not (await domain(sound))["is_active"]


# Pause and resume ---------------------------------------------------------------------------------------------------


async def test_the_switch_is_turned_and_remembered(sound: Any) -> None:
    await lease(sound)
    paused = await do(sound, domain_admin.switch, SHOP, False, by="cli:ann", reason="their sale")
    assert (paused.was_turned, paused.is_leased) == (True, True)
    row = await domain(sound)
    assert (row["is_active"], row["status"], row["claimed_by"]) == (False, "active", sound.worker)
    assert not (await do(sound, domain_admin.switch, SHOP, False, **BY)).was_turned
    assert (await do(sound, domain_admin.switch, SHOP, True, **BY)).was_turned
    assert await history(sound) == [
        ("active", "active", "their sale", "cli:ann"),
        ("active", "active", "manual review", "cli:ann"),
    ]


# Block --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", STATES)
async def test_a_block_without_an_end_is_an_operators_to_lift(sound: Any, status: str) -> None:
    await stand(sound, status)
    moves = len(await history(sound))
    done = await do(sound, domain_admin.block, SHOP, by="cli:ann", reason="asked by its owner")
    row = await domain(sound)
    assert (done.was, row["status"], row["next_crawl_after"]) == (status, "blocked", None)
    assert (row["block_reason_code"], row["block_reason"]) == ("operator", "asked by its owner")
    assert row["first_blocked_at"] is not None
    path = [entry[:2] for entry in (await history(sound))[moves:]]
    by_pending = [(status, "pending"), ("pending", "blocked")]
    assert path == (by_pending if status in {"exhausted", "unreachable"} else [(status, "blocked")])


async def test_a_domain_is_blocked_before_its_first_visit(sound: Any) -> None:
    done = await do(sound, domain_admin.block, "https://www.Spam.example/shop", **BY)
    row = await domain(sound, "spam.example")
    assert (done.name, done.was_known, row["status"], row["block_reason"]) == (
        "spam.example",
        False,
        "blocked",
        "manual review",
    )
    assert (await do(sound, domain_admin.block, "spam.example", **BY)).was_known
    with pytest.raises(NotFoundError):
        await do(sound, domain_admin.block, "shpo", **BY)


async def test_a_block_may_end_by_itself(sound: Any) -> None:
    await do(sound, domain_admin.block, SHOP, rest_s=30 * DAY_S, **BY)
    assert await sound.conn.fetchval(
        "SELECT next_crawl_after - now() BETWEEN interval '29 days' AND '30 days' FROM domains WHERE name = $1",
        SHOP,
    )


async def test_a_block_ends_the_lease_and_refuses_its_late_results(sound: Any) -> None:
    await lease(sound)
    before = await domain(sound)
    done = await do(sound, domain_admin.block, SHOP, hush_s=120.0, **BY)
    after = await domain(sound)
    assert done.was_leased
    assert (after["claimed_by"], after["claim_expires_at"], after["version"]) == (None, None, before["version"] + 1)
    assert (after["run_pages"], await sound.conn.fetchval("SELECT pages_claimed FROM runs")) == (3, 3)
    assert await sound.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE locked_by IS NOT NULL") == 0
    assert after["next_allowed_at"] - datetime.now(UTC) > timedelta(seconds=100)


async def test_a_blocked_domain_can_be_reset_and_goes_on(sound: Any) -> None:
    await do(sound, domain_admin.block, SHOP, **BY)
    await do(sound, domain_admin.reset, SHOP, **BY)
    leased = await claim.claim_domains(
        sound.conn, worker=sound.worker, run=sound.run, limit=9, lease_s=60, workers=1, max_pages_per_domain=None
    )
    assert [held.domain for held in leased] == [SHOP]


# Set ----------------------------------------------------------------------------------------------------------------


async def test_what_is_named_changes_and_the_rest_stays(sound: Any) -> None:
    changes = {"delay": 2.5, "concurrency": 2, "max_pages": 100, "revisits_per_day": 500.0}
    await do(sound, domain_admin.configure, SHOP, changes, **RESTS)
    await do(sound, domain_admin.configure, SHOP, {"delay": None, "adaptive": True}, **RESTS)
    row = await domain(sound)
    assert (row["crawl_delay_s"], row["max_concurrent_requests"], row["max_pages_per_run"]) == (None, 2, 100)
    assert (row["revisits_per_day"], row["is_adaptive"], row["pages_crawled"]) == (500.0, True, 2)
    assert [entry[2] for entry in await history(sound)] == [
        "delay 2.5s, concurrency 2, max_pages 100, revisits_per_day 500",
        "adaptive on, delay default",
    ]


async def test_images_nobody_looked_for_bring_pages_whole(sound: Any) -> None:
    """A page that has not changed would never be read for them."""
    known = "SELECT count(etag) + count(last_modified) FROM pages JOIN domains d ON d.id = domain_id WHERE d.name = $1"
    await sound.conn.execute("UPDATE pages SET etag = '1', last_modified = 'then'")
    await do(sound, domain_admin.configure, SHOP, {"images": "found"}, **RESTS)
    await do(sound, domain_admin.configure, SHOP, {"images": "none", "delay": 1}, **RESTS)
    await do(sound, domain_admin.configure, SHOP, {"delay": 2}, **RESTS)
    assert await sound.conn.fetchval(known, SHOP) > 0
    await do(sound, domain_admin.configure, SHOP, {"images": None}, **RESTS)
    assert await sound.conn.fetchval(known, SHOP) == 0


async def test_a_window_and_its_end(sound: Any) -> None:
    await do(sound, domain_admin.configure, SHOP, {"window": "22:00-06:00"}, **RESTS)
    row = await domain(sound)
    assert (f"{row['maintenance_start']:%H:%M}", f"{row['maintenance_end']:%H:%M}") == ("22:00", "06:00")
    await do(sound, domain_admin.configure, SHOP, {"window": None}, **RESTS)
    assert (await domain(sound))["maintenance_start"] is None


async def test_a_price_is_forgotten_with_the_budget_it_was_made_for(sound: Any) -> None:
    await do(sound, domain_admin.configure, SHOP, {"adaptive": True, "revisits_per_day": 500.0}, **RESTS)
    await sound.conn.execute("UPDATE domains SET revisit_price = 7 WHERE name = $1", SHOP)
    await do(sound, domain_admin.configure, SHOP, {"delay": 1.0}, **RESTS)
    assert (await domain(sound))["revisit_price"] == 7
    await do(sound, domain_admin.configure, SHOP, {"revisits_per_day": 50.0}, **RESTS)
    assert (await domain(sound))["revisit_price"] is None


async def test_a_frequency_plans_the_next_visit_of_every_page_that_was_read(sound: Any) -> None:
    await stand(sound, "exhausted")
    done = await do(sound, domain_admin.configure, SHOP, {"revisit_every": 2 * 3600.0}, **RESTS)
    assert (done.planned, done.dropped) == (2, 0)
    planned = await open_tasks(sound)
    fetched = await sound.conn.fetchval("SELECT fetched_at FROM pages WHERE is_seed")
    assert {name: task["scheduled_for"] - fetched for name, task in planned.items()} == dict.fromkeys(
        ("", "about"), timedelta(hours=2)
    )
    row = await domain(sound)
    assert (row["status"], row["frontier_size"]) == ("exhausted", 0)
    assert row["next_crawl_after"] == planned[""]["scheduled_for"]


async def test_another_frequency_moves_what_was_planned_and_never_forgets_it(sound: Any) -> None:
    await stand(sound, "exhausted")
    await do(sound, domain_admin.configure, SHOP, {"revisit_every": 90 * DAY_S}, **RESTS)
    last = (await domain(sound))["last_crawled_at"]
    await do(sound, domain_admin.configure, SHOP, {"revisit_every": 7200.0}, **RESTS)
    assert len(await open_tasks(sound)) == 2
    assert (await domain(sound))["next_crawl_after"] == (await open_tasks(sound))[""]["scheduled_for"]
    done = await do(sound, domain_admin.configure, SHOP, {"revisit_every": None}, **RESTS)
    assert (done.planned, done.dropped, await open_tasks(sound)) == (0, 2, {})
    rest = (await domain(sound))["next_crawl_after"] - (last or await sound.conn.fetchval("SELECT now()"))
    assert abs(rest - timedelta(days=14)) < timedelta(minutes=1)


async def test_what_is_due_is_not_put_off(sound: Any) -> None:
    await stand(sound, "exhausted")
    await do(sound, domain_admin.reset, SHOP, **BY)
    await do(sound, domain_admin.configure, SHOP, {"revisit_every": 90 * DAY_S}, **RESTS)
    await do(sound, domain_admin.configure, SHOP, {"revisit_every": None}, **RESTS)
    now = await sound.conn.fetchval("SELECT now()")
    tasks = await open_tasks(sound)
    assert len(tasks) == 4
    assert all(task["scheduled_for"] <= now for task in tasks.values())


async def test_an_adaptive_domain_keeps_what_it_planned(sound: Any) -> None:
    await stand(sound, "exhausted")
    await do(sound, domain_admin.configure, SHOP, {"adaptive": True}, **RESTS)
    await sound.conn.execute(
        "UPDATE crawl_tasks SET scheduled_for = now() + interval '50 days' WHERE outcome IS NULL AND page_id = $1",
        sound.pages["http://shop.example/about"],
    )
    before = (await open_tasks(sound))["about"]["scheduled_for"]
    await do(sound, domain_admin.configure, SHOP, {"revisit_every": 7200.0}, **RESTS)
    assert (await open_tasks(sound))["about"]["scheduled_for"] == before


async def test_a_refresh_of_its_own(sound: Any) -> None:
    await stand(sound, "exhausted")
    await do(sound, domain_admin.configure, SHOP, {"refresh_every": DAY_S}, **RESTS)
    row = await domain(sound)
    since = row["last_crawled_at"] or await sound.conn.fetchval("SELECT now()")
    assert abs(row["next_crawl_after"] - since - timedelta(days=1)) < timedelta(minutes=1)


async def test_one_page_more_often_than_its_domain(sound: Any) -> None:
    await stand(sound, "exhausted")
    await do(sound, domain_admin.configure, SHOP, {"revisit_every": 30 * DAY_S}, **RESTS)
    done = await do(sound, page_service.set_page_frequency, "http://SHOP.example/about#top", 7200.0, **AGAIN)
    assert (done.name, done.planned) == ("http://shop.example/about", 1)
    tasks = await open_tasks(sound)
    assert tasks[""]["scheduled_for"] - tasks["about"]["scheduled_for"] == timedelta(days=30, hours=-2)
    assert (await domain(sound))["next_crawl_after"] == tasks["about"]["scheduled_for"]
    await do(sound, page_service.set_page_frequency, "http://shop.example/about", None, **AGAIN)
    assert len({task["scheduled_for"] for task in (await open_tasks(sound)).values()}) == 1


async def test_one_page_of_a_domain_that_is_visited_once(sound: Any) -> None:
    await stand(sound, "exhausted")
    await do(sound, page_service.set_page_frequency, "http://shop.example/about", 7200.0, **AGAIN)
    assert set(await open_tasks(sound)) == {"about"}
    done = await do(sound, page_service.set_page_frequency, "http://shop.example/about", None, **AGAIN)
    assert (done.dropped, await open_tasks(sound)) == (1, {})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "Nothing to set"),
        ({"delay": -1.0}, "greater than or equal to 0"),
        ({"delay": float("nan")}, "finite"),
        ({"concurrency": 0}, "greater than or equal to 1"),
        ({"concurrency": 1.5}, "valid integer"),
        ({"revisit_every": 0.0}, "greater than"),
        ({"window": "22:00"}, "is no window"),
        ({"window": "22:00-22:00"}, "never"),
        ({"content": "forever"}, "'signals', 'text', 'snapshot' or 'archive'"),
        ({"parser": "ebay"}, "There is no parser 'ebay'"),
        ({"status": "active"}, "There is no crawl setting 'status'"),
        ({"timezone": "Mars/Base"}, "is no time zone"),
        ({"headers": {"Host": "other.example"}}, "cannot be set"),
    ],
)
async def test_bad_values_change_nothing(sound: Any, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        await do(sound, domain_admin.configure, SHOP, changes, **RESTS)
    assert await history(sound) == []


async def test_what_is_not_there(sound: Any) -> None:
    with pytest.raises(NotFoundError, match=r"Did you mean shop.example\?"):
        await do(sound, domain_admin.reset, "shop.exmaple", **BY)
    with pytest.raises(NotFoundError, match=r"There is no page http://shop\.example/nope"):
        await do(sound, page_service.set_page_frequency, "http://shop.example/nope", 60.0, **AGAIN)


# The one door for a move --------------------------------------------------------------------------------------------


async def test_a_move_is_applied_once(sound: Any) -> None:
    version = (await domain(sound))["version"]
    assert await do(sound, move, SHOP, DomainStatus.BLOCKED, expected_version=version, **BY)
    assert not await do(sound, move, SHOP, DomainStatus.PENDING, expected_version=version, **BY)
    assert not await do(sound, move, SHOP, DomainStatus.BLOCKED, **BY)
    assert not await do(sound, move, "nowhere.example", DomainStatus.BLOCKED, **BY)
    assert await history(sound) == [("active", "blocked", "manual review", "cli:ann")]


async def test_a_forbidden_move_is_refused_in_words(sound: Any) -> None:
    with pytest.raises(
        UsageError, match=r"idle\.example is pending and cannot become exhausted; it may become active, "
    ):
        await do(sound, move, "idle.example", DomainStatus.EXHAUSTED, **BY)
    with pytest.raises(UsageError, match="2 of its pages still wait"):
        await do(sound, move, SHOP, DomainStatus.EXHAUSTED, **BY)


async def test_two_operators_at_once(sound: Any, pool: asyncpg.Pool) -> None:
    """The second waits for the first, and finds the domain as the first left it."""
    import asyncio

    async def once(verb: Any) -> Any:
        async with pool.acquire() as conn, conn.transaction():
            return await verb(conn, SHOP, **BY)

    await asyncio.gather(*[once(verb) for verb in (domain_admin.block, domain_admin.reset) * 5])
    assert len(await history(sound)) == 10
