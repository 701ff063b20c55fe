"""What `why` says of domains and pages in every state a person may find them in, and when it says they are fetched."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.integration.explain.fetch_policies import MANNERS
from tests.integration.world import SEED, World

from forager import clock
from forager.errors import UsageError
from forager.explain.commands.why import build_message
from forager.explain.conditions import Gate
from forager.explain.why import ExplainResult, explain
from forager.politeness.guard import AddressGuard
from forager.tasks import service as tasks
from forager.tasks import submit
from forager.tasks.submit import TaskOrder

SHOP = "shop.example"
ROBOTS = "# hello\nUser-agent: *\nDisallow: /about\nCrawl-delay: 7\n"


class Questions:
    """Asks, after the world was changed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.conn = world.conn

    async def ask(self, text: str, **manners: Any) -> ExplainResult:
        async with self.conn.transaction(isolation="repeatable_read", readonly=True):
            return await explain(self.conn, text, replace(MANNERS, **manners))

    async def gates(self, text: str, **manners: Any) -> dict[str, Gate]:
        """Of the page where one was asked for, else of the domain."""
        answer = await self.ask(text, **manners)
        return {gate.name: gate for gate in answer.page_checks or answer.domain_checks}

    async def say(self, text: str) -> str:
        return build_message(await self.ask(text))

    async def change(self, sql: str, *values: Any) -> None:
        await self.conn.execute(sql, *values)

    async def set_domain(self, **columns: Any) -> None:
        for name, value in columns.items():
            await self.conn.execute(f"UPDATE domains SET {name} = $1 WHERE name = '{SHOP}'", value)

    async def lease(self, **worker: Any) -> None:
        await self.conn.execute(
            "UPDATE domains SET claimed_by = $1, claim_expires_at = $2 WHERE name = $3",
            self.world.worker,
            soon(hours=1),
            SHOP,
        )
        for name, value in worker.items():
            await self.conn.execute(f"UPDATE workers SET {name} = $1", value)

    async def robots(self, text: str | None, *, expires: datetime | None = None, error: str | None = None) -> None:
        await self.conn.execute(
            "INSERT INTO origins VALUES ($1, 'http://shop.example', $2, 200, $3, now(), $4)",
            self.world.domains[SHOP],
            text,
            error,
            expires or soon(hours=1),
        )


def soon(**span: float) -> datetime:
    return clock.now() + timedelta(**span)


@pytest.fixture
def questions(world: World) -> Questions:
    return Questions(world)


def seconds_left(answer: ExplainResult) -> float:
    assert answer.outlook.at is not None
    return (answer.outlook.at - answer.asked_at).total_seconds()


# What was asked ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "domain", "url"),
    [
        ("shop.example", SHOP, None),
        ("WWW.Shop.Example", SHOP, None),
        ("https://www.shop.example/about#top", SHOP, "https://www.shop.example/about"),
        ("shop.example/about", SHOP, "http://shop.example/about"),
        ("shop.example/never-seen", SHOP, "https://shop.example/never-seen"),
        ("münchen.example", "xn--mnchen-3ya.example", None),
        ("127.0.0.1:8099", "127.0.0.1:8099", None),
        ("http://[::1]:8099/x", "[::1]:8099", "http://[::1]:8099/x"),
        ("shop.example:443", SHOP, None),
    ],
)
async def test_it_understands_what_is_meant(questions: Questions, text: str, domain: str, url: str | None) -> None:
    answer = await questions.ask(text)
    assert (answer.domain, answer.url) == (domain, url)
    assert build_message(answer).startswith("It ")


@pytest.mark.parametrize(
    "text", ["", "not a name", "http://", "mailto:me@shop.example", "ftp://shop.example/", "a\x00b"]
)
async def test_it_refuses_what_is_neither(questions: Questions, text: str) -> None:
    with pytest.raises(UsageError):
        await questions.ask(text)


# Domains -------------------------------------------------------------------------------------------------------------


async def test_a_domain_nobody_knows(questions: Questions) -> None:
    assert await questions.say("nowhere.example") == (
        "It will not be fetched: the domain is not known; to change that: `forager crawl https://nowhere.example/`."
    )


async def test_every_gate_is_told_in_order(questions: Questions) -> None:
    assert [gate.name for gate in (await questions.ask(SHOP)).domain_checks] == [
        *("known", "state", "cooldown", "switch", "window", "budget", "lease", "frontier"),
        *("run", "pace", "breaker", "streak", "priority"),
    ]


