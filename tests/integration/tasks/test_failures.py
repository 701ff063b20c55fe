"""What goes wrong, by problem; and another try for what failed for good."""

from datetime import timedelta
from typing import Any

import pytest
from tests.integration.scheduler.stage import a_context

from forager.engine.retry_policy import is_retryable
from forager.errors import ErrorSource, NotFoundError, StatusError, UsageError, VisitError
from forager.explain.check import check
from forager.stats.jobs.errors import ErrorsJob
from forager.tasks import failures as errors
from forager.tasks import service as tasks
from forager.tasks.failures import Category

STACK = """Traceback (most recent call last):
  File "/app/forager/crawl/line.py", line {line}, in visit
    reading = await read()
  File "/app/forager/extract/page.py", line 12, in read
    return facts[{key!r}]
KeyError: {key!r}
"""


async def fail(
    world: Any, url: str, message: str, *, code: str = "connect_error", blame: str = "network", **more: Any
) -> int:
    """A page of the shop that failed, for good."""
    if url not in world.pages:
        await world.add_page(url, status="failed")
        await world.conn.execute(
            "UPDATE domains SET pages_discovered = pages_discovered + 1 WHERE name = 'shop.example'"
        )
    task: int = await world.close(url, "failed", None, error_code=code, error_message=message, blame=blame, **more)
    if blame in {"site", "network"}:
        await world.conn.execute(
            "UPDATE domains SET total_error_count = total_error_count + 1 WHERE name = 'shop.example'"
        )
    return task


async def break_down(world: Any, url: str, key: str, line: int = 50) -> int:
    task = await fail(world, url, f"KeyError: {key!r}", code="broken", blame="us")
    await world.conn.execute(
        "INSERT INTO errors (task_id, code, message, stack) VALUES ($1, 'broken', 'x', $2)",
        task,
        STACK.format(line=line, key=key),
    )
    return task


async def find(world: Any, code: str) -> list[errors.Pattern]:
    return [each for each in await errors.patterns(world.conn) if each.code == code]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("nobody answers at a.example:80", "nobody answers at www.b-c.example:8080"),
        ("https://a.example/x?y=1 did not answer", "http://b.example did not answer"),
        ("more than 5 redirects", "more than 20 redirects"),
        ("'abc' is no date", "'' is no date"),
        ("object at 0x7f00deadbeef", "object at 0x7fffffffffff"),
        ("robots.txt line 3 says '/a'", "robots.txt line 14 says '/b c'"),
        ("10.0.0.1 refused", "127.0.0.1 refused"),
    ],
)
async def test_messages_of_one_problem_have_one_shape(conn: Any, one: str, other: str) -> None:
    shapes = [await conn.fetchval("SELECT error_shape($1)", message) for message in (one, other)]
    assert shapes[0] == shapes[1] != ""


async def test_different_problems_stay_apart(conn: Any) -> None:
    messages = [
        "nobody answers at a.example",
        "a.example hung up",
        "robots.txt line 3 says 'x'",
        "",
        "the answer broke off",
    ]
    shapes = {await conn.fetchval("SELECT error_shape($1)", message) for message in messages}
    assert len(shapes) == len(messages)


@pytest.mark.parametrize(
    "message", ["x" * 100_000, "a.b." * 20_000, "'" * 999, "\\", "ﬁ\u202e\U0001f600 %s", "1" * 5000]
)
async def test_a_message_from_the_web_is_shaped_quickly_whatever_it_is(conn: Any, message: str) -> None:
    shape = await conn.fetchval("SELECT error_shape($1)", message, timeout=2)
    assert len(shape) <= 300


async def test_failures_of_one_kind_are_one_line(world: Any) -> None:
    for number in range(5):
        await fail(world, f"http://shop.example/{number}", f"nobody answers at h{number}.example:80")
    [pattern] = await find(world, "connect_error")
    assert (pattern.failures, pattern.domains, pattern.category) == (5, 1, Category.NETWORK)
    assert pattern.sample == "nobody answers at h4.example:80"
    assert pattern.shape == "nobody answers at …"
    assert pattern.first_at <= pattern.last_at


async def test_status_codes_are_problems_of_their_own(world: Any) -> None:
    await fail(world, "http://shop.example/1", "the server answered 503", code="http_status", blame="site")
    assert {each.shape for each in await find(world, "http_status")} == {
        "the server answered 404",
        "the server answered 503",
    }


async def test_a_bug_is_told_by_its_place_whatever_it_says_and_wherever_the_lines_are(world: Any) -> None:
    await break_down(world, "http://shop.example/1", "price")
    await break_down(world, "http://shop.example/2", "name", line=51)
    [pattern] = await find(world, "broken")
    assert (pattern.failures, pattern.category) == (2, Category.US)
    assert pattern.shape == "KeyError at page.py:read < line.py:visit"
    shown = await errors.describe(world.conn, pattern.fingerprint[:5])
    assert shown["stack"].startswith("Traceback")
    assert shown["sample_url"] == "http://shop.example/2"
    assert [(row["domain"], row["failures"]) for row in shown["domains"]] == [("shop.example", 2)]


