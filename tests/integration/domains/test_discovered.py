"""New domains and new pages of known ones: counted, and made claimable for the run that found them."""

import pytest
from tests.ground import Ground

from forager.domains import store as domains

pytestmark = pytest.mark.both_servers


async def test_a_domain_is_added_once_and_stays_as_it_is(ground: Ground) -> None:
    run = await ground.a_run()
    await domains.add_domains(ground.conn, {"shop.a.example": "http://shop.a.example"}, source="seed", run=run)
    await domains.add_domains(ground.conn, {"shop.a.example": "https://other"}, source="link", run=None)
    row = await ground.conn.fetchrow("SELECT * FROM domains")
    assert (row["parent_domain"], row["base_url"], row["source"], row["run_id"]) == (
        "a.example",
        "http://shop.a.example",
        "seed",
        run,
    )
    assert await domains.find_domains(ground.conn, ["shop.a.example", "x"]) == {"shop.a.example": row["id"]}


async def test_new_pages_wake_an_exhausted_domain_for_the_run_that_found_them(ground: Ground) -> None:
    old, new = await ground.a_run(), await ground.a_run()
    domain = await ground.a_domain(run=old, status="exhausted", ready_at=None, run_pages=7)
    await domains.count_discovered(ground.conn, {domain: 2}, run=new)
    row = await ground.domain(domain)
    assert (row["status"], row["run_id"], row["run_pages"]) == ("active", new, 0)
    assert (row["pages_discovered"], row["frontier_size"]) == (2, 2)
    assert row["ready_at"] is not None


async def test_new_pages_of_a_leased_domain_stay_with_its_run(ground: Ground) -> None:
    ours, theirs = await ground.a_run(), await ground.a_run()
    domain = await ground.a_domain(run=ours, run_pages=7)
    await ground.a_lease(domain, await ground.a_worker(ours))
    await domains.count_discovered(ground.conn, {domain: 1}, run=theirs)
    row = await ground.domain(domain)
    assert (row["run_id"], row["run_pages"]) == (ours, 7)


async def test_new_pages_do_not_unblock_a_domain(ground: Ground) -> None:
    run = await ground.a_run()
    domain = await ground.new_domain.blocked(run=run)
    await domains.count_discovered(ground.conn, {domain: 1}, run=run)
    assert (await ground.domain(domain))["status"] == "blocked"


async def test_waking_never_delays(ground: Ground) -> None:
    later = await ground.a_domain(ready_at="(now() + interval '1 hour')")
    earlier = await ground.a_domain("b.example", ready_at="(now() - interval '1 hour')")
    asleep = await ground.a_domain("c.example", ready_at=None)
    await domains.wake(ground.conn, [later, earlier, asleep])
    assert await ground.conn.fetchval("SELECT count(*) FROM domains WHERE ready_at <= now()") == 3
    assert await ground.conn.fetchval(
        "SELECT ready_at < now() - interval '59 minutes' FROM domains WHERE id = $1", earlier
    )
