"""Records, extractors and items over HTTP: lists page by page, history, a trial in a parser process, plans."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx
import orjson
import pytest
from tests.builders import a_detailed_reading, a_target
from tests.ground import Ground

from forager.frontier.details import record_details
from forager.frontier.models import Outcome, OutcomeKind
from forager.records.models import FoundRecord
from forager.records.store import RecordVisit, store

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DEFINITION = 'name = "lamps"\n[record]\nkind = "lamp"\n[fields.title]\ncss = "h1"\nrequired = true'
RECIPE = {"syntax": "json-ld", "types": ["Recipe"], "properties": {"name": "Cake", "cookTime": 40}}
OFFER = {
    "syntax": "microdata",
    "types": ["Product"],
    "properties": {"offers": [{"types": [], "properties": {"price": ["9"]}}]},
}


@pytest.fixture
def ground(conn: asyncpg.Connection) -> Ground:
    return Ground(conn)


async def items_of(client: httpx.AsyncClient, path: str) -> list[dict[str, Any]]:
    """All rows of a list, two at a time."""
    rows: list[dict[str, Any]] = []
    after = ""
    while True:
        answer = await client.get(f"{path}{'&' if '?' in path else '?'}limit=2{after}")
        assert answer.status_code == 200, answer.text
        found = answer.json()
        rows += found["items"]
        if found["next"] is None:
            return rows
        after = f"&after={found['next']}"


async def test_records_are_listed_filtered_and_have_a_history(user: httpx.AsyncClient, ground: Ground) -> None:
    domain = await ground.a_domain("a.example")
    page = await ground.a_page("http://a.example/1", domain)
    for hour, minutes in enumerate((40, 30)):
        records = [
            FoundRecord(
                "recipes", "recipe", f"k{n}", {"title": f"Cake {n}", "minutes": minutes + n}, {"title": "css h1"}
            )
            for n in range(5)
        ]
        seen_at = NOON + timedelta(hours=hour)
        await store(ground.conn, [RecordVisit(domain, page, hour, records, ("recipes",), seen_at=seen_at)])
    rows = await items_of(user, "/api/records?kind=recipe")
    assert [row["key"] for row in rows] == ["k4", "k3", "k2", "k1", "k0"]
    found = await items_of(user, "/api/records?where=minutes>31&where=title~cake")
    assert [row["fields"]["minutes"] for row in found] == [34, 33, 32]
    assert await items_of(user, "/api/records?extractor=other") == []
    assert await items_of(user, "/api/records?is_present=false") == []
    shown = (await user.get(f"/api/records/{rows[0]['id']}")).json()
    assert [(each["event"], each["old_value"], each["new_value"]) for each in shown["changes"]] == [
        ("first", None, None),
        ("changed", 44, 34),
    ]
    assert shown["record"]["evidence"] == {"title": "css h1"}
    assert (await user.get("/api/records/4711")).status_code == 404
    assert (await user.get("/api/records?where=nonsense")).status_code in {400, 422}
    coverage = (await user.get("/api/extractors/coverage?extractor=recipes")).json()["items"]
    assert {(row["field"], row["valid"]) for row in coverage} == {("", 10), ("title", 10), ("minutes", 10)}
    [extractor] = (await user.get("/api/extractors")).json()["items"]
    assert (extractor["name"], extractor["file"], extractor["records"]) == ("recipes", None, 5)
    lines = (await user.get("/api/exports/records")).text.splitlines()
    assert json.loads(lines[0])["fields"] == {"title": "Cake 0", "minutes": 30}


async def test_items_are_found_by_type_and_property(user: httpx.AsyncClient, ground: Ground) -> None:
    domain = await ground.a_domain("a.example")
    for n in range(5):
        page = await ground.a_page(f"http://a.example/{n}", domain)
        data = orjson.dumps([RECIPE, OFFER] if n % 2 else [OFFER])
        reading = replace(a_detailed_reading(), structured_data=data)
        outcome = Outcome(a_target(page=page), OutcomeKind.SUCCESS, 200, reading=reading)
        await record_details(ground.conn, [outcome])
    assert len(await items_of(user, "/api/items")) == 7
    recipes = await items_of(user, "/api/items?type=https://schema.org/recipe")
    assert [(row["url"], row["position"]) for row in recipes] == [("http://a.example/1", 0), ("http://a.example/3", 0)]
    assert len(await items_of(user, "/api/items?property=offers.price<10&syntax=microdata")) == 5
    assert await items_of(user, "/api/items?type=Recipe&property=cookTime>40") == []
    assert len(await items_of(user, "/api/items?url=http://a.example/1")) == 2
    assert (await user.get("/api/items?domain=b.example")).status_code == 404
    rows = [json.loads(line) for line in (await user.get("/api/exports/items")).text.splitlines()]
    assert [(row["position"], row["types"]) for row in rows][1:3] == [(0, ["Recipe"]), (1, ["Product"])]


async def test_an_extractor_is_tried_on_html_in_a_parser_process(
    admin: httpx.AsyncClient, user: httpx.AsyncClient
) -> None:
    order = {"definition": DEFINITION, "html": "<h1>Lamp</h1>", "url": "http://a.example/"}
    told = (await admin.post("/api/extract", json=order)).json()
    assert (told["name"], told["pages"][0]["records"][0]["fields"]) == ("lamps", {"title": "Lamp"})
    assert (await user.post("/api/extract", json=order)).status_code == 403
    wrong = await admin.post("/api/extract", json=order | {"definition": "name ="})
    assert (wrong.status_code, "is no TOML" in wrong.json()["detail"]) == (422, True)
    bare = await admin.post("/api/extract", json={"definition": DEFINITION})
    assert (bare.status_code, "No body is stored" in bare.json()["detail"]) == (409, True)
    hang = DEFINITION + "\n[fields.x]\nregex = 'a.*a.*a.*a.*a.*a.*a.*Z'"
    slow = await admin.post("/api/extract", json=order | {"definition": hang, "html": "<h1>L</h1>" + "a" * 20_000})
    assert "too_slow" in slow.json()["pages"][0]["problems"][0]