async def test_products_that_break_a_rule_are_failures_of_validation(world: Any) -> None:
    await world.conn.execute(
        "INSERT INTO products (domain_id, page_id, url, url_hash, product_name, content_hash, parser_name,"
        " parser_version, confidence, problems, is_valid, created_at, updated_at, last_seen_at)"
        " VALUES ($1, $2, '', $3, 'x', '', 'auto', 1, 1, '{no_price,bad_currency}', false, now(), now(), now())",
        *(world.domains["shop.example"], world.pages["http://shop.example/"], bytes(16)),
    )
    found = await errors.patterns(world.conn, category="validation")
    assert {each.shape for each in found} == {"no_price", "bad_currency"}
    assert (await errors.count_categories(world.conn))["validation"] == 2


async def test_what_somebody_called_off_did_not_fail(world: Any) -> None:
    task = await world.conn.fetchval("SELECT id FROM crawl_tasks WHERE outcome IS NULL")
    async with world.conn.transaction():
        await tasks.cancel(world.conn, task, by="cli:ann", reason="not wanted")
    assert await world.conn.fetchval("SELECT error_code FROM crawl_tasks WHERE id = $1", task) == "cancelled"
    assert await find(world, "cancelled") == []
    await ErrorsJob().run(a_context(world.conn))
    assert await world.conn.fetchval("SELECT count(*) FROM error_days WHERE code = 'cancelled'") == 0


async def test_only_some_categories_and_only_some_time(world: Any) -> None:
    await fail(world, "http://shop.example/1", "x", code="decode_error", blame="site")
    assert [each.code for each in await errors.patterns(world.conn, category="parse")] == ["decode_error"]
    await world.damage(
        "UPDATE crawl_tasks SET completed_at = now() - interval '2 days' WHERE error_code = 'decode_error'"
    )
    assert await errors.patterns(world.conn, category="parse") == []
    assert len(await errors.patterns(world.conn, category="parse", since=timedelta(days=3))) == 1
    with pytest.raises(UsageError, match="There is no category"):
        await errors.patterns(world.conn, category="weather")


async def test_a_problem_has_days_also_when_the_history_has_moved_away(world: Any) -> None:
    await break_down(world, "http://shop.example/1", "price")
    [pattern] = await find(world, "broken")
    assert await ErrorsJob().run(a_context(world.conn)) == "2 rows written"
    assert await ErrorsJob().run(a_context(world.conn)) == "0 rows written"
    await world.conn.execute("UPDATE error_days SET day = day - 40, first_at = first_at - interval '40 days'")
    [again] = await find(world, "broken")
    assert (pattern.first_at - again.first_at).days == 40
    await world.damage("DELETE FROM crawl_tasks WHERE error_code = 'broken'")
    shown = await errors.describe(world.conn, pattern.fingerprint)
    assert shown["pattern"].failures == 1
    assert [row["failures"] for row in shown["days"]] == [1]


async def test_a_fingerprint_nobody_knows(world: Any) -> None:
    with pytest.raises(NotFoundError, match="No failure has the fingerprint 'abcdef'"):
        await errors.find(world.conn, "abcdef")
    with pytest.raises(UsageError, match="at least 4 characters"):
        await errors.find(world.conn, "ab")
    with pytest.raises(NotFoundError):
        await errors.find(world.conn, "%%%%")


# For good ------------------------------------------------------------------------------------------------------------


async def open_tasks(world: Any) -> set[str]:
    rows = await world.conn.fetch(
        "SELECT p.url FROM crawl_tasks t JOIN pages p ON p.id = t.page_id WHERE t.outcome IS NULL"
    )
    return {row["url"] for row in rows}


async def broken_promises(world: Any) -> set[str]:
    return {finding.name for verdict in await check(world.conn) for finding in verdict.findings if finding.broken}


