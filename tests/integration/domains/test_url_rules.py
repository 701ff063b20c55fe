"""URL rules as they are stored: from crawl settings to policies, and to which domain a host belongs."""

import json
from typing import Any

import pytest
from tests.ground import Ground

from forager.domains import store
from forager.domains.url_lookup import locate_url
from forager.domains.url_rules import StoredRules, load_rules
from forager.explain.why import parse_query
from forager.urls.policy import UrlPolicy
from forager.urls.rules import NO_RULES


async def choose(ground: Ground, domain: int, **settings: Any) -> None:
    await ground.conn.execute(
        "INSERT INTO domain_settings (domain_id, settings) VALUES ($1, $2::jsonb)"
        " ON CONFLICT (domain_id) DO UPDATE SET settings = EXCLUDED.settings",
        *(domain, json.dumps(settings)),
    )


async def test_settings_of_a_domain_become_its_policy(ground: Ground) -> None:
    domain = await ground.a_domain("shop.example")
    await ground.a_domain("other.example")
    stored = StoredRules()
    assert await stored.refresh(ground.conn) is NO_RULES
    await choose(ground, domain, trailing_slash="strip", strip_params=["sort"], keep_params=["ref"])
    rules = await stored.refresh(ground.conn)
    policy = UrlPolicy(strip_trailing_slash=True, strip_params=("sort",), keep_params=("ref",))
    assert rules.policies == {"shop.example": policy}
    assert await stored.refresh(ground.conn) is rules, "they are read again only when they changed"
    await choose(ground, domain, strip_session_ids=False, strip_subdomains=True)
    rules = await stored.refresh(ground.conn)
    assert rules.policies == {"shop.example": UrlPolicy(strip_session_ids=False)}
    assert rules.whole_sites == {"shop.example"}
    await choose(ground, domain, delay=2)
    assert not await stored.refresh(ground.conn)


async def test_hosts_below_a_whole_site_belong_to_it_unless_they_were_known_before(ground: Ground) -> None:
    shop = await ground.a_domain("shop.example")
    known = await ground.a_domain("de.shop.example")
    await choose(ground, shop, strip_subdomains=True)
    hosts = {
        name: f"http://{name}" for name in ("de.shop.example", "fr.shop.example", "x.fr.shop.example", "b.example")
    }
    await store.add_domains(ground.conn, hosts, source="link", run=None)
    found = await store.find_domains(ground.conn, hosts)
    assert found == {
        "de.shop.example": known,
        "fr.shop.example": shop,
        "x.fr.shop.example": shop,
        "b.example": found["b.example"],
    }
    assert await store.owners_of(ground.conn, ["fr.shop.example"]) == ["shop.example"]
    names = {row["name"] for row in await ground.conn.fetch("SELECT name FROM domains")}
    assert names == {"shop.example", "de.shop.example", "b.example"}


@pytest.mark.parametrize(
    ("typed", "known", "found"),
    [
        ("https://shop.example/a/?ref=1", "https://shop.example/a?ref=1", "https://shop.example/a?ref=1"),
        ("https://shop.example/a/", "https://shop.example/a/", "https://shop.example/a/"),
        ("http://www.shop.example/x", "https://shop.example/x", "https://shop.example/x"),
        ("http://shop.example/x", "http://shop.example/x", "http://shop.example/x"),
        ("https://shop.example/x?utm_id=1", "https://shop.example/x?utm_id=1", "https://shop.example/x?utm_id=1"),
        ("https://fr.shop.example/a/", "https://fr.shop.example/a", "https://fr.shop.example/a"),
        ("https://shop.example/unknown/", "https://shop.example/x", "https://shop.example/unknown"),
    ],
)
async def test_a_typed_url_finds_its_page(ground: Ground, typed: str, known: str, found: str) -> None:
    shop = await ground.a_domain("shop.example", site_origin="https://shop.example")
    await choose(ground, shop, trailing_slash="strip", keep_params=["ref"], strip_subdomains=True)
    await ground.a_page(known, shop)
    located = await locate_url(ground.conn, typed)
    assert (located.url, located.domain) == (found, "shop.example")


async def test_without_rules_nothing_is_read_but_an_empty_index(ground: Ground) -> None:
    assert await load_rules(ground.conn) is NO_RULES
    assert parse_query("https://shop.example/a?ref=1").urls == ("https://shop.example/a?ref=1",)
