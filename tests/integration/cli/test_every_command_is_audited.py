"""Whatever an operator changes from the command line is in the audit log: who, what, to what, how much.

Every command is in one of these lists; a new one fails here until somebody says what it is, and a deed until it is
noted.
"""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tests.conftest import database_url
from tests.integration.engine.stage import WatchedSite, serve
from tests.integration.retention.conftest import DAY, Past, month_of
from tests.integration.retention.conftest import world as past
from tests.integration.scale.next_revision import NEXT, migrations_in, write_migration
from tests.integration.world import Said
from tests.queues import Queues, queues

from forager.cli.main import app
from forager.cli.start import whoami
from forager.db import migrate

__all__ = ["database_url", "past", "queues"]  # a database for each: what they name has the first number
MONTH = month_of(100 * DAY)

LOOKS = """
body, captures,
extract, extractors check, extractors coverage, extractors show, items, records,
completion, man, init extractor, test,
alerts rules, alerts show, alerts targets, archive list, archive verify, audit log, audit politeness, backups, bodies,
check, db status, db url, domain settings, domain show, domain sitemaps, domain traps, domains groups, profiles list,
profiles show,
tasks stats, domains claims, domains denied, domains top, duplicates, errors,
export, fetch, images save, images show, images similar, links, normalize, page show, pages, products changes,
products parsers, products prices, products show, proxies advice, purge list, queue dead, read, report, robots, runs,
search, settings, stats, storage, task, text, token list, user list, webhooks key, why, workers
"""
STARTS = "api, db start, db stop, demo, mcp, playground, reindex, up"
"""Processes, and what concerns a database rather than what is in it."""
NOTED_ELSEWHERE = {
    "repair": "test_deep_check.py: it wants damage",
    "restore": "test_backups_there.py: it wants an empty database",
    "user add": "test_cli_accounts.py: it asks for a password",
    "tasks restart-parsing": "test_reread.py: it wants a body",
    "domain release": "test_changes.py: it wants a trap",
    "domain login": "test_login.py: it wants a site with a login",
    "profiles apply": "test_profiles.py: it wants a file",
}

