"""`why`, `audit politeness` and `check`, from words to streams and exit codes, on a real database."""

import json
from typing import Any

import pytest

from forager.cli import output

TOO_CLOSE = """UPDATE crawl_tasks SET requested_at = now() + id * interval '9 ms', pace_ms = 1000
    WHERE outcome IS NOT NULL"""


# why -----------------------------------------------------------------------------------------------------------------


async def test_why_of_a_page_shows_its_gates_then_its_domains_then_the_answer(forager: Any) -> None:
    said = await forager("why", "http://shop.example/gone")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "http://shop.example/gone"
    assert lines.index("domain shop.example") > 0
    assert "  ✗ status      gone: the server says it is gone" in lines
    assert "  ✓ state       active" in lines
    assert any(line.startswith("  · priority    score ") for line in lines)
    assert lines[-1].startswith("It will not be fetched: gone")
    assert "\x1b" not in said.out


async def test_why_of_a_domain(forager: Any) -> None:
    said = await forager("why", "shop.example")
    assert said.out.splitlines()[0] == "shop.example"
    assert said.out.splitlines()[-1] == "It will be fetched in a moment: every gate is open."


async def test_why_says_when_a_gate_opens(forager: Any, world: Any) -> None:
    await world.conn.execute("UPDATE domains SET next_crawl_after = now() + interval '90 minutes 55 seconds'")
    said = await forager("why", "shop.example")
    assert "  ✗ cooldown    it rests, opens " in said.out
    assert " (in 1 h 30 m): it rests." in said.out


async def test_why_as_json(forager: Any) -> None:
    document = json.loads((await forager("why", "shop.example/later", "--json")).out)
    assert document["url"] == "http://shop.example/later"
    assert document["answer"] == "at"
    assert document["next_fetch_at"] is not None
    assert document["sentence"].startswith("It will be fetched ")
    assert {gate["name"] for gate in document["page_checks"]} >= {
        "known",
        "scope",
        "depth",
        "robots",
        "address",
        "task",
    }
    gate = next(gate for gate in document["domain_checks"] if gate["name"] == "lease")
    assert gate == {"name": "lease", "is_open": True, "sentence": "nobody holds it", "opens_at": None, "remedy": None}


async def test_why_of_what_is_not_known(forager: Any) -> None:
    said = await forager("why", "http://münchen.example:8099/x?q=ü")
    assert said.code == 0
    assert said.out.splitlines()[0] == "http://xn--mnchen-3ya.example:8099/x?q=%C3%BC"
    assert "forager crawl" in said.out


async def test_why_of_nonsense(forager: Any) -> None:
    said = await forager("why", "not a name")
    assert said.code == 2
    assert said.err.startswith("forager: ")
    assert said.err.count("\n") == 1


async def test_why_fits_a_narrow_terminal(forager: Any, world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "PIPE_WIDTH", 80)
    await world.conn.execute(
        "INSERT INTO origins VALUES ($1, 'http://shop.example', $2, 200, NULL, now(), now() + interval '1 hour')",
        world.domains["shop.example"],
        "User-agent: *\nDisallow: /later\n",
    )
    said = await forager("why", "http://shop.example/later")
    assert "✗ robots" in said.out
    assert max(map(len, said.out.splitlines())) <= 80


async def test_why_cannot_be_made_to_move_the_cursor(forager: Any, world: Any) -> None:
    await world.conn.execute(
        "UPDATE domains SET status = 'blocked', block_reason_code = 'x', block_reason = E'\\x1b[2J' WHERE name ~ 'shop'"
    )
    assert "\x1b" not in (await forager("why", "shop.example")).out


# audit ---------------------------------------------------------------------------------------------------------------


async def test_audit_of_nothing(forager: Any) -> None:
    said = await forager("audit", "politeness")
    assert (said.code, said.out) == (0, "")
    assert said.err == "No request is recorded, so there is nothing to prove.\n"


async def test_audit_of_a_polite_history(forager: Any, world: Any) -> None:
    await world.damage("UPDATE crawl_tasks SET requested_at = now() - id * interval '1 s', pace_ms = 1000")
    said = await forager("audit", "politeness", "--since", "7d")
    assert (said.code, said.err) == (0, "")
    assert "requests to 1 domain on record" in said.out
    assert " ✓ No request came too early: " in said.out
    assert "1.000 s" in said.out


async def test_audit_names_what_was_impolite(forager: Any, world: Any) -> None:
    await world.damage(TOO_CLOSE)
    said = await forager("audit", "politeness", "--domain", "shop.example")
    assert said.code == 1
    assert " ✗ 2 requests came earlier than the pace in force allows:" in said.out
    assert "ms after task" in said.out
    document = json.loads((await forager("audit", "politeness", "--json")).out)
    assert document["is_clean"] is False
    assert document["pace"]["too_early"] == len(document["pace"]["examples"]) == 2


async def test_audit_tells_unpaced_and_unproved_apart(forager: Any, world: Any) -> None:
    await world.damage("UPDATE crawl_tasks SET requested_at = completed_at, pace_ms = CASE WHEN id % 2 = 0 THEN 0 END")
    said = await forager("audit", "politeness")
    assert said.code == 0
    assert "no pace was written down for them" in said.out
    assert "1 host by your leave: shop.example" in said.out
    assert "No pace can be judged" in said.out


@pytest.mark.parametrize("when", ["yesterday", "7x", "-1d", "2026-13-01", "", "999999999999d"])
async def test_audit_refuses_a_time_that_is_none(forager: Any, when: str) -> None:
    said = await forager("audit", "politeness", f"--since={when}")
    assert said.code == 2
    assert "--since" in said.err


# check ---------------------------------------------------------------------------------------------------------------


async def test_check_counts_what_it_looked_at(forager: Any) -> None:
    said = await forager("check")
    assert said.code == 0
    assert "      url_hashes         looked at 5 pages" in said.out.splitlines()
    assert "      moves_guard        looked at 3 triggers" in said.out.splitlines()
    document = json.loads((await forager("check", "--json")).out)
    counts = {check["name"]: check["looked_at"] for promise in document["promises"] for check in promise["checks"]}
    assert counts["url_hashes"] == 5
    assert len(document["promises"]) == 7


async def test_check_asks_for_the_pace(forager: Any, world: Any) -> None:
    await world.damage(TOO_CLOSE)
    said = await forager("check")
    assert said.code == 1
    assert " ✗ 6  Every request keeps the pace of its domain  2 broken rows" in said.out
    assert "      pace               looked at 3 requests, 2 broken" in said.out
    assert said.err.startswith("forager: guarantee violated: 6 (every request keeps the pace of its domain).\n")
