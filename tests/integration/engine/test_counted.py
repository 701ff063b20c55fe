"""What a worker counts by the minute is what it did: no more, no less, and its leases are all accounted for."""

from tests.ground import Ground
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager.db.database import Database
from forager.stats import series
from forager_playground.answer import refuse


async def test_a_crawl_in_numbers(database: Database, ground: Ground) -> None:
    await ground.conn.execute("DELETE FROM series_parts; DELETE FROM series_totals")
    site = WatchedSite(30, on_request=lambda path, _count: refuse(404, "none") if path.endswith("7") else None)
    async with serve(site, WatchedSite(10, number=2)) as web:
        stage = await Stage.open(database, web)
        await stage.work()
    counted = {(each.metric, each.label): each.amount for each in await series.read_totals(ground.conn)}

    def total(metric: str) -> float:
        return sum(amount for (name, _), amount in counted.items() if name == metric)

    history = {
        row["outcome"]: row["tasks"]
        for row in await stage.fetch(
            "SELECT outcome::text, count(*) AS tasks FROM crawl_tasks WHERE outcome IS NOT NULL GROUP BY outcome"
        )
    }
    assert {label: amount for (metric, label), amount in counted.items() if metric == "visits"} == history
    assert counted["status", "404"] == history["blocked_4xx"] == 3
    assert total("fetch_s") == total("visits")
    assert total("read_s") == history["success"]
    assert counted["bytes", ""] == (await stage.fetch("SELECT sum(bytes)::float8 FROM crawl_tasks"))[0][0]
    assert counted["leases", "claimed"] == counted["leases", "released"] >= 2
    assert ("leases", "lost") not in counted
    assert counted["batch_pages.sum", ""] == total("visits")