async def test_an_open_domain_is_next(questions: Questions) -> None:
    assert await questions.say(SHOP) == "It will be fetched in a moment: every gate is open."
    gates = await questions.gates(SHOP)
    assert gates["frontier"].sentence == "1 page never visited, 1 task due"
    assert gates["run"].sentence == f"run {questions.world.run} works on it with 1 worker"


async def test_a_leased_domain_is_fetched_now(questions: Questions) -> None:
    await questions.lease(host="here/boot", pid=77)
    worker = questions.world.worker
    assert await questions.say(SHOP) == f"It is being fetched now: worker {worker} (pid 77 on here) holds it."


async def test_the_lease_of_the_silent_is_taken_over(questions: Questions) -> None:
    await questions.lease(heartbeat_at=soon(seconds=-100))
    await questions.world.insert("workers", run_id=questions.world.run, host="here", pid=2, pid_started=1)
    answer = await questions.ask(SHOP, dead_after_s=120.0)
    assert answer.outlook.kind == "now"
    answer = await questions.ask(SHOP, dead_after_s=90.0)
    assert (answer.outlook.kind, "is gone" in answer.outlook.because) == ("at", True)


async def test_a_block_says_why_when_it_ends_and_how_to_lift_it(questions: Questions) -> None:
    await questions.change(
        "UPDATE domains SET status = 'blocked', block_reason_code = 'forbidden', block_reason = 'answered 403',"
        " next_crawl_after = $1 WHERE name = 'shop.example'",
        soon(days=14),
    )
    answer = await questions.ask(SHOP)
    assert seconds_left(answer) == pytest.approx(14 * 86400, abs=60)
    assert answer.outlook.because == "blocked (forbidden): answered 403, it rests"
    await questions.set_domain(next_crawl_after=None, blocked_returns=3)
    assert await questions.say(SHOP) == (
        "It will not be fetched: blocked (forbidden): answered 403, for good after 3 returns;"
        " to change that: `forager domain shop.example reset`."
    )


async def test_a_paused_domain_waits_for_its_operator(questions: Questions) -> None:
    await questions.set_domain(is_active=False)
    assert "to change that: `forager domain shop.example resume`" in await questions.say(SHOP)


async def test_a_rest_that_ends_in_a_maintenance_window_ends_with_the_window(questions: Questions) -> None:
    rest = soon(hours=2)
    await questions.set_domain(next_crawl_after=rest)
    await questions.change(
        "UPDATE domains SET maintenance_start = $1, maintenance_end = $2 WHERE name = 'shop.example'",
        (rest - timedelta(hours=1)).time(),
        (rest + timedelta(hours=1)).time(),
    )
    answer = await questions.ask(SHOP)
    assert seconds_left(answer) == pytest.approx(3 * 3600, abs=60)


async def test_a_maintenance_window_names_its_time_zone(questions: Questions) -> None:
    await questions.change(
        "UPDATE domains SET maintenance_start = '22:00', maintenance_end = '06:00', time_zone = 'Asia/Tokyo'"
        " WHERE name = 'shop.example'"
    )
    (window,) = (gate.sentence for gate in (await questions.ask("shop.example")).domain_checks if gate.name == "window")
    assert window.startswith("maintenance from 22:00 to 06:00 Asia/Tokyo, ")


@pytest.mark.parametrize("asked", ["gone.example", "https://gone.example/tea"])
async def test_a_domain_on_the_deny_list(questions: Questions, asked: str) -> None:
    await questions.change(
        "INSERT INTO denied_domains (name, reason, denied_by) VALUES ('gone.example', 'asked', 'me')"
    )
    said = await questions.say(asked)
    assert said.startswith("It will not be fetched: its domain is on the deny list since ")
    assert said.endswith(" (asked); to change that: `forager domains allow gone.example`.")


async def test_a_spent_budget_ends_with_its_run(questions: Questions) -> None:
    await questions.set_domain(max_pages_per_run=5, run_pages=5)
    run = questions.world.run
    said = await questions.say("http://shop.example/new")
    assert f"5 of 5 pages of run {run} taken; revisits are not counted" in said
    assert "to change that: `forager domain shop.example set --max-pages N`" in said


async def test_a_run_that_took_all_its_pages(questions: Questions) -> None:
    await questions.change("UPDATE runs SET max_pages = 3, pages_claimed = 3")
    assert f"run {questions.world.run} has taken all of its 3 pages" in await questions.say(SHOP)


