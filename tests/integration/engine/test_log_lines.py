"""What a worker says of a visit: one JSON object in a line, with the action, the worker, the task and the domain."""

import json
from collections.abc import Iterator

import pytest
from tests.ground import Ground
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager import logs as observe
from forager.db.database import Database
from forager_playground.answer import refuse


@pytest.fixture
def as_json() -> Iterator[None]:
    observe.configure(level="info", as_json=True)
    yield
    observe.configure()


@pytest.mark.usefixtures("as_json")
async def test_a_failed_visit_is_one_line_that_names_all_it_is_about(
    database: Database, ground: Ground, capsys: pytest.CaptureFixture[str]
) -> None:
    site = WatchedSite(3, on_request=lambda path, _count: refuse(404, "none") if path.endswith("2") else None)
    async with serve(site) as web:
        stage = await Stage.open(database, web)
        await stage.work()
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    failed = [line for line in lines if line["action"] == "visit.failed"]
    rows = await stage.fetch(
        "SELECT t.id, w.id, d.name, p.url FROM crawl_tasks t JOIN domains d ON d.id = t.domain_id"
        " JOIN pages p ON p.id = t.page_id, workers w WHERE t.status_code = 404"
    )
    told = [(line["task"], line["worker"], line["domain"], line["url"]) for line in failed]
    assert told == [tuple(row) for row in rows]
    assert len(told) == 1
    assert {(line["code"], line["level"]) for line in failed} == {("http_status", "info")}
    assert all("action" in line for line in lines)


@pytest.mark.usefixtures("as_json")
async def test_a_page_budget_that_is_used_up_is_one_line(
    database: Database, ground: Ground, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serve(WatchedSite(5)) as web:
        stage = await Stage.open(database, web, max_pages_per_domain=2)
        await stage.work()
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    [(domain,)] = await stage.fetch("SELECT name FROM domains")
    used = [line for line in lines if line["action"] == "domain.budget_used"]
    assert [(line["domain"], line["pages"], line["level"]) for line in used] == [(domain, 2, "info")]