ABOUT_DOMAINS = (
    ("recover --silent 1", "frontier.recover"),
    ("domain shop.example pause", "domain.pause"),
    ("domain shop.example resume", "domain.resume"),
    ("domain shop.example set --delay 3", "domain.configure"),
    ("domain shop.example block --reason x", "domain.block"),
    ("domain shop.example reset", "domain.reset"),
    ("page http://shop.example/ every 6h", "page.configure"),
    ("domains pause shop.example", "domain.pause"),
    ("domains resume --all", "domain.resume"),
    ("domains reset --filter shop", "domain.reset"),
    ("domains reset-breaker shop.example", "domain.reset_breaker"),
    ("domains deny spam.example --reason x", "domain.deny"),
    ("domains allow spam.example", "domain.allow"),
    ("profiles set shops --delay 2s", "profile.change"),
    ("profiles join shops shop.example", "profile.change"),
    ("profiles leave shops shop.example", "profile.change"),
    ("profiles delete shops", "profile.delete"),
    ("domains score", "domain.score"),
    ("domains rebuild", "domain.rebuild"),
    ("domains merge", "domain.merge"),
    ("seed new.example", "frontier.seed"),
    ("replay --refetch --domain shop.example", "page.refetch"),
    ("schedule run score --once", "schedule.run"),
)
ABOUT_TASKS = (
    ("tasks submit http://shop.example/x --batch lamps", "task.submit_batch"),
    ("tasks pause {task}", "task.pause"),
    ("tasks resume {task}", "task.resume"),
    ("tasks priority 2 {task}", "task.priority"),
    ("tasks cancel {task}", "task.cancel"),
    ("tasks restart {task}", "task.restart"),
    ("tasks restart-failed", "tasks.restart-failed"),
    ("batches restart lamps", "tasks.restart-batch"),
    ("worker drain {worker}", "worker.drain"),
)
ABOUT_THE_HOUSE = (
    ("user invite ann --role admin", "user.invite"),
    ("user invite bob --role admin", "user.invite"),
    ("user set-role bob user", "user.change"),
    ("user disable bob", "user.change"),
    ("user enable bob", "user.change"),
    ("user reset-password bob", "user.reset_password"),
    ("token create ann export", "token.create"),
    ("token revoke 1", "token.revoke"),
    ("user remove bob", "user.remove"),
    ("alerts ack {alert}", "alert.acknowledge"),
    ("alerts resolve {alert}", "alert.resolve"),
    ("alerts mute disk_low", "alert.mute"),
    ("alerts unmute disk_low", "alert.unmute"),
    ("alerts tell https://example.com/hook", "alert.add_target"),
    ("alerts forget 1", "alert.remove_target"),
    ("webhooks revive", "webhook.revive"),
    ("plugins clear", "plugin.clear"),
)
ABOUT_PROXIES = (
    ("proxies add 127.0.0.1:9", "proxy.add"),
    ("proxies set 1 --city Bonn", "proxy.configure"),
    ("proxies assign shop.example 1", "domain.assign_proxies"),
    ("proxies disable 1", "proxy.disable"),
    ("proxies enable 1", "proxy.enable"),
    ("proxies probe 1", "proxy.probe"),
    ("proxies rekey", "proxy.rekey"),
    ("proxies unassign shop.example 1", "domain.unassign_proxy"),
    ("proxies remove 1", "proxy.remove"),
)
ABOUT_HISTORY = (
    ("archive", "history.archive"),
    (f"archive restore {MONTH}", "history.restore"),
    (f"archive drop {MONTH}", "history.drop_restored"),
    (f"purge cold {MONTH} --yes", "cold.purge"),
    ("purge tasks --before 3d --yes", "task.purge"),
    ("purge pages old.example /1 --yes", "page.purge"),
    ("purge frontier --domain old.example --yes", "frontier.clear"),
    ("purge domain old.example --yes", "domain.purge"),
    ("backup", "backup.make"),
)
ABOUT_QUEUES = (("queue redrive --all", "queue.redrive"), ("queue purge --yes", "queue.purge"))
ABOUT_THE_SCHEMA = (("db downgrade -1 --yes", "schema.downgrade"), ("db upgrade", "schema.upgrade"))
CRAWLS = (("crawl {url} --workers 1 --quiet", "run.start"), ("refresh --now --workers 1 --quiet", "run.start"))
DEEDS = (
    *(*ABOUT_DOMAINS, *ABOUT_TASKS, *ABOUT_THE_HOUSE, *ABOUT_PROXIES, *ABOUT_HISTORY),
    *(*ABOUT_QUEUES, *ABOUT_THE_SCHEMA, *CRAWLS),
)


def commands(command: Any, names: tuple[str, ...] = ()) -> Iterator[str]:
    below = getattr(command, "commands", None)
    if not below:
        yield " ".join(names)
        return
    for name, each in below.items():
        yield from commands(each, (*names, name))


def listed(text: str) -> set[str]:
    return {name.strip() for name in text.replace("\n", " ").split(",")}


def named_by(deed: str, known: set[str]) -> str:
    """`domain shop.example pause` is the command `domain pause`."""
    words = deed.split()
    for name in (" ".join(words[:2]), f"{words[0]} {words[min(2, len(words) - 1)]}", words[0]):
        if name in known:
            return name
    return words[0]


def test_every_command_looks_or_starts_or_is_noted() -> None:
    known = set(commands(typer.main.get_command(app)))
    told = listed(LOOKS) | listed(STARTS) | set(NOTED_ELSEWHERE) | {named_by(deed, known) for deed, _ in DEEDS}
    assert known - told == set(), "say here whether they change anything, and how they are noted"
    assert told - known - {"archive", "worker"} == set()


async def carry_out(conn: Any, forager: Any, deeds: tuple[tuple[str, str], ...], **values: object) -> None:
    for deed, action in deeds:
        last = await conn.fetchval("SELECT COALESCE(max(id), 0) FROM audit_log")
        said = await forager(*deed.format(**values).split())
        rows = await conn.fetch("SELECT who, via, action FROM audit_log WHERE id > $1", last)
        assert rows, f"forager {deed} is not noted: {said.err}"
        assert {tuple(row) for row in rows} == {(whoami(), "cli", action)}, deed