async def test_dead_letters_are_what_died_by_our_fault_or_after_all_retries(world: Any) -> None:
    """A definite answer is a result, not a dead letter; nor is what has a later task."""
    ended = {
        "connect": ("failed", None, "connect_error", "network"),
        "hung": ("timeout", None, "timeout", "network"),
        "robots-away": ("failed", None, "robots_unreachable", "site"),
        "500": ("blocked_5xx", 500, "http_status", "site"),
        "429": ("blocked_4xx", 429, "http_status", "site"),
        "404": ("blocked_4xx", 404, "http_status", "site"),
        "403": ("blocked_4xx", 403, "http_status", "site"),
        "robots": ("blocked_robots", None, "robots_denied", "nobody"),
        "tls": ("failed", None, "tls_error", "site"),
        "again": ("timeout", None, "timeout", "network"),
    }
    for name, (outcome, status_code, code, blame) in ended.items():
        await world.add_page(f"http://shop.example/x/{name}", status="failed")
        await world.close(f"http://shop.example/x/{name}", outcome, status_code, error_code=code, blame=blame)
    await world.add_task("http://shop.example/x/again")
    await break_down(world, "http://shop.example/x/ours", "price")

    async def dead(category: str | None = None) -> set[str]:
        found = await errors.list_dead(world.conn, category=category)
        assert found["webhooks"] == []
        return {row["url"].rpartition("/")[2] for row in found["tasks"]}

    assert await dead() == {"connect", "hung", "robots-away", "500", "429", "ours"}
    assert await dead("network") == {"connect", "hung"}
    assert await dead("site") == {"robots-away", "500", "429"}
    assert await dead("us") == {"ours"}
    assert await dead("validation") == set()
    everything = [row["task_id"] for row in (await errors.list_dead(world.conn))["tasks"]]
    assert everything == sorted(everything, reverse=True)
    first = await errors.list_dead(world.conn, limit=2)
    rest = await errors.list_dead(world.conn, before=(first["tasks"][-1]["task_id"], None))
    assert [row["task_id"] for row in first["tasks"] + rest["tasks"]] == everything
    async with world.conn.transaction():
        done = await errors.redrive(world.conn, by="ada", category="network")
    assert len(done.tasks) == 2
    assert await dead() == {"robots-away", "500", "429", "ours"}


def test_codes_that_may_pass_are_those_of_errors_that_are_retried() -> None:
    retried = {
        error.code
        for error in all_errors(VisitError)
        if error.may_retry and error.blame is not ErrorSource.US and not issubclass(error, StatusError)
    }
    assert retried == set(errors.MAY_PASS)
    assert {code for code in range(400, 500) if is_retryable(StatusError(code))} == {408, 425, 429}, "as in dead_tasks"


def all_errors(kind: type[VisitError]) -> set[type[VisitError]]:
    return {kind}.union(*(all_errors(each) for each in kind.__subclasses__()))


async def test_dead_letters_are_tried_again_once(world: Any) -> None:
    await break_down(world, "http://shop.example/1", "price")
    await break_down(world, "http://shop.example/2", "price")
    before = await broken_promises(world)
    dry = await errors.redrive(world.conn, by="ada", dry_run=True)
    assert len(dry.tasks) == 2
    assert await open_tasks(world) == {"http://shop.example/later"}
    async with world.conn.transaction():
        done = await errors.redrive(world.conn, by="ada")
    assert len(done.tasks) == 2
    assert await open_tasks(world) >= {"http://shop.example/1", "http://shop.example/2"}
    assert (await errors.list_dead(world.conn))["tasks"] == []
    async with world.conn.transaction():
        assert (await errors.redrive(world.conn, by="ada")).tasks == []
    assert await broken_promises(world) == before


async def test_webhooks_that_were_given_up_are_dead_letters_too(world: Any) -> None:
    await world.conn.execute(
        "INSERT INTO webhook_calls (kind, payload, url, next_try_at, died_at)"
        " VALUES ('alert', '{}', 'http://x', NULL, now())"
    )
    assert len((await errors.list_dead(world.conn))["webhooks"]) == 1
    assert (await errors.redrive(world.conn, by="ada", dry_run=True)).webhooks == 1
    assert (await errors.redrive(world.conn, by="ada")).webhooks == 1
    assert (await errors.list_dead(world.conn))["webhooks"] == []


async def test_one_problem_is_tried_again_whoever_is_to_blame(world: Any) -> None:
    await fail(world, "http://shop.example/a", "nobody answers at x.example")
    await fail(world, "http://shop.example/b", "it hung up")
    [wanted] = [each for each in await find(world, "connect_error") if "hung" in each.shape]
    async with world.conn.transaction():
        done = await errors.redrive(world.conn, by="ada", fingerprint=wanted.fingerprint[:6])
    assert len(done.tasks) == 1
    assert "http://shop.example/b" in await open_tasks(world)
    assert "http://shop.example/a" not in await open_tasks(world)


async def test_what_a_robots_txt_forbids_is_no_failure_and_is_listed_where_it_is_asked_for(world: Any) -> None:
    await fail(world, "http://shop.example/cart", "robots.txt line 2 says 'Disallow: /cart'", code="robots_denied")
    assert not await find(world, "robots_denied")
    [forbidden] = await errors.patterns(world.conn, category="robots")
    assert forbidden.category is Category.ROBOTS
    assert (await errors.find(world.conn, forbidden.fingerprint)).code == "robots_denied"
    counts = await errors.count_categories(world.conn)
    assert counts["robots"] > 0