async def test_nobody_works_on_it(questions: Questions) -> None:
    await questions.change("UPDATE workers SET status = 'stopped'")
    await questions.change("UPDATE runs SET status = 'stopped'")
    assert await questions.say(SHOP) == (
        f"It will not be fetched: nobody works on it now (run {questions.world.run} is stopped);"
        " to change that: `forager crawl http://shop.example/`."
    )
    await questions.set_domain(next_crawl_after=soon(days=3))
    assert "and it could not be before" in await questions.say(SHOP)
    await questions.set_domain(run_id=None)
    assert "no run has asked for it" in await questions.say(SHOP)


async def test_an_exhausted_domain_waits_for_its_refresh(questions: Questions) -> None:
    await questions.change(
        "UPDATE domains SET status = 'exhausted', next_crawl_after = $1, ready_at = NULL WHERE name = 'shop.example'",
        soon(days=14),
    )
    answer = await questions.ask(SHOP)
    assert seconds_left(answer) == pytest.approx(14 * 86400, abs=60)
    await questions.set_domain(next_crawl_after=None)
    assert "`forager refresh shop.example --now`" in await questions.say(SHOP)


async def test_where_the_pace_comes_from(questions: Questions) -> None:
    async def told(**manners: Any) -> str:
        return (await questions.gates(SHOP, **manners))["pace"].sentence

    assert await told(delay_s=2.5) == "2.5 s between requests (setting politeness.delay)"
    await questions.set_domain(crawl_delay_s=3.0)
    assert await told() == "3 s between requests (set for the domain)"
    await questions.robots(ROBOTS)
    assert await told() == "7 s between requests (robots.txt asks for it)"
    assert await told(unpaced_hosts=(SHOP,)) == "no distance between requests (an unpaced host)"


async def test_no_delay_is_the_least_delay(questions: Questions) -> None:
    pace = (await questions.gates(SHOP, delay_s=0.0))["pace"].sentence
    assert pace == "0.05 s between requests (the least there is; 0 s setting politeness.delay)"


async def test_the_next_allowed_request_is_waited_for(questions: Questions) -> None:
    await questions.set_domain(next_allowed_at=soon(seconds=40))
    assert seconds_left(await questions.ask(SHOP)) == pytest.approx(40, abs=5)


@pytest.mark.parametrize(("code", "most"), [("forbidden", 10), ("unreachable", 5), ("rate_limited", 5)])
async def test_errors_in_a_row_are_counted_towards_a_rest(questions: Questions, code: str, most: int) -> None:
    await questions.set_domain(consecutive_error_count=3, error_streak_code=code)
    gate = (await questions.gates(SHOP))["streak"]
    assert gate.sentence == f"3 errors in a row ({code}), at {most} it is left alone"


async def test_a_slow_server_is_given_more_distance(questions: Questions) -> None:
    await questions.set_domain(pace_extra_s=2.5)
    sentence = (await questions.gates(SHOP))["pace"].sentence
    assert sentence == "3.5 s between requests (setting politeness.delay, and 2.5 s more because the server is slow)"
    plain = (await questions.gates(SHOP, adaptive_pace=False))["pace"].sentence
    assert plain == "1 s between requests (setting politeness.delay)"


async def open_breaker(questions: Questions, state: str, *, ago_s: float, failures: int = 5) -> None:
    await questions.change(
        "UPDATE domains SET breaker_state = $1, breaker_failures = $2, breaker_opened_at = $3 WHERE name = $4",
        state,
        failures,
        soon(seconds=-ago_s),
        SHOP,
    )


async def test_an_open_breaker_is_a_closed_gate_until_its_pause_is_over(questions: Questions) -> None:
    await open_breaker(questions, "open", ago_s=20.0)
    gate = (await questions.gates(SHOP))["breaker"]
    assert (gate.is_open, gate.remedy) == (False, f"forager domain {SHOP} reset --breaker")
    assert "after 5 failed requests in a row" in gate.sentence
    answer = await questions.ask(SHOP)
    assert seconds_left(answer) == pytest.approx(40, abs=5)
    await questions.lease()
    assert (await questions.ask(SHOP)).outlook.kind == "now"
    await open_breaker(questions, "open", ago_s=61.0)
    gate = (await questions.gates(SHOP))["breaker"]
    assert (gate.is_open, gate.sentence.endswith("the next request is a try")) == (True, True)


