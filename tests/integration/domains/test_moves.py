"""The table of moves in Python is the table in the database, and the database refuses every other move."""

import asyncpg
import pytest
from tests.ground import Ground

from forager.domains.status import MOVES, DomainStatus, may_move

pytestmark = pytest.mark.both_servers


async def test_both_tables_are_the_same(conn: asyncpg.Connection) -> None:
    rows = await conn.fetch("SELECT from_status::text, to_status::text FROM domain_moves")
    assert {tuple(row) for row in rows} == {(now, then) for now, after in MOVES.items() for then in after}


async def test_the_states_are_the_same(conn: asyncpg.Connection) -> None:
    assert set(await conn.fetchval("SELECT enum_range(NULL::domain_status)::text[]")) == set(DomainStatus)


async def test_the_database_refuses_every_other_move(ground: Ground) -> None:
    for now in DomainStatus:
        for then in DomainStatus:
            assert await moves(ground, now, then) == (now is then or may_move(now, then)), (now, then)


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
