"""Who wants to hear of a task is called once it is closed: signed, again if need be, never where we may not go."""

import asyncio
import hashlib
import hmac
import json
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.ground import Ground
from tests.integration.scheduler.stage import a_context
from tests.integration.tasks.desk import broken, close, do, order
from tests.listening import listening

from forager import clock
from forager.config.settings import Settings
from forager.webhooks import jobs as webhooks
from forager.webhooks import store as outbox
from forager.webhooks.delivery import KEY_FILE, signing_keys
from forager.webhooks.jobs import WebhooksJob

URL = "http://a.example/x"
KEYS = ("8f2c1de07b94a6350d7ecb15f93a42e801234567", "c41b0e7a9d5286f3e70b18d4a6f25c9376543210")
OK = b"HTTP/1.1 204 No Content\r\n\r\n"


@dataclass
class Receiver:
    """Remembers what it was told, and answers as it is asked to."""

    answer: Callable[[int], bytes] = lambda _count: OK
    port: int = 0
    heads: list[dict[str, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?a=1"

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line, *rest = (await reader.readuntil(b"\r\n\r\n")).decode().rstrip().split("\r\n")
        head = {name.lower(): value for name, _, value in (each.partition(": ") for each in rest)}
        self.bodies.append(await reader.readexactly(int(head["content-length"])))
        self.lines.append(line)
        self.heads.append(head)
        writer.write(self.answer(len(self.bodies)))
        await writer.drain()

    @asynccontextmanager
    async def listen(self) -> AsyncIterator["Receiver"]:
        async with listening(self.talk) as self.port:
            yield self


def settings_for(home: Path, **more: Any) -> Settings:
    given: dict[str, Any] = {"home": home, "fetch_allow_networks": ("127.0.0.0/8",), "secret_key": KEYS}
    return Settings.of(**given | more)


async def call(conn: Any, settings: Settings) -> str:
    return await WebhooksJob().run(a_context(conn, settings))


async def calls(ground: Ground) -> list[Any]:
    found: list[Any] = await ground.conn.fetch("SELECT * FROM webhook_calls ORDER BY id")
    return found


async def is_due(ground: Ground) -> None:
    await ground.conn.execute("UPDATE webhook_calls SET next_try_at = now() WHERE next_try_at IS NOT NULL")


async def a_closed_task(ground: Ground, url: str, outcome: str = "success", page: str = URL) -> int:
    task = (await order(ground.conn, page, webhook_url=url)).task_id
    await close(ground, task, outcome)
    return task


async def test_a_closed_task_is_told_once_and_signed(ground: Ground, tmp_path: Path) -> None:
    async with Receiver().listen() as receiver:
        task = await a_closed_task(ground, receiver.url)
        assert await call(ground.conn, settings_for(tmp_path)) == "1 call delivered, 0 not accepted"
        assert await call(ground.conn, settings_for(tmp_path)) == "0 calls delivered, 0 not accepted"
    (head,), (body,) = receiver.heads, receiver.bodies
    told = json.loads(body)
    assert (told["event"], told["task_id"], told["url"], told["outcome"]) == ("task.closed", task, URL, "success")
    assert (told["domain"], told["status"], told["status_code"], told["batch"]) == ("a.example", "completed", 200, None)
    (row,) = await calls(ground)
    assert receiver.lines == ["POST /hook?a=1 HTTP/1.1"]
    assert (head["content-type"], head["forager-delivery"]) == ("application/json", str(row["id"]))
    assert (row["task_id"], row["status_code"], row["tries"], row["error"]) == (task, 204, 1, None)
    assert row["delivered_at"] is not None
    at, *marks = (part.partition("=")[2] for part in head["forager-signature"].split(","))
    assert abs(int(at) - clock.now().timestamp()) < 60
    assert len(marks) == 2, "one for the new key, one for the old"
    for key, mark in zip(signing_keys(settings_for(tmp_path)), marks, strict=True):
        assert hmac.new(key, at.encode() + b"." + body, hashlib.sha256).hexdigest() == mark
    assert not await broken(ground.conn)


@pytest.mark.parametrize("outcome", ["success", "failed", "cancelled"])
async def test_every_end_is_told_in_the_transaction_that_makes_it(ground: Ground, outcome: str) -> None:
    task = (await order(ground.conn, URL, webhook_url="http://hook.example/")).task_id
    assert await calls(ground) == []
    unfinished = ground.conn.transaction()
    await unfinished.start()
    await close(ground, task)
    await unfinished.rollback()
    assert await calls(ground) == []
    await (do(ground.conn, "cancel", task) if outcome == "cancelled" else close(ground, task, outcome))
    assert [row["task_id"] for row in await calls(ground)] == [task]


async def test_a_task_without_a_webhook_calls_nobody(ground: Ground) -> None:
    await close(ground, (await order(ground.conn, URL)).task_id)
    assert await calls(ground) == []


ANSWERS = {
    "an error": b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
    "a redirect": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/secret\r\nContent-Length: 0\r\n\r\n",
    "nonsense": b"what?\r\n\r\n",
    "nothing": b"",
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_what_is_not_taken_is_tried_again(ground: Ground, tmp_path: Path, name: str) -> None:
    async with Receiver(lambda count: ANSWERS[name] if count == 1 else OK).listen() as receiver:
        await a_closed_task(ground, receiver.url)
        assert await call(ground.conn, settings_for(tmp_path)) == "0 calls delivered, 1 not accepted"
        (row,) = await calls(ground)
        assert (row["delivered_at"], row["died_at"], row["tries"]) == (None, None, 1)
        wait_s = (row["next_try_at"] - row["tried_at"]).total_seconds()
        assert 9 < wait_s < 13
        await is_due(ground)
        assert await call(ground.conn, settings_for(tmp_path)) == "1 call delivered, 0 not accepted"
    assert len(receiver.bodies) == 2, "no redirect was followed, and nothing was told a third time"
    assert receiver.heads[0]["forager-delivery"] == receiver.heads[1]["forager-delivery"]


async def test_an_endless_answer_is_not_read(ground: Ground, tmp_path: Path) -> None:
    endless = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n" + b"x" * 100_000
    async with Receiver(lambda _count: endless).listen() as receiver:
        await a_closed_task(ground, receiver.url)
        assert await call(ground.conn, settings_for(tmp_path)) == "1 call delivered, 0 not accepted"


async def test_one_that_is_gone_is_given_up_at_once(ground: Ground, tmp_path: Path) -> None:
    async with Receiver(lambda _count: b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n").listen() as receiver:
        await a_closed_task(ground, receiver.url)
        await call(ground.conn, settings_for(tmp_path))
    (row,) = await calls(ground)
    assert (row["died_at"] is not None, row["next_try_at"], row["error"]) == (True, None, "it answered 410")
    async with ground.conn.transaction():
        assert await outbox.retry_calls(ground.conn) == 1
    assert (await calls(ground))[0]["died_at"] is None


async def test_after_a_day_it_is_given_up(ground: Ground, tmp_path: Path) -> None:
    await a_closed_task(ground, "http://127.0.0.1:9/")
    await ground.conn.execute(
        "UPDATE webhook_calls SET created_at = now() - interval '23 hours 59 minutes', tries = 30"
    )
    await call(ground.conn, settings_for(tmp_path))
    (row,) = await calls(ground)
    assert row["died_at"] is not None
    assert (await outbox.list_calls(ground.conn, state="dead", limit=5))[0]["state"] == "dead"


@pytest.mark.parametrize("allowed", [(), ("10.0.0.0/8",)])
async def test_private_addresses_are_not_called(ground: Ground, tmp_path: Path, allowed: tuple[str, ...]) -> None:
    async with Receiver().listen() as receiver:
        await a_closed_task(ground, receiver.url)
        await call(ground.conn, settings_for(tmp_path, fetch_allow_networks=allowed))
    assert receiver.bodies == []
    (row,) = await calls(ground)
    assert "loopback" in row["error"]


async def test_a_slow_receiver_does_not_keep_others_waiting(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forager.webhooks.delivery.TIMEOUT_S", 1.0)
    silent = asyncio.Event()

    async def say_nothing(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await silent.wait()

    async with Receiver().listen() as receiver, listening(say_nothing) as port:
        for number in range(30):
            await a_closed_task(ground, f"http://127.0.0.1:{port}/", page=f"http://a.example/{number}")
        await a_closed_task(ground, receiver.url, page="http://a.example/last")
        began = clock.monotonic()
        await call(ground.conn, settings_for(tmp_path))
        assert clock.monotonic() - began < 5
    assert len(receiver.bodies) == 1
    tried = [row for row in await calls(ground) if row["tries"]]
    assert len(tried) == webhooks.MOST_PER_URL + 1


async def test_two_schedulers_never_take_the_same_call(pool: asyncpg.Pool, ground: Ground) -> None:
    for number in range(20):
        await a_closed_task(ground, f"http://h{number}.example/", page=f"http://a.example/{number}")

    async def take() -> list[int]:
        async with pool.acquire() as conn, conn.transaction():
            due = await outbox.take_due(conn, most=10, most_per_url=5, again_after_s=60)
            await asyncio.sleep(0.1)
            return [each.id for each in due]

    taken = [number for numbers in await asyncio.gather(take(), take(), take()) for number in numbers]
    assert len(taken) == len(set(taken)) == 20


async def test_a_killed_caller_is_followed_by_another(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At least once: what was taken and not noted comes again."""
    async with Receiver().listen() as receiver:
        await a_closed_task(ground, receiver.url)

        async def die(_settings: Settings, _calls: Any) -> Any:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("forager.webhooks.jobs.call_webhooks", die)
            with pytest.raises(KeyboardInterrupt):
                await WebhooksJob().run(a_context(ground.conn))
        assert await call(ground.conn, settings_for(tmp_path)) == "0 calls delivered, 0 not accepted"
        await is_due(ground)
        assert await call(ground.conn, settings_for(tmp_path)) == "1 call delivered, 0 not accepted"


async def test_others_may_be_told_of_other_things(ground: Ground, tmp_path: Path) -> None:
    async with Receiver().listen() as receiver:
        await outbox.add(ground.conn, receiver.url, {"event": "alert.raised", "rule": "disk"})
        assert await call(ground.conn, settings_for(tmp_path)) == "1 call delivered, 0 not accepted"
    assert json.loads(receiver.bodies[0]) == {"event": "alert.raised", "rule": "disk"}


async def test_a_retry_and_a_restart_are_told_too(ground: Ground) -> None:
    task = await a_closed_task(ground, "http://hook.example/", "failed")
    new = await do(ground.conn, "restart", task)
    await close(ground, new.task_id, "success")
    assert [row["task_id"] for row in await calls(ground)] == [task, new.task_id]


def test_without_a_secret_key_one_is_made_and_kept(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "home", secret_key=())
    one, two = signing_keys(settings), signing_keys(settings)
    assert one == two
    assert stat.S_IMODE((tmp_path / "home" / KEY_FILE).stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "home").iterdir()] == [KEY_FILE]
    assert one != signing_keys(settings_for(tmp_path / "other", secret_key=()))