@pytest.mark.parametrize(
    ("state", "failures", "sentence"),
    [
        ("half_open", 6, "half-open after 6 failed requests in a row: single requests are tried"),
        ("closed", 4, "closed: 4 failed requests in a row, at 5 it opens"),
        ("closed", 0, "closed: no failed requests in a row"),
    ],
)
async def test_a_breaker_that_stops_nothing_is_told_too(
    questions: Questions, state: str, failures: int, sentence: str
) -> None:
    if state != "closed":
        await open_breaker(questions, state, ago_s=70.0, failures=failures)
    await questions.set_domain(breaker_failures=failures)
    gate = (await questions.gates(SHOP))["breaker"]
    assert (gate.is_open, gate.sentence) == (True, sentence)


async def test_the_terms_of_the_priority_add_up(questions: Questions) -> None:
    await questions.set_domain(seed_rank=10, first_seen_at=soon(days=-4), round=2)
    sentence = (await questions.gates(SHOP))["priority"].sentence
    # 1000 (1 - 1/7), 2 points for each new page, 5 for each day
    assert sentence.startswith(
        "score 881 (seed rank +857: rank 10, new pages +4: 2 waiting, staleness +20: no visit for 4.0 days)"
    )
    assert sentence.endswith("round 2, first of its run")


async def test_domains_of_the_run_that_come_first_are_counted(questions: Questions) -> None:
    await questions.world.add_domain("better.example", status="active", ready_at=clock.now(), priority_score=9.0)
    await questions.world.add_domain("later.example", status="active", ready_at=clock.now(), round=1)
    assert "1 domain of its run first" in (await questions.gates(SHOP))["priority"].sentence


# Pages ---------------------------------------------------------------------------------------------------------------


async def test_the_next_page_of_an_open_domain(questions: Questions) -> None:
    assert await questions.say(f"{SEED}later") == "It will be fetched in a moment: every gate is open."


async def test_a_page_waits_for_those_before_it(questions: Questions) -> None:
    """In the order of the claim: the due task, better pages, earlier ones of the same rank."""
    for number in range(3):
        await questions.world.add_page(f"{SEED}better/{number}", priority=2)
        await questions.world.add_page(f"{SEED}worse/{number}", priority=8)
    answer = await questions.ask(f"{SEED}new", delay_s=10.0)
    assert seconds_left(answer) == pytest.approx(40, abs=1)
    assert answer.outlook.because == "4 visits of its domain first, one every 10 s"
    await questions.change("UPDATE pages SET depth = 11 WHERE priority = 2")  # no longer in reach
    assert seconds_left(await questions.ask(f"{SEED}new", delay_s=10.0)) == pytest.approx(10, abs=1)


async def test_a_task_planned_for_later(questions: Questions) -> None:
    await questions.change("UPDATE crawl_tasks SET scheduled_for = $1 WHERE outcome IS NULL", soon(hours=2))
    answer = await questions.ask(f"{SEED}later")
    assert seconds_left(answer) == pytest.approx(7200, abs=5)
    assert "is planned" in answer.outlook.because


async def test_a_page_in_a_workers_hands(questions: Questions) -> None:
    await questions.lease()
    await questions.change(
        "UPDATE crawl_tasks SET status = 'crawling', locked_by = $1, locked_at = now() WHERE outcome IS NULL",
        questions.world.worker,
    )
    assert (await questions.say(f"{SEED}later")).startswith("It is being fetched now: worker ")
    answer = await questions.ask(f"{SEED}new", delay_s=5.0)
    assert answer.outlook.kind == "at"
    assert seconds_left(answer) == pytest.approx(5, abs=1)


async def test_a_page_nobody_linked_to(questions: Questions) -> None:
    assert await questions.say(f"{SEED}what?a=1&b=2") == (
        "It will not be fetched: it is not known: no page that was visited links to it;"
        " to change that: `forager crawl 'http://shop.example/what?a=1&b=2'`."
    )


async def test_a_url_that_is_not_known_may_be_a_link_that_was_left_out(questions: Questions) -> None:
    await questions.change("UPDATE pages SET flags = '{links_cut}', links_count = 5000")
    said = await questions.say(f"https://{SHOP}/never-heard-of")
    assert "(5,000 links taken) ha" in said
    assert "more links than crawl.max_links_per_page allows, and it may be among the rest" in said


