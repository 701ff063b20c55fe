"""`forager alerts`, `forager errors`, `forager stats`: from words to streams and exit codes, on a real database."""

import json
from typing import Any

import pytest

from forager.stats import series
from forager.stats.counters import CounterMap


@pytest.fixture
async def alert(world: Any) -> int:
    found: int = await world.insert(
        "alerts", rule="disk_low", subject="/data\x1b[31m", severity="critical", message="Hardly anything is free."
    )
    return found


async def test_alerts_are_listed_taken_and_ended(forager: Any, alert: int) -> None:
    said = await forager("alerts")
    assert said.code == 0
    assert "disk_low" in said.out
    assert "Hardly anything is free." in said.out
    assert "\x1b" not in said.out
    said = await forager("alerts", "ack", str(alert), "--reason", "on it")
    assert (said.code, said.err) == (0, "1 alert acknowledged.\n")
    [row] = json.loads((await forager("alerts", "--json")).out)
    assert row["status"] == "acknowledged"
    assert row["acknowledged_by"].startswith("cli")
    shown = (await forager("alerts", "show", str(alert))).out
    assert "docs/runbook/disk-low.md" in shown
    assert "on it" in shown
    assert (await forager("alerts", "resolve", str(alert))).err == "1 alert resolved.\n"
    assert (await forager("alerts")).err == "No alert is open.\n"
    assert "resolved" in (await forager("alerts", "--all")).out


async def test_a_rule_is_muted_for_a_while(forager: Any, alert: int) -> None:
    said = await forager("alerts", "mute", "disk_low", "--for", "2h")
    assert said.err.startswith("No notifications of disk_low until ")
    said = await forager("alerts")
    assert "open (muted)" in said.out
    assert "disk_low is muted; it ends in 1 h." in said.err
    assert (await forager("alerts", "unmute", "disk_low")).err == "Notifications of disk_low are sent again.\n"
    assert (await forager("alerts", "unmute", "disk_low")).err == "disk_low was not muted.\n"


async def test_webhooks_are_told(forager: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORAGER_CONTACT", "test@forager.example")
    said = await forager("alerts", "tell", "https://hooks.example/x", "--only-critical", "--json")
    target = json.loads(said.out)["id"]
    assert "critical alerts" in (await forager("alerts", "targets")).out
    assert (await forager("alerts", "forget", str(target))).err == "https://hooks.example/x receives no more alerts.\n"
    assert "No webhook receives alerts." in (await forager("alerts", "targets")).err


@pytest.mark.parametrize(
    ("command", "code", "sentence"),
    [
        (["alerts", "ack", "99"], 3, "There is no alert 99."),
        (["alerts", "mute", "disc_low"], 3, "Did you mean disk_low?"),
        (["alerts", "mute", "disk_low", "--for", "90"], 2, "is not a duration"),
        (["alerts", "tell", "http://127.0.0.1/x"], 2, "127.0.0.1"),
        (["alerts", "tell", "ftp://a.example/"], 2, "ftp"),
        (["alerts", "--json", "rules"], 2, "Flags of `rules` stand behind it"),
        (["errors", "abcd"], 3, "No failure has the fingerprint 'abcd'."),
        (["errors", "--redrive"], 2, "What is to be tried again?"),
        (["errors", "--dry-run"], 2, "--dry-run belongs to --redrive."),
        (["errors", "--since", "yesterday"], 2, "is not a duration"),
        (["stats", "pages"], 3, "There is no metric 'pages'."),
        (["stats", "bytes", "--step", "7m"], 2, "A step is a minute at least"),
    ],
)
async def test_what_cannot_be_done_is_one_sentence(forager: Any, command: list[str], code: int, sentence: str) -> None:
    said = await forager(*command)
    assert said.code == code
    assert said.out == ""
    assert sentence in said.err
    assert said.err.startswith("forager: ")


async def test_errors_by_problem_and_one_in_full(forager: Any) -> None:
    said = await forager("errors")
    assert "http_status: the server answered 404" in said.out
    assert "1 failure, 1 problem." in said.err
    [row] = json.loads((await forager("errors", "--json")).out)
    shown = await forager("errors", row["fingerprint"][:6])
    assert "http://shop.example/gone" in shown.out
    assert "blamed on site" in shown.out
    assert json.loads((await forager("errors", row["fingerprint"], "--json")).out)["pattern"]["failures"] == 1
    assert (await forager("errors", "--category", "us")).err == "No errors in this time.\n"


async def test_dead_letters_are_shown_and_tried_again(forager: Any, world: Any) -> None:
    assert (await forager("errors", "--dead")).err == "Nothing was given up.\n"
    url = "http://shop.example/broken"
    await world.add_page(url, status="failed")
    await world.close(url, "failed", None, error_code="broken", error_message="KeyError: 'x'", blame="us")
    assert url in (await forager("errors", "--dead")).out
    said = await forager("errors", "--dead", "--redrive", "--dry-run")
    assert said.err == "1 visit would be tried again.\n"
    assert (await forager("errors", "--dead", "--redrive")).err == "1 visit tried again.\n"
    assert (await forager("errors", "--dead", "--redrive")).err == "0 visits tried again.\n"


async def test_everything_at_a_glance(forager: Any) -> None:
    said = await forager("stats")
    assert said.code == 0
    assert "5 known, 2 read, 2 to visit" in said.out
    assert json.loads((await forager("stats", "--json")).out)["domains"] == 2


async def test_one_number_over_time(forager: Any, world: Any) -> None:
    tally = CounterMap()
    tally.add("bytes", amount=1234)
    await series.add(world.conn, 1, tally)
    said = await forager("stats", "bytes", "--since", "10m")
    assert said.out.splitlines()[0].split() == ["at", "label", "bytes"]
    assert "1,234  ▇" in said.out
    found = json.loads((await forager("stats", "bytes", "--json")).out)
    assert (found["step_s"], found["unit"]) == (60, "bytes")
    assert sum(point["value"] for point in found["points"]) == 1234
