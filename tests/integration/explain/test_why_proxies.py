"""`forager why` says which way a domain is asked, and that it waits for its proxies."""

from typing import Any

SHOP = "shop.example"


async def test_a_pool_is_a_gate_of_its_domain(forager: Any, world: Any) -> None:
    assert "proxies" not in (await forager("why", SHOP)).out
    await forager("proxies", "add", "10.0.0.1:1", "10.0.0.2:1", "--country", "US")
    ids = [str(row["id"]) for row in await world.conn.fetch("SELECT id FROM proxies ORDER BY id")]
    await forager("proxies", "assign", SHOP, *ids)
    assert "✓ proxies     asked through 2 proxies, 2 on" in (await forager("why", SHOP)).out
    await world.conn.execute(
        "UPDATE proxies SET is_active = false, probe_at = now() + interval '1 hour' WHERE id = $1", int(ids[0])
    )
    assert "2 proxies, 1 on" in (await forager("why", SHOP)).out
    await forager("domain", SHOP, "set", "--proxy-country", "DE")
    said = await forager("why", SHOP)
    assert "✗ proxies     asked through 2 proxies, none on, opens" in said.out
    await forager("proxies", "enable", *ids)
    await forager("proxies", "disable", *ids)
    said = await forager("why", SHOP)
    assert "✗ proxies     asked through 2 proxies, none on" in said.out
    assert f"forager proxies --domain {SHOP}" in said.out