@pytest.mark.parametrize(
    ("path", "gate", "words"),
    [
        ("file.zip", "link", "ends like a file"),
        ("a/b/a/b/a/b/a/b", "link", "left out by the rule repeating_path"),
        ("x?phpsessid=1", "link", "taken without its session id"),
        ("plain", "link", "would be taken"),
    ],
)
async def test_would_a_link_be_taken(questions: Questions, path: str, gate: str, words: str) -> None:
    assert words in (await questions.gates(SEED + path))[gate].sentence


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ({"scope": "page"}, "outside the scope"),
        ({"exclude": ["*about*"]}, "left out by the patterns"),
        ({"include": ["*contact*"]}, "left out by the patterns"),
        ({"scope": "any"}, "in reach"),
    ],
)
async def test_the_reach_of_the_run(questions: Questions, order: dict[str, Any], words: str) -> None:
    for name, value in order.items():
        await questions.change(
            "UPDATE runs SET spec = jsonb_set(spec, ARRAY[$1], to_jsonb($2::text[]))"
            if isinstance(value, list)
            else "UPDATE runs SET spec = jsonb_set(spec, ARRAY[$1], to_jsonb($2::text))",
            name,
            value,
        )
    assert words in (await questions.gates(f"{SEED}about"))["scope"].sentence


async def test_the_reach_of_a_run_with_a_long_list(questions: Questions) -> None:
    """Its order names the first seeds only; the domains it has taken are its reach."""
    await questions.change(
        """UPDATE runs SET spec = spec || '{"seeds": ["http://other.example/"], "seeds_total": 9}'"""
    )
    assert (await questions.gates(f"{SEED}about"))["scope"].is_open


async def test_a_page_too_deep_for_its_run(questions: Questions) -> None:
    await questions.change("UPDATE pages SET depth = 11 WHERE url LIKE '%new'")
    gate = (await questions.gates(f"{SEED}new"))["depth"]
    assert (gate.is_open, gate.sentence) == (False, "11, deeper than the limit of its run (10)")
    assert "It will not be fetched: 11, deeper than the limit of its run" in await questions.say(f"{SEED}new")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("is_seed = true, priority = 1", "1 (1 is first, 10 last): a seed"),
        ("depth = 2, priority = 2", "near to a seed"),
        ("depth = 4, priority = 5", "a content page"),
        ("depth = 7, priority = 8", "a deep page, 7 links from a seed"),
        ("depth = 2, priority = 7", "set when it was found"),
    ],
)
async def test_the_rank_is_explained(questions: Questions, columns: str, words: str) -> None:
    await questions.change(f"UPDATE pages SET {columns} WHERE url LIKE '%new'")
    assert words in (await questions.gates(f"{SEED}new"))["rank"].sentence


async def test_a_page_that_is_gone(questions: Questions) -> None:
    assert await questions.say(f"{SEED}gone") == (
        "It will not be fetched: gone: the server says it is gone; to change that: `forager crawl http://shop.example/gone`."
    )
    gates = await questions.gates(f"{SEED}gone")
    assert "blocked_4xx 404 http_status: the server answered 404" in gates["last visit"].sentence


async def test_a_fetched_page_is_visited_again_or_not(questions: Questions) -> None:
    about = f"{SEED}about"
    assert "fetched, and no revisit is planned" in await questions.say(about)
    await questions.world.add_task(about, scheduled_for=soon(days=1))
    await questions.set_domain(revisit_every_s=86400.0)
    await questions.change("UPDATE pages SET comparisons = 4, changes = 1 WHERE url = $1", about)
    answer = await questions.ask(about)
    assert seconds_left(answer) == pytest.approx(86400, abs=10)
    recurrence = next(gate for gate in answer.page_checks if gate.name == "recurrence")
    assert recurrence.sentence == "every 1 d, as its domain; 1 of 4 visits found it changed"


async def test_a_fetched_page_of_an_exhausted_domain_waits_for_the_refresh(questions: Questions) -> None:
    await questions.change("DELETE FROM crawl_tasks WHERE outcome IS NULL")
    await questions.change(
        "UPDATE domains SET status = 'exhausted', next_crawl_after = $1 WHERE name = 'shop.example'", soon(days=5)
    )
    assert seconds_left(await questions.ask(f"{SEED}about")) == pytest.approx(5 * 86400, abs=60)


async def test_an_adaptive_page_has_a_learned_interval(questions: Questions) -> None:
    await questions.set_domain(is_adaptive=True, revisit_price=100.0)
    gate = (await questions.gates(f"{SEED}about"))["recurrence"]
    assert gate.sentence.startswith("about every ")
    assert gate.sentence.endswith(", learned")


