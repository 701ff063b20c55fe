"""The table of moves in Python is the table in the database, and the database refuses every other move."""

import asyncpg
import pytest
from tests.ground import Ground

from forager.domains.admin import move
from forager.domains.status import MOVES, DomainStatus, can_transition
from forager.errors import UsageError

pytestmark = pytest.mark.both_servers


async def test_both_tables_are_the_same(conn: asyncpg.Connection) -> None:
    rows = await conn.fetch("SELECT from_status::text, to_status::text FROM domain_transitions")
    assert {tuple(row) for row in rows} == {(now, then) for now, after in MOVES.items() for then in after}


async def test_the_states_are_the_same(conn: asyncpg.Connection) -> None:
    assert set(await conn.fetchval("SELECT enum_range(NULL::domain_status)::text[]")) == set(DomainStatus)


async def test_the_database_refuses_every_other_move(ground: Ground) -> None:
    for now in DomainStatus:
        for then in DomainStatus:
            assert await moves(ground, now, then) == (now is then or can_transition(now, then)), (now, then)


async def moves(ground: Ground, now: DomainStatus, then: DomainStatus) -> bool:
    stands = {DomainStatus.BLOCKED, DomainStatus.UNREACHABLE}
    domain = await ground.conn.fetchval(
        "INSERT INTO domains (name, parent_domain, base_url, status, block_reason_code)"
        " VALUES ($1 || '-' || $2, '', '', $1::text::domain_status, $3) RETURNING id",
        now,
        then,
        "x" if now in stands else None,
    )
    try:
        await ground.conn.execute(
            "UPDATE domains SET status = $2::text::domain_status, block_reason_code = $3 WHERE id = $1",
            domain,
            then,
            "x" if then in stands else None,
        )
    except asyncpg.CheckViolationError as error:
        return str(error) != f"a domain cannot move from {now} to {then}"
    return True


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE domains SET status = 'blocked'",
        "UPDATE domains SET block_reason_code = 'x'",
        "UPDATE domains SET claimed_by = 1",
        "UPDATE domains SET claim_expires_at = now()",
        "UPDATE domains SET crawl_delay_s = -1",
    ],
)
async def test_a_domain_cannot_be_half_of_something(ground: Ground, sql: str) -> None:
    await ground.a_domain()
    with pytest.raises(asyncpg.CheckViolationError):
        await ground.conn.execute(sql)


# Whoever writes -----------------------------------------------------------------------------------------------------


async def history(ground: Ground) -> list[tuple[str, str, bool, str | None, str | None, str]]:
    rows = await ground.conn.fetch(
        "SELECT from_status::text, to_status::text, is_active, reason_code, reason, moved_by"
        " FROM domain_history ORDER BY id"
    )
    return [tuple(row) for row in rows]


async def test_plain_sql_is_refused_and_leaves_no_line(ground: Ground) -> None:
    await ground.a_domain()
    with pytest.raises(asyncpg.CheckViolationError, match="a domain cannot move from active to pending"):
        await ground.conn.execute("UPDATE domains SET status = 'pending'")
    assert await history(ground) == []


async def test_a_move_by_plain_sql_is_on_record(ground: Ground) -> None:
    await ground.a_domain()
    await ground.conn.execute(
        "UPDATE domains SET status = 'blocked', block_reason_code = 'forbidden', block_reason = 'it answered 403'"
    )
    await ground.conn.execute("UPDATE domains SET is_active = false")
    await ground.conn.execute("UPDATE domains SET status = 'pending'")
    await ground.conn.execute("UPDATE domains SET priority_score = 7")
    assert await history(ground) == [
        ("active", "blocked", True, "forbidden", "it answered 403", "system"),
        ("blocked", "blocked", False, "forbidden", "it answered 403", "system"),
        ("blocked", "pending", False, None, None, "system"),
    ]


async def test_a_move_under_a_lease_is_its_workers(ground: Ground) -> None:
    domain = await ground.a_domain()
    worker = await ground.a_worker()
    await ground.a_lease(domain, worker)
    await ground.conn.execute("UPDATE domains SET status = 'exhausted', claimed_by = NULL, claim_expires_at = NULL")
    assert await history(ground) == [("active", "exhausted", True, None, None, f"worker {worker}")]


async def test_a_signature_holds_for_its_transaction_only(ground: Ground) -> None:
    await ground.a_domain()
    async with ground.conn.transaction():
        assert await move(ground.conn, "a.example", DomainStatus.BLOCKED, by="cli:ann", reason="review")
    await ground.conn.execute("UPDATE domains SET status = 'pending'")
    assert [entry[3:] for entry in await history(ground)] == [
        ("operator", "review", "cli:ann"),
        (None, None, "system"),
    ]


@pytest.mark.parametrize("now", DomainStatus)
@pytest.mark.parametrize("then", DomainStatus)
async def test_the_door_and_the_database_agree(ground: Ground, now: DomainStatus, then: DomainStatus) -> None:
    code = "x" if now in {DomainStatus.BLOCKED, DomainStatus.UNREACHABLE} else None
    await ground.conn.execute(
        "INSERT INTO domains (name, parent_domain, base_url, status, block_reason_code)"
        " VALUES ('a.example', '', '', $1::text::domain_status, $2)",
        now,
        code,
    )
    if now is then or can_transition(now, then):
        assert await move(ground.conn, "a.example", then, by="test", reason="x") == (now is not then)
        assert await ground.conn.fetchval("SELECT status::text FROM domains") == then
    else:
        with pytest.raises(UsageError, match=f"a.example is {now} and cannot become {then}; it may become"):
            await move(ground.conn, "a.example", then, by="test", reason="x")
        assert await ground.conn.fetchval("SELECT status::text FROM domains") == now


async def test_every_change_of_a_domain_is_stamped(ground: Ground) -> None:
    """Whoever changes it, and whatever it says of the time."""
    domain = await ground.a_domain()
    before = (await ground.domain(domain))["updated_at"]
    await ground.conn.execute("UPDATE domains SET crawl_delay_s = 2, updated_at = 'epoch' WHERE id = $1", domain)
    assert (await ground.domain(domain))["updated_at"] > before
