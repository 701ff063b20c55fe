"""Adopting a long list costs what the list is long, however old the planner's statistics are."""

import json
from typing import Any

import pytest
from tests.ground import Ground
from tests.integration.frontier.test_plans import nodes

from forager.domains.store import SQL

pytestmark = pytest.mark.both_servers
MANY = 1_000


async def test_a_long_list_is_looked_for_once_where_statistics_are_of_an_empty_table(ground: Ground) -> None:
    """As after a purge: rows were many, are counted as none, and come anew."""
    run = await ground.a_run()
    await add_domains(ground)
    await ground.conn.execute("DELETE FROM domains")
    await ground.conn.execute("VACUUM (ANALYZE, TRUNCATE off) domains")
    await add_domains(ground)
    plan = await run_explained(ground, run, [f"host{number}.example" for number in range(1, MANY + 1)])
    assert await ground.conn.fetchval("SELECT count(*) FROM domains WHERE run_id = $1", run) == MANY
    assert [node["Actual Loops"] for node in nodes(plan) if node["Node Type"] == "LockRows"] == [1]
    compared = [node.get("Rows Removed by Join Filter", 0) for node in nodes(plan)]
    assert max(compared) == 0, "one list against the other, row by row"


async def add_domains(ground: Ground) -> None:
    await ground.conn.execute(
        "INSERT INTO domains (name, parent_domain, base_url)"
        " SELECT name, name, 'http://' || name FROM (SELECT 'host' || n || '.example' AS name"
        f" FROM generate_series(1, {MANY}) n) AS made"
    )


async def run_explained(ground: Ground, run: int, names: list[str]) -> dict[str, Any]:
    sql = "EXPLAIN (ANALYZE, FORMAT JSON) " + SQL["assign_domains"]
    return dict(json.loads(await ground.conn.fetchval(sql, run, names, [], False))[0]["Plan"])