async def test_the_rule_of_robots_txt_with_its_line(questions: Questions) -> None:
    await questions.robots(ROBOTS)
    gate = (await questions.gates(f"{SEED}about"))["robots"]
    assert gate.is_closed
    assert gate.sentence.startswith("robots.txt line 3 says 'Disallow: /about' to *")
    assert "It will not be fetched: robots.txt line 3" in await questions.say(f"{SEED}about/unknown")
    assert (await questions.gates(f"{SEED}new"))["robots"].sentence.startswith("no rule of robots.txt is about it")
    assert (await questions.gates(f"{SEED}about", robots_agent="x"))["robots"].is_closed


async def test_robots_txt_that_could_not_be_had(questions: Questions) -> None:
    await questions.robots(None, error="the server answered 503", expires=soon(minutes=30))
    assert seconds_left(await questions.ask(f"{SEED}later")) == pytest.approx(1800, abs=5)


async def test_an_old_robots_txt_is_asked_for_again(questions: Questions) -> None:
    await questions.robots(ROBOTS, expires=soon(hours=-1))
    assert "to be asked for again" in (await questions.gates(f"{SEED}new"))["robots"].sentence


async def test_the_address_guard(questions: Questions) -> None:
    url = "http://127.0.0.1:9/x"
    assert (await questions.gates(url))["address"].is_closed
    assert "127.0.0.1 is a loopback address; add it to fetch.allow_networks" in await questions.say(url)
    allowed = AddressGuard(["127.0.0.0/8"], [80])
    assert (await questions.gates(url, guard=allowed))["address"].is_open
    assert (await questions.gates(f"{SEED}about"))["address"].is_open is None


async def test_a_page_behind_the_limit_of_its_run(questions: Questions) -> None:
    await questions.change("UPDATE runs SET max_pages_per_domain = 1")
    assert "1 visit of its domain first, and its run has 1 page left" in await questions.say(f"{SEED}new")


# Tasks that somebody stopped -----------------------------------------------------------------------------------------


async def test_a_paused_task_says_who_paused_it_and_how_it_goes_on(questions: Questions) -> None:
    task = await questions.conn.fetchval("SELECT id FROM crawl_tasks WHERE outcome IS NULL")
    url = await questions.conn.fetchval(
        "SELECT p.url FROM pages p JOIN crawl_tasks t ON t.page_id = p.id AND t.id = $1", task
    )
    async with questions.conn.transaction():
        await tasks.pause(questions.conn, task, by="cli:ann", reason="the shop is being rebuilt")
    gate = (await questions.gates(url))["task"]
    assert (gate.is_open, gate.remedy) == (False, f"forager tasks resume {task}")
    assert gate.sentence.startswith(f"task {task} is paused, by cli:ann at ")
    assert gate.sentence.endswith(": the shop is being rebuilt")
    assert f"to change that: `forager tasks resume {task}`" in await questions.say(url)
    assert "1 paused" in (await questions.gates(SHOP))["frontier"].sentence
    async with questions.conn.transaction():
        await tasks.resume(questions.conn, task, by="cli:ann")
    assert (await questions.gates(url))["task"].sentence.startswith(f"task {task}, due since")


async def test_a_task_that_waits_for_another_names_it(questions: Questions) -> None:
    async with questions.conn.transaction():
        first = await submit.submit(questions.conn, [TaskOrder("http://shop.example/first")], by="cli:ann")
        before = first.tasks[0].task_id
        order = TaskOrder("http://shop.example/second", depends_on=before)
        await submit.submit(questions.conn, [order], by="cli:ann")
    gate = (await questions.gates("http://shop.example/second"))["task"]
    assert f"waits for task {before}, which is pending" in gate.sentence
    assert (gate.is_open, gate.remedy) == (False, f"forager task {before}")


async def test_a_pause_of_the_worker_is_named_with_its_reason(questions: Questions) -> None:
    await questions.lease(
        pause_reason="store_unavailable", pause_detail="No space left on device", paused_since=soon(seconds=-5)
    )
    gate = (await questions.gates(SHOP))["pause"]
    says = "bodies cannot be stored (No space left on device); it resumes by itself"
    assert (gate.is_open, gate.sentence.endswith(says)) == (False, True)
    assert says in await questions.say(SHOP)
    await questions.set_domain(content_policy="signals")
    assert "pause" not in await questions.gates(SHOP)
