"""Lists of any length: piece by piece, safe to interrupt, and a run that does not name them."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.builders import a_spec
from tests.ground import Ground

from forager.db.database import Database
from forager.engine.stop import StopRequest
from forager.explain.check import check
from forager.runs.models import RunSpec, Scope
from forager.runs.scope import read_reach
from forager.seeds.found import BadLine, ReadCounts, Seed
from forager.seeds.service import Loaded, SeedList, flow, load_seeds, start_long_run
from forager.seeds.table import read_list
from forager.stats import store as stats

MANY = 20_000


def a_ranking(count: int = MANY) -> Iterator[Seed | BadLine]:
    lines = [f"{number},host{number}.example" for number in range(1, count + 1)]
    lines[count // 2 : count // 2] = ["broken line", "7"]
    return read_list("\n".join(lines).encode()[start : start + 5000] for start in range(0, count * 30, 5000))


async def load(database: Database, seeds: Any) -> tuple[Loaded, ReadCounts, list[int]]:
    tally, loaded, shown = ReadCounts("ranking"), Loaded(), list[int]()
    await load_seeds(
        database,
        flow(tally.seeds_of(seeds)),
        loaded,
        source="ranking",
        is_scored=True,
        on_loaded=lambda so_far: shown.append(so_far.seeds),
    )
    return loaded, tally, shown


async def test_twenty_thousand_lines_load_in_pieces_and_the_bad_ones_are_named(
    database: Database, ground: Ground
) -> None:
    loaded, tally, shown = await load(database, a_ranking())
    assert (loaded.seeds, loaded.new_domains, loaded.new_pages, loaded.known) == (MANY, MANY, MANY, 0)
    assert [bad.line for bad in tally.remembered] == [MANY // 2 + 1, MANY // 2 + 2]
    assert shown == [5000, 10_000, 15_000, 20_000]
    assert (
        await ground.conn.fetchval("SELECT count(*) FROM domains WHERE 'host' || seed_rank || '.example' = name")
        == MANY
    )
    assert await broken(ground) == []


async def test_a_load_that_was_killed_goes_on(database: Database, ground: Ground) -> None:
    """Stopped at a random seed, twice: nothing is there twice, and the counters are right."""
    rng = random.Random(3)
    for _ in range(2):
        stop_at = rng.randrange(1000, MANY // 2)

        def until_killed(stop_at: int = stop_at) -> Any:
            for number, found in enumerate(a_ranking()):
                if number == stop_at:
                    raise ZeroDivisionError
                yield found

        with pytest.raises(ZeroDivisionError):
            await load(database, until_killed())
        assert await broken(ground) == []
    loaded, _, _ = await load(database, a_ranking())
    there = await ground.conn.fetchval("SELECT count(*) FROM pages")
    assert there == MANY
    assert 0 < loaded.new_pages <= MANY
    assert await broken(ground) == []


async def broken(ground: Ground) -> list[str]:
    async with ground.conn.transaction(isolation="repeatable_read", readonly=True):
        return [finding.name for verdict in await check(ground.conn) for finding in verdict.findings if finding.broken]


async def begin(
    database: Database, seeds: Sequence[Seed], stop: StopRequest | None = None, **order: Any
) -> tuple[int, RunSpec]:
    return await start_long_run(
        database,
        a_spec("http://named.example/", **order),
        SeedList("ranking", iter(seeds), is_long=True),
        by="test",
        is_scored=True,
        stop=stop or StopRequest(),
        on_loaded=lambda _loaded: None,
    )


LISTED = [Seed(f"https://host{number}.example/", number) for number in range(1, 6001)]


async def test_a_run_takes_a_long_list_without_naming_it(database: Database, ground: Ground) -> None:
    known = await ground.a_domain("host7.example", pages=1)
    run, spec = await begin(database, LISTED)
    assert (spec.seeds_total, len(spec.seeds), spec.is_long) == (6001, 10, True)
    assert await stats.find_run(ground.conn, run) == spec
    assert await ground.conn.fetchval("SELECT status::text FROM runs WHERE id = $1", run) == "running"
    taken = await ground.conn.fetchval("SELECT count(*) FROM domains WHERE run_id = $1 AND is_due AND round <= 1", run)
    assert taken == 6001
    assert (await ground.domain(known))["run_id"] == run
    reach = await read_reach(database, run, spec)
    assert reach.refusal("https://host6000.example/x", "host6000.example") is None
    assert reach.refusal("https://host6001.example/x", "host6001.example") == "scope"
    assert await broken(ground) == []


async def test_the_same_list_is_the_same_crawl_and_another_is_not(database: Database, ground: Ground) -> None:
    _, first = await begin(database, LISTED)
    _, same = await begin(database, LISTED)
    _, other = await begin(database, [*LISTED[:-1], Seed("https://last.example/")])
    assert first == same
    assert first.seeds == other.seeds
    assert first.seeds_digest != other.seeds_digest


async def test_a_run_that_was_stopped_while_it_was_planted_stays_stopped(database: Database, ground: Ground) -> None:
    stop = StopRequest()
    stop.ask()
    run, spec = await begin(database, LISTED, stop)
    assert spec.is_long
    assert await ground.conn.fetchval("SELECT status::text FROM runs WHERE id = $1", run) == "stopped"
    assert await ground.conn.fetchval("SELECT count(*) FROM pages") == 5001
    again, _ = await begin(database, LISTED)
    assert await ground.conn.fetchval("SELECT count(*) FROM domains WHERE run_id = $1", again) == 6001
    assert await broken(ground) == []


@pytest.mark.parametrize(("scope", "is_inside"), [(Scope.HOST, False), (Scope.DOMAIN, True), (Scope.ANY, True)])
async def test_wider_scopes_reach_wider(database: Database, ground: Ground, scope: Scope, is_inside: bool) -> None:
    known = await ground.a_domain("blog.host7.example", pages=1, parent_domain="host7.example")
    run, spec = await begin(database, LISTED[:10], scope=scope)
    assert ((await ground.domain(known))["run_id"] == run) == is_inside
    reach = await read_reach(database, run, spec)
    assert (reach.refusal("https://new.host7.example/", "new.host7.example") is None) == is_inside
    assert (reach.refusal("https://far.example/", "far.example") is None) == (scope is Scope.ANY)
