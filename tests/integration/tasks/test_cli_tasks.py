"""The commands for tasks, batches and webhooks: from words to rows, sentences and exit codes."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.ground import Ground
from tests.integration.tasks.desk import broken, close, order

from forager.cli.main import run
from forager.frontier.task_status import TaskStatus
from forager.runs.service import continuous_spec
from forager.stats import store as stats

URL = "http://a.example/x"


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def forager(
    database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Any]:
    monkeypatch.setenv("FORAGER_DATABASE_URL", database_url)
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FORAGER_CONTACT", "test@forager.example")

    async def call(*arguments: str) -> Said:
        code = await asyncio.to_thread(run, arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Said(code, captured.out, captured.err)

    return call


async def test_visits_are_ordered_by_url_and_by_list(forager: Any, ground: Ground, tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text("# lamps\n\nhttp://a.example/1 1\nhttp://a.example/2\n")
    words = ("--priority", "7", "--retries", "0", "--once", "--batch", "lamps", "--webhook", "http://h.example/")
    said = await forager("tasks", "submit", URL, "-f", str(tmp_path / "urls.txt"), *words)
    assert (said.code, said.err) == (0, "3 tasks in batch 'lamps'.\n")
    rows = await ground.conn.fetch(
        "SELECT p.url, t.priority, t.max_retries, t.is_recurring, t.webhook_url, t.created_by FROM crawl_tasks t"
        " JOIN pages p ON p.id = t.page_id ORDER BY p.url"
    )
    assert [row["priority"] for row in rows] == [1, 7, 7]
    assert {(row["max_retries"], row["is_recurring"], row["webhook_url"]) for row in rows} == {
        (0, False, "http://h.example/")
    }
    assert all(row["created_by"].startswith("cli") for row in rows)
    again = await forager("tasks", "submit", URL, "--batch", "lamps", "--json")
    assert json.loads(again.out)["tasks"][0]["was_changed"] is False
    assert "lamps" in (await forager("batches")).out
    assert json.loads((await forager("batches", "--json")).out)[0]["pages"] == 3
    assert not await broken(ground.conn)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("http://a.example/1 first\n", "Line 1 of"),
        ("http://a.example/1\n\nhttp://a.example/2 1 2\n", "Line 3 of"),
        ("http://a.example/1 11\n", "There is no priority 11"),
        ("", "There is nothing to submit"),
    ],
)
async def test_a_bad_list_orders_nothing(
    forager: Any, ground: Ground, tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "urls.txt").write_text(text)
    said = await forager("tasks", "submit", "-f", str(tmp_path / "urls.txt"))
    assert (said.code, said.out) == (2, "")
    assert sentence in said.err
    assert await ground.conn.fetchval("SELECT count(*) FROM pages") == 0


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ("submit http://10.0.0.1/", 2, "private address"),
        ("submit http://a.example/ --webhook http://127.0.0.1/", 2, "loopback address"),
        ("submit http://a.example/ --once --every 1h", 2, "contradict"),
        ("submit http://a.example/ --at yesterday", 2, "is no time"),
        ("submit http://a.example/ --after 4711", 3, "There is no task 4711"),
        ("submit -f /nowhere", 2, "cannot be read"),
        ("pause", 2, "Say which tasks"),
        ("pause 4711", 3, "There is no task 4711"),
        ("cancel --batch x", 3, "There is no batch 'x'"),
        ("resume --domain x.example", 3, "There is no domain"),
        ("restart 4711", 3, "There is no task 4711"),
        ("restart-parsing 4711", 3, "There is no task 4711"),
        ("priority 11 1", 2, "10"),
        ("pause one", 2, "integer"),
        ("pause 99999999999999999999", 2, "9223372036854775807"),
        ("restart 0", 2, "1"),
        ("--json pause 1", 2, "stand behind it"),
    ],
)
async def test_what_makes_no_sense_is_said_in_one_sentence(forager: Any, words: str, code: int, sentence: str) -> None:
    said = await forager("tasks", *words.split())
    assert (said.code, said.out) == (code, "")
    assert sentence in said.err
    assert said.err.count("\n") == 1


async def test_one_task_through_its_life(forager: Any, ground: Ground) -> None:
    task = str((await order(ground.conn, URL)).task_id)
    for words, sentence, status in (
        (("pause", task, "--reason", "busy"), f"Task {task}: Paused;", "paused"),
        (("pause", task), f"Task {task}: It was paused already.", "paused"),
        (("resume", task), f"Task {task}: Resumed.", "pending"),
        (("priority", "2", task), f"Task {task}: Its priority is 2, it was 5.", "pending"),
        (("cancel", task), f"Task {task}: Cancelled.", "cancelled"),
    ):
        said = await forager("tasks", *words)
        assert (said.code, said.out) == (0, ""), said
        assert sentence in said.err
        assert (await ground.task(int(task)))["status"] == status
    card = (await forager("task", task)).out
    assert "pause by cli" in card
    assert "pending → paused: busy" in card
    said = await forager("tasks", "pause", task)
    assert (said.code, said.err.count("\n")) == (7, 1)
    assert "what is closed never changes" in said.err
    new = json.loads((await forager("tasks", "restart", task, "--at", "2h", "--json")).out)[0]
    assert (new["status"], new["retry_count"]) == ("pending", 0)
    assert json.loads((await forager("task", str(new["task_id"]), "--json")).out)["parent_task_id"] == int(task)
    assert not await broken(ground.conn)


async def test_many_tasks_dry_and_for_good(forager: Any, ground: Ground) -> None:
    for number in range(3):
        await order(ground.conn, f"http://a.example/{number}")
    dry = await forager("tasks", "pause", "--domain", "a.example", "--dry-run")
    assert "would be for 3 tasks. Nothing was changed." in dry.err
    done = json.loads((await forager("tasks", "pause", "--domain", "a.example", "-n", "2", "--json")).out)
    assert (len(done["tasks"]), done["is_all"]) == (2, False)
    assert {task["status"] for task in done["tasks"]} == {TaskStatus.PAUSED}
    assert "2 tasks." in (await forager("tasks", "resume", "--domain", "a.example")).err
    for row in await ground.conn.fetch("SELECT id FROM crawl_tasks"):
        await close(ground, row["id"])
    said = await forager("tasks", "restart-failed", "--error", "timeout", "--since", "1h")
    assert (said.code, "restart-failed: 3 tasks." in said.err) == (0, True)
    assert (await forager("tasks", "--open")).out.count("\n") == 4
    assert not await broken(ground.conn)


async def test_a_batch_is_restarted(forager: Any, ground: Ground) -> None:
    await forager("tasks", "submit", URL, "--batch", "lamps")
    await close(ground, await ground.conn.fetchval("SELECT id FROM crawl_tasks"), "success")
    assert "restart-batch: 1 task." in (await forager("batches", "restart", "lamps")).err
    assert (await forager("batches", "restart", "x")).code == 3


async def test_calls_are_listed_and_revived(forager: Any, ground: Ground) -> None:
    await close(ground, (await order(ground.conn, URL, webhook_url="http://h.example/")).task_id)
    assert "waiting" in (await forager("webhooks")).out
    await ground.conn.execute("UPDATE webhook_calls SET died_at = now(), next_try_at = NULL, error = 'it answered 500'")
    said = await forager("webhooks", "--state", "dead")
    assert "it answered 500" in said.out
    assert "1 call will be retried." in (await forager("webhooks", "revive")).err
    assert (await forager("webhooks", "--state", "dead")).out.count("\n") <= 1


async def test_the_key_is_the_same_every_time(forager: Any) -> None:
    one, two = (await forager("webhooks", "key")).out, (await forager("webhooks", "key")).out
    assert one == two
    assert len(one.strip()) == 64


async def test_tasks_are_listed_by_batch_state_and_kind(forager: Any, ground: Ground) -> None:
    await forager("tasks", "submit", "http://a.example/1", "http://a.example/2", "--batch", "spring sale")
    await forager("tasks", "submit", "http://a.example/3")
    page = await ground.conn.fetchval("SELECT id FROM pages WHERE url = 'http://a.example/3'")
    await ground.conn.execute("UPDATE pages SET is_image = true WHERE id = $1", page)
    await ground.conn.execute("UPDATE crawl_tasks SET is_image = true WHERE page_id = $1", page)
    task = await ground.conn.fetchval("SELECT max(id) FROM crawl_tasks WHERE batch_id IS NOT NULL")
    await forager("tasks", "pause", str(task))

    async def listed(*flags: str) -> set[str]:
        return {row["url"][-1] for row in json.loads((await forager("tasks", "--json", *flags)).out)}

    assert await listed("--batch", "spring sale") == {"1", "2"}
    assert await listed("--batch", "spring sale", "--status", "paused") == {"2"}
    assert await listed("--kind", "image") == {"3"}
    assert await listed("--kind", "page", "--domain", "a.example", "--status", "pending") == {"1"}
    said = await forager("tasks", "--batch", "nothing")
    assert (said.code, "There is no batch 'nothing'" in said.err) == (3, True)
    said = await forager("tasks", "--status", "paused", "resume", str(task))
    assert (said.code, "stand behind it" in said.err) == (2, True)


@pytest.mark.parametrize(
    ("webhook", "why"),
    [
        ("http://localhost/hook", "is a loopback address"),
        ("http://metadata.google.internal/", "is a cloud metadata address"),
        ("https://h.example:25/", "Port 25 of h.example is none of the allowed ones"),
    ],
)
async def test_a_webhook_that_could_never_be_called_is_refused(forager: Any, webhook: str, why: str) -> None:
    for command in (("tasks", "submit", URL, "--webhook", webhook), ("alerts", "tell", webhook)):
        said = await forager(*command)
        assert (said.code, why in said.err) == (2, True), said.err


async def test_without_a_contact_nobody_else_s_webhook_is_taken(forager: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORAGER_CONTACT")
    said = await forager("tasks", "submit", URL, "--webhook", "https://h.example/")
    assert (said.code, "no contact is set" in said.err) == (2, True)


async def test_a_page_in_a_network_that_up_allows_is_taken_and_explained(forager: Any, ground: Ground) -> None:
    page = "http://127.0.3.1:9100/x"
    refused = await forager("tasks", "submit", page)
    assert refused.code == 2
    assert "a loopback address" in refused.err
    run = await stats.ensure_continuous_run(ground.conn, continuous_spec(max_depth=10), by="forager up")
    await stats.set_continuous_networks(ground.conn, run, ["127.0.0.0/8"])
    assert (await forager("tasks", "submit", page)).code == 0
    said = await forager("why", page, "--json")
    assert {"name": "address", "is_open": True}.items() <= gate_of(said.out, "address").items()
    await stats.set_continuous_networks(ground.conn, run, [])
    assert gate_of((await forager("why", page, "--json")).out, "address")["is_open"] is False


def gate_of(document: str, name: str) -> dict[str, Any]:
    return next(gate for gate in json.loads(document)["page_checks"] if gate["name"] == name)