async def test_orders_for_domains(forager: Any, world: Any) -> None:
    await world.add_domain("www.idle.example")
    await world.conn.execute(
        "UPDATE domains SET claimed_by = $1, claim_expires_at = now() + interval '1 hour' WHERE name = 'idle.example'",
        world.worker,
    )
    await world.conn.execute("UPDATE workers SET heartbeat_at = now() - interval '1 hour'")
    await carry_out(world.conn, forager, ABOUT_DOMAINS)


async def test_orders_for_tasks(forager: Any, world: Any) -> None:
    task = await world.conn.fetchval("SELECT id FROM crawl_tasks WHERE outcome IS NULL")
    await carry_out(world.conn, forager, ABOUT_TASKS, task=task, worker=world.worker)


async def test_orders_for_the_house(forager: Any, world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORAGER_CONTACT", "test@forager.example")  # else no webhook of a stranger is called
    alert = await world.insert("alerts", rule="disk_low", subject="/", severity="critical", message="Full.")
    await carry_out(world.conn, forager, ABOUT_THE_HOUSE, alert=alert)


async def test_orders_for_proxies(forager: Any, world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORAGER_SECRET_KEY", "8f2c1de07b94a6350d7ecb15f93a42e8")
    monkeypatch.setenv("FORAGER_FETCH_ALLOW_NETWORKS", "127.0.0.0/8")
    await carry_out(world.conn, forager, ABOUT_PROXIES)


async def test_orders_for_history(forager: Any, past: Past) -> None:
    await past.conn.execute("UPDATE workers SET status = 'stopped'")
    await carry_out(past.conn, forager, ABOUT_HISTORY)


async def test_orders_for_queues(forager: Any, world: Any, queues: Queues, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in queues.settings.items():
        monkeypatch.setenv(name, value)
    await carry_out(world.conn, forager, ABOUT_QUEUES)
    await forager("queue", "purge")
    assert await world.conn.fetchval("SELECT count(*) FROM audit_log WHERE object_kind = 'queue'") == 2, "asked only"


async def test_orders_for_the_schema(forager: Any, world: Any, database_url: str, tmp_path: Path) -> None:
    (tmp_path / "later").mkdir()
    write_migration(tmp_path / "later", "CREATE TABLE moods (mood text);", "DROP TABLE moods;")
    with migrations_in(tmp_path / "later"):
        await migrate.upgrade(database_url)
        await carry_out(world.conn, forager, ABOUT_THE_SCHEMA)
        moves = await world.conn.fetch(
            "SELECT details->>'from' AS a, details->>'to' AS b FROM audit_log WHERE object_kind = 'schema' ORDER BY id"
        )
        assert [tuple(row) for row in moves] == [(NEXT, moves[1]["a"]), (moves[0]["b"], NEXT)]
        await forager("db", "upgrade")
    assert await world.conn.fetchval("SELECT count(*) FROM audit_log WHERE object_kind = 'schema'") == 2, (
        "nothing moved"
    )


async def test_a_schema_without_an_audit_log_is_told_in_ours(forager: Any, world: Any) -> None:
    said = await forager("db", "downgrade", "base", "--yes")
    assert (said.code, "schema.moved" in said.err, whoami() in said.err) == (0, True, True), said
    assert await world.conn.fetchval("SELECT to_regclass('audit_log')") is None


@pytest.mark.usefixtures("forager")
async def test_crawls_are_noted_when_they_start(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORAGER_FETCH_ALLOW_NETWORKS", "127.0.0.0/8")

    async def in_a_process(*words: str) -> Said:
        """It listens to signals, which only a main thread may."""
        crawl = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "forager", *words, stderr=asyncio.subprocess.PIPE
        )
        _, err = await crawl.communicate()
        return Said(crawl.returncode or 0, "", err.decode())

    async with serve(WatchedSite(1)) as web:
        await carry_out(world.conn, in_a_process, CRAWLS, url=web.urls[0])
