"""Jobs, alert rules and receivers that plug-ins register, in a real scheduler; and what is recorded of failures."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from forager.alerts.service import add_target, list_rules
from forager.config.loader import load
from forager.instance import Forager, open_forager
from forager.plugins import registry, store
from forager.plugins.config import use_plugins
from forager.plugins.models import NO_PLUGINS
from forager.runtime.schedule import run_jobs_once

PLUGIN = """
import time
from pathlib import Path
import forager
from forager.plugins import AlertRule, Notifier, RuleFinding, ScheduledJob

def fail(settings):
    raise ValueError("no")

async def later(settings):
    return "later"

@forager.hookimpl
def register_jobs():
    return [
        ScheduledJob("greet", "1h", lambda settings: f"hello from {settings.home.name}"),
        ScheduledJob("later", "1h", later),
        ScheduledJob("fail", "1h", fail),
        ScheduledJob("hang", "1h", lambda settings: time.sleep(3600), timeout="200ms"),
        ScheduledJob("backup", "1h", fail),
        ScheduledJob("Bad Name", "1h", fail),
    ]

@forager.hookimpl
def register_alert_rules():
    return [
        AlertRule("too_quiet", "Too quiet.", lambda facts: [RuleFinding(f"{facts.visits:.0f} visits.")], hold="0s"),
        AlertRule("broken_rule", "It is broken.", lambda facts: 1 / 0, hold="0s"),
        AlertRule("disk_low", "It is ours.", lambda facts: []),
    ]

@forager.hookimpl
def register_notifiers():
    return [Notifier("file", lambda target, document: Path(target).write_text(document["message"]))]
"""


@pytest.fixture
async def forager(database_url: str, tmp_path: Path) -> AsyncIterator[Forager]:
    settings = load({"database_url": database_url, "home": str(tmp_path / "home")}, {})
    async with open_forager(settings, application="test", connections=6) as opened:
        yield opened


@pytest.fixture
def own_plugins(forager: Forager) -> Iterator[Path]:
    folder = forager.settings.home / "plugins"
    folder.mkdir(parents=True)
    (folder / "house.py").write_text(PLUGIN)
    registry.configure(NO_PLUGINS)
    use_plugins(forager.settings)
    yield folder
    registry.configure(NO_PLUGINS)


async def test_jobs_run_beside_ours_and_fail_alone(forager: Forager, own_plugins: Path) -> None:
    runs = {run.name: run for run in await run_jobs_once(forager, ["greet", "later", "fail", "hang"])}
    assert runs["greet"].result == f"hello from {forager.settings.home.name}"
    assert runs["later"].result == "later"
    assert runs["fail"].error == "ValueError: no"
    assert "longer than 0.2 s" in (runs["hang"].error or "")
    async with forager.pool.acquire() as conn:
        rows = await store.list_errors(conn)
    (errors,) = [row for row in rows if row.hook == "register_jobs"]
    assert errors.plugin == "house"
    assert errors.errors >= 4, "two names that cannot be used, and two failures"


async def test_a_rule_raises_an_alert_that_a_receiver_gets(forager: Forager, own_plugins: Path, tmp_path: Path) -> None:
    told = tmp_path / "told.txt"
    async with forager.pool.acquire() as conn:
        await add_target(conn, f"file:{told}", by="test")
    assert {"too_quiet", "broken_rule", "disk_low"} <= {row["rule"] for row in list_rules()}
    await run_jobs_once(forager, ["alerts"])
    raised = {row["rule"]: row["message"] for row in await forager.pool.fetch("SELECT rule, message FROM alerts")}
    assert raised["too_quiet"] == "0 visits."
    assert "broken_rule" not in raised
    await run_jobs_once(forager, ["webhooks"])
    assert told.read_text()
    async with forager.pool.acquire() as conn:
        hooks = {row.hook: row for row in await store.list_errors(conn)}
        assert hooks["register_alert_rules"].errors >= 2, "a name that is ours, and a rule that is broken"
        await store.clear_errors(conn, "house")
        assert await store.list_errors(conn) == []
