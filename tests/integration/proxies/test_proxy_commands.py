"""`forager proxies`, from words to rows: what an operator may do, and that no password is ever seen again."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from forager.config.cipher import PasswordCipher
from forager.config.keys import get_cipher
from forager.config.loader import load

SHOP = "shop.example"
KEY, NEW_KEY = "8f2c1de07b94a6350d7ecb15f93a42e8", "c41b0e7a9d5286f3e70b18d4a6f25c93"
SECRET = "hunter2-hunter2"
WITH_ACCOUNT = f"http://user:{SECRET}@proxy.example:3128"


@pytest.fixture(autouse=True)
def a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORAGER_SECRET_KEY", KEY)


async def rows(world: Any, table: str = "proxies") -> list[dict[str, Any]]:
    return [dict(row) for row in await world.conn.fetch(f"SELECT * FROM {table} ORDER BY 1, 2")]


async def add(forager: Any, count: int = 3, *flags: str) -> list[int]:
    said = await forager(
        "proxies", "add", *[f"10.0.0.{number}:3128" for number in range(1, count + 1)], *flags, "--json"
    )
    return [row["id"] for row in json.loads(said.out)]


# Having ---------------------------------------------------------------------------------------------------------------


async def test_a_password_is_sealed_at_once_and_never_seen_again(forager: Any, world: Any) -> None:
    said = await forager("proxies", "add", WITH_ACCOUNT)
    [row] = await rows(world)
    assert (said.code, row["username"], row["port"]) == (0, "user", 3128)
    assert PasswordCipher([KEY]).open(row["sealed_password"], "it") == SECRET
    assert SECRET not in str(row)
    heard = [said, await forager("proxies"), await forager("proxies", "--json")]
    heard += [await forager("settings"), await forager("settings", "--json")]
    assert "user:***@proxy.example:3128" in heard[1].out
    assert json.loads(heard[2].out)[0]["has_password"] is True
    for words in heard:
        assert not {SECRET, KEY, row["sealed_password"]} & set((words.out + words.err).replace('"', " ").split())
        assert SECRET not in words.out + words.err
        assert KEY not in words.out + words.err


async def test_facts_are_kept_and_can_be_told_later(forager: Any, world: Any) -> None:
    await forager("proxies", "add", WITH_ACCOUNT, *["--country", "de", "--city", "Berlin", "--provider", "acme"])
    said = await forager(
        "proxies", "add", "http://user@proxy.example:3128", *["--monthly-cost", "4.50", "--per-hour", "20"]
    )
    assert "Known already" in said.err
    [row] = await rows(world)
    assert (row["country_code"], row["city"], row["provider"], str(row["monthly_cost"])) == (
        "DE",
        "Berlin",
        "acme",
        "4.50",
    )
    assert (row["max_requests_per_hour"], row["sealed_password"] is not None, row["is_forwarding"]) == (20, True, False)


async def test_a_list_of_proxies_is_added_whole_or_not_at_all(forager: Any, world: Any, tmp_path: Path) -> None:
    listed = tmp_path / "proxies.txt"
    listed.write_text(f"# ours\n{WITH_ACCOUNT}\n\nsocks5://10.0.0.2:1080\nhttps://[2001:db8::1]:8443\n")
    said = await forager("proxies", "add", "--file", str(listed), "--forward")
    assert (said.code, len(await rows(world))) == (0, 3)
    listed.write_text(f"http://10.0.0.9:1\nhttp://user:{SECRET}@no-port.example\n")
    said = await forager("proxies", "add", "-f", str(listed))
    assert (said.code, len(await rows(world))) == (2, 3)
    assert "has no port" in said.err
    assert "(address 2)" in said.err
    assert SECRET not in said.err


async def test_without_a_key_one_is_made_and_kept(
    forager: Any, world: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("FORAGER_SECRET_KEY")
    home = tmp_path / "keys"
    monkeypatch.setenv("FORAGER_HOME", str(home))
    before = get_cipher(load())
    assert (await forager("proxies", "add", "10.0.0.1:3128")).code == 0
    assert not (home / "secret.key").exists(), "made when there is a password"
    assert (await forager("proxies", "add", WITH_ACCOUNT)).code == 0
    assert stat.S_IMODE((home / "secret.key").stat().st_mode) == 0o600
    sealed = await world.conn.fetchval("SELECT sealed_password FROM proxies WHERE sealed_password IS NOT NULL")
    assert before.open(sealed, "it") == SECRET, "who runs already need not be started again"
    monkeypatch.setenv("FORAGER_SECRET_KEY", KEY)
    assert get_cipher(load()).open(sealed, "it") == SECRET, "what it sealed is read beside a key that is set later"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("add", "Name a proxy, or a file"),
        ("add ftp://host:1", "is no proxy Forager can use"),
        ("add host:1 --country Germany", "is no country"),
        ("add host:1 --monthly-cost much", "is no amount of money"),
        ("add host:1 --per-hour 0", "--per-hour"),
        ("add -f /nowhere/at/all", "No such file"),
        ("assign shop.example", "Which proxies?"),
        ("assign shop.example 1 --priority 11", "--priority"),
        ("remove x", "x"),
    ],
)
async def test_nonsense_is_refused_in_a_sentence(forager: Any, world: Any, words: str, sentence: str) -> None:
    said = await forager("proxies", *words.split())
    assert said.code in {1, 2}
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert await rows(world) == []


@pytest.mark.parametrize(
    "words", ["remove 99", "enable 99", "disable 99", "probe 99", "assign shop.example 99", "unassign shop.example 99"]
)
async def test_what_does_not_exist_is_not_found(forager: Any, words: str) -> None:
    said = await forager("proxies", *words.split())
    assert (said.code, said.err.count("\n")) == (3, 1)
    assert "99" in said.err


async def test_passwords_move_to_another_key(forager: Any, world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    await forager("proxies", "add", WITH_ACCOUNT)
    monkeypatch.setenv("FORAGER_SECRET_KEY", NEW_KEY)
    said = await forager("proxies", "rekey")
    assert (said.code, said.err.count("\n")) == (4, 1)
    monkeypatch.setenv("FORAGER_SECRET_KEY", f"{NEW_KEY},{KEY}")
    assert (await forager("proxies", "rekey")).code == 0
    [row] = await rows(world)
    assert PasswordCipher([NEW_KEY]).open(row["sealed_password"], "it") == SECRET


# Pools ----------------------------------------------------------------------------------------------------------------


async def test_a_pool_is_assigned_and_taken_away_and_the_history_says_so(forager: Any, world: Any) -> None:
    one, two, three = await add(forager)
    said = await forager("proxies", "assign", f"https://www.{SHOP}/x", str(one), str(two), "--priority", "2")
    assert (said.code, "asked through 2 more proxies" in said.err) == (0, True)
    again = await forager("proxies", "assign", SHOP, str(two), str(three), "--json")
    assert json.loads(again.out) == {"domain": SHOP, "proxies": [two, three], "new": [three]}
    pairs = {row["proxy_id"]: row["priority"] for row in await rows(world, "domain_proxies")}
    assert pairs == {one: 2, two: 2, three: 5}
    assert (await forager("proxies", "unassign", SHOP, str(one))).code == 0
    assert (await forager("proxies", "unassign", SHOP)).code == 0
    assert await rows(world, "domain_proxies") == []
    reasons = await world.conn.fetch("SELECT reason FROM domain_history ORDER BY id")
    assert [row["reason"] for row in reasons] == [
        f"asked through proxies {one}, {two}",
        f"asked through proxy {three}",
        f"no longer asked through proxy {one}",
        f"no longer asked through proxies {two}, {three}",
    ]


async def test_all_of_a_country_or_provider_are_assigned(forager: Any, world: Any) -> None:
    [german] = await add(forager, 1, "--country", "de")
    await forager("proxies", "add", "10.1.0.1:1", "--provider", "acme")
    await forager("proxies", "assign", SHOP, "--country", "DE")
    assert [row["proxy_id"] for row in await rows(world, "domain_proxies")] == [german]
    await forager("proxies", "assign", SHOP, "--provider", "acme")
    assert len(await rows(world, "domain_proxies")) == 2
    assert (await forager("proxies", "assign", SHOP, "--country", "FR")).code == 3


async def test_the_last_proxy_of_a_domain_is_not_removed_by_accident(forager: Any, world: Any) -> None:
    one, two, three = await add(forager)
    await forager("proxies", "assign", SHOP, str(one), str(two))
    assert (await forager("proxies", "remove", str(one))).code == 0
    said = await forager("proxies", "remove", str(two), str(three))
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert f"{SHOP} would have no proxy left" in said.err
    assert (await forager("proxies", "remove", str(two), str(three), "--force", "--json")).out.split() != []
    assert await rows(world) == []


async def test_switching_forgets_failures_and_the_probe(forager: Any, world: Any) -> None:
    [one, *_] = await add(forager)
    await forager("proxies", "assign", SHOP, str(one))
    off = "is_active = false, consecutive_failures = 10, failures = 10, probe_at = now(), failed_probes = 3"
    for table in ("proxies", "domain_proxies"):
        await world.conn.execute(f"UPDATE {table} SET {off}")
    assert (await forager("proxies", "enable", str(one))).code == 0
    row, [pair] = (await rows(world))[0], await rows(world, "domain_proxies")
    state = ("is_active", "consecutive_failures", "probe_at", "failed_probes", "failures")
    assert [row[name] for name in state] == [True, 0, None, 0, 10]
    assert pair["is_active"] is False
    said = await forager("proxies", "enable", str(one), "--domain", SHOP, "--json")
    assert json.loads(said.out) == {"proxies": [one], "domain": SHOP, "is_active": True}
    [pair] = await rows(world, "domain_proxies")
    assert [pair[name] for name in state] == [True, 0, None, 0, 10]
    assert (await forager("proxies", "disable", str(one))).code == 0
    assert [(await rows(world))[0][name] for name in state] == [False, 0, None, 0, 10]


async def test_how_a_domain_uses_its_pool_is_set_with_the_domain(forager: Any, world: Any) -> None:
    said = await forager("domain", SHOP, "set", "--proxy-country", "de", "--pace-per-proxy")
    assert (said.code, "proxy_country DE, delay_per_proxy on" in said.err) == (0, True)
    row = await world.conn.fetchrow("SELECT proxy_country, paces_per_proxy FROM domains WHERE name = $1", SHOP)
    assert tuple(row) == ("DE", True)
    await forager("domain", SHOP, "set", "--proxy-country", "default", "--no-pace-per-proxy")
    row = await world.conn.fetchrow("SELECT proxy_country, paces_per_proxy FROM domains WHERE name = $1", SHOP)
    assert tuple(row) == (None, False)
    assert (await forager("domain", SHOP, "set", "--proxy-country", "Germany")).code == 2


async def test_a_domain_is_excepted_from_verification_with_a_warning_and_taken_back_without(
    forager: Any, world: Any
) -> None:
    said = await forager("domain", SHOP, "set", "--no-verify-tls", "--json")
    assert (said.code, json.loads(said.out)["changes"], "Warning: " in said.err) == (0, {"verify_tls": False}, True)
    assert "not verified" in (await forager("domain", SHOP)).out
    said = await forager("domain", SHOP, "set", "--verify-tls")
    assert (said.code, "verify_tls on" in said.err, "Warning" in said.err) == (0, True, False)
    assert await world.conn.fetchval("SELECT verifies_tls FROM domains WHERE name = $1", SHOP) is True
    assert "not verified" not in (await forager("domain", SHOP)).out


# Looking --------------------------------------------------------------------------------------------------------------


async def test_a_pool_is_listed_with_its_health_there(forager: Any, world: Any) -> None:
    one, two, _ = await add(forager, 3, "--monthly-cost", "5")
    await forager("proxies", "assign", SHOP, str(one), str(two))
    await world.conn.execute(
        "UPDATE domain_proxies SET successes = 2, failures = 1, last_used_at = now(), avg_response_time_ms = 120,"
        " last_error = 'it hung up', consecutive_failures = 1 WHERE proxy_id = $1",
        one,
    )
    found = {row["id"]: row for row in json.loads((await forager("proxies", "--domain", SHOP, "--json")).out)}
    assert set(found) == {one, two}
    assert (found[one]["success_rate_percent"], found[two]["success_rate_percent"]) == (66.67, None)
    said = await forager("proxies", "--domain", SHOP)
    assert "it hung up" in said.out
    assert "failing" in said.out
    assert "3 proxies, 3 on, 15.00 a month." in said.err


async def test_what_is_unused_and_what_it_costs_is_told(forager: Any, world: Any) -> None:
    await add(forager, 2, "--monthly-cost", "5")
    await world.conn.execute("UPDATE proxies SET created_at = now() - interval '8 days'")
    assert "2 unused for a week, which cost 10.00 a month" in (await forager("proxies")).err


async def test_advice(forager: Any, world: Any) -> None:
    assert "need 6 proxies" in (await forager("proxies", "advice", "--pages-per-hour", "100", "--per-proxy", "20")).err
    ids = await add(forager, 2)
    await forager("proxies", "assign", SHOP, *map(str, ids))
    await world.conn.execute("UPDATE domain_proxies SET successes = 8, failures = 2")
    [each] = json.loads(
        (await forager("proxies", "advice", "--pages-per-hour", "100", "--per-proxy", "20", "--json")).out
    )
    assert (each["domain"], each["proxies"], each["active"], each["needed"]) == (SHOP, 2, 2, 6)
    assert each["remarks"] == ["4 more needed", "fewer than 3 work", "20 % of requests failed"]
    assert each["failed_percent"] == 20.0
    [each] = json.loads((await forager("proxies", "advice", SHOP, "--json")).out)
    assert (each["pages_per_hour"], each["requests_per_proxy_hour"], each["needed"]) == (3600.0, 1000.0, 5)
    assert (
        "4 more needed"
        in (await forager("proxies", "advice", SHOP, "--pages-per-hour", "100", "--per-proxy", "20")).out
    )


async def test_a_domain_without_any_proxy_can_be_asked_about(forager: Any) -> None:
    [each] = json.loads((await forager("proxies", "advice", SHOP, "--json")).out)
    assert (each["proxies"], each["active"], "fewer than 3 work" in each["remarks"]) == (0, 0, True)


async def test_probing_by_hand_says_what_is_wrong(forager: Any, world: Any) -> None:
    [one] = await add(forager, 1)
    said = await forager("proxies", "probe", "--json")
    assert said.code == 1
    assert json.loads(said.out)[0]["id"] == one
    assert "may not be dialled: 10.0.0.1 is a private address" in said.out
    assert "broken" in (await forager("proxies", "probe", str(one))).out


async def test_flags_of_a_verb_stand_behind_it(forager: Any) -> None:
    said = await forager("proxies", "--json", "probe")
    assert (said.code, "stand behind it" in said.err) == (2, True)


async def test_nothing_there_says_how_to_begin(forager: Any) -> None:
    said = await forager("proxies")
    assert (said.code, "forager proxies add" in said.err) == (0, True)


# Many domains, and facts ----------------------------------------------------------------------------------------------


async def test_facts_are_set_and_cleared(forager: Any, world: Any) -> None:
    [one] = await add(forager, 1, "--country", "de", "--city", "Bonn", "--monthly-cost", "4.50")
    said = await forager("proxies", "set", str(one), "--city", "none", "--monthly-cost", "none", "--default")
    [row] = await rows(world)
    assert (said.code, row["city"], row["monthly_cost"], row["is_default"]) == (0, None, None, True)
    assert row["country_code"] == "DE"
    assert "default" in (await forager("proxies")).out
    said = await forager("proxies", "set", str(one), "--no-default", "--country", "us", "--per-hour", "7", "--json")
    [row] = await rows(world)
    assert (row["is_default"], row["country_code"], row["max_requests_per_hour"]) == (False, "US", 7)
    assert json.loads(said.out)["proxies"] == [one]
    assert (await forager("proxies", "set", str(one))).code == 2
    assert (await forager("proxies", "set", "99", "--default")).code != 0


async def test_an_unknown_domain_is_added_with_its_pool(forager: Any, world: Any) -> None:
    [one] = await add(forager, 1)
    said = await forager("proxies", "assign", "https://new.example/shop", str(one))
    assert (said.code, "new.example is asked through 1 more proxy" in said.err) == (0, True)
    found = await world.conn.fetchval("SELECT base_url FROM domains WHERE name = 'new.example'")
    assert found == "https://new.example"
    assert (await forager("proxies", "assign", "nonsense", str(one))).code != 0


async def test_proxies_are_assigned_to_many_domains_at_once(forager: Any, world: Any) -> None:
    one, two = await add(forager, 2)
    said = await forager("proxies", "assign", "a.example.org,b.example.org", str(one), "--json")
    assert [(each["domain"], each["new"]) for each in json.loads(said.out)] == [
        ("a.example.org", [one]),
        ("b.example.org", [one]),
    ]
    await forager("proxies", "assign", "*.example.org", str(two))
    pairs = await rows(world, "domain_proxies")
    assert len(pairs) == 4
    await forager("proxies", "assign", "--all", str(two))
    count = await world.conn.fetchval("SELECT count(*) FROM domains")
    assert sum(pair["proxy_id"] == two for pair in await rows(world, "domain_proxies")) == count
    assert (await forager("proxies", "assign", "*.nowhere.test", str(one))).code != 0
    assert (await forager("proxies", "assign", "--profile", "none-such", str(one))).code != 0


async def test_the_last_proxy_may_go_where_the_default_pool_serves(forager: Any, world: Any) -> None:
    one, two = await add(forager, 2)
    await forager("proxies", "assign", SHOP, str(one))
    assert (await forager("proxies", "remove", str(one))).code == 2
    await forager("proxies", "set", str(two), "--default")
    assert (await forager("proxies", "remove", str(one))).code == 0
    shown = json.loads((await forager("proxies", "--domain", SHOP, "--json")).out)
    assert [(row["id"], row["is_assigned"]) for row in shown] == [(two, False)]
    assert "the default pool of 1 proxy" in (await forager("why", SHOP)).out
    await forager("proxies", "set", str(two), "--no-default")
    assert "its pool lost its last proxy" in (await forager("why", SHOP)).out
    await forager("domain", SHOP, "set", "--proxy", "always")
    assert "never asked directly" in (await forager("why", SHOP)).out
