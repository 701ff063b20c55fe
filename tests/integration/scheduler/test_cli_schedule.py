"""`forager schedule` and `forager recover`, from words to streams and exit codes."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.ground import Ground
from tests.integration.scheduler.stage import BLOCKED, PAST, set_domain

from forager.cli.main import run
from forager.config.loader import load
from forager.domains.jobs.score import ScoreJob
from forager.runtime.schedule import enabled_jobs

ENABLED = sorted(job.name for job in enabled_jobs(load({}, {})))
"""Without a broker and a search server."""
OF_THE_NIGHT = {"backup", "retain", "vacuum"}
"""Not due when they are new: their time of day has to come."""


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

    async def call(*arguments: str) -> Said:
        code = await asyncio.to_thread(run, arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Said(code, captured.out, captured.err)

    return call


async def start(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "forager", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ,
    )


async def times(ground: Ground) -> dict[str, int]:
    return {row["name"]: row["times"] for row in await ground.conn.fetch("SELECT name, times FROM jobs")}


async def test_jobs_are_shown_before_any_of_them_ran(forager: Any) -> None:
    said = await forager("schedule")
    assert said.code == 0
    assert said.out.splitlines()[0].split() == ["job", "every", "last", "run", "took", "result", "next"]
    assert "No scheduler has run yet" in said.err
    rows = json.loads((await forager("schedule", "--json")).out)
    assert [row["name"] for row in rows] == ENABLED
    assert {row["times"] for row in rows} == {0}


async def test_once_does_what_is_due_and_then_nothing(forager: Any, ground: Ground) -> None:
    domain = await ground.a_domain(pages=1)
    await set_domain(ground, domain, **BLOCKED, next_crawl_after=PAST)
    said = await forager("schedule", "run", "--once")
    assert said.code == 0
    assert "1 domain returned" in said.out
    assert "Nothing is due" in (await forager("schedule", "run", "--once")).err
    shown = await forager("schedule")
    assert ("1 domain returned" in shown.out, shown.err) == (True, "")
    assert await times(ground) == {name: int(name not in OF_THE_NIGHT) for name in ENABLED}


async def test_a_job_that_is_named_is_done_at_once(forager: Any, ground: Ground) -> None:
    for _ in range(2):
        said = await forager("schedule", "run", "--once", "score", "score")
        assert (said.code, said.out.splitlines()[1].split()[0]) == (0, "score")
    assert await times(ground) == {"score": 2}


async def test_a_job_another_scheduler_is_doing_is_left_to_it(forager: Any, ground: Ground) -> None:
    await forager("schedule", "run", "--once", "score")
    async with ground.conn.transaction():
        await ground.conn.execute("SELECT FROM jobs FOR UPDATE")
        said = await forager("schedule", "run", "--once", "score")
    assert (said.code, said.out, said.err) == (0, "", "Another scheduler is running score now.\n")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["schedule", "run", "--once", "tea"], "There is no job 'tea'; there are alerts, backup, bodies,"),
        (["schedule", "--json", "run"], "Flags of `run` come after it"),
        (["recover", "--silent", "0"], "Invalid value for '--silent'"),
    ],
)
async def test_nonsense_is_one_sentence(forager: Any, command: list[str], sentence: str) -> None:
    said = await forager(*command)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert sentence in said.err


async def test_a_failed_job_is_told_and_ends_in_code_1(
    forager: Any, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_job: Any, _context: Any) -> str:
        raise RuntimeError("no\x1b[31m")

    monkeypatch.setattr(ScoreJob, "run", fail)
    said = await forager("schedule", "run", "--once", "score")
    assert (said.code, "RuntimeError: no" in said.out, "\x1b" in said.out) == (1, True, False)
    assert "RuntimeError: no" in (await forager("schedule")).out


async def test_schedulers_of_several_processes_do_each_job_once(forager: Any, ground: Ground) -> None:
    processes = await asyncio.gather(*(start("schedule", "run", "--once") for _ in range(3)))
    await asyncio.gather(*(process.communicate() for process in processes))
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert await times(ground) == {name: int(name not in OF_THE_NIGHT) for name in ENABLED}


@pytest.mark.parametrize("how", ["terminate", "send_signal"])
async def test_it_runs_until_asked_to_stop(forager: Any, ground: Ground, how: str) -> None:
    import signal

    process = await start("schedule", "run")
    assert process.stderr is not None
    assert b"Ctrl-C stops it" in await process.stderr.readline()
    getattr(process, how)(*([signal.SIGINT] if how == "send_signal" else []))
    await process.communicate()
    assert process.returncode == 0


async def test_recover_takes_domains_from_the_silent(forager: Any, ground: Ground) -> None:
    run = await ground.a_run()
    for name, silent_s in (("silent.example", 400), ("quiet.example", 200)):
        worker = await ground.a_worker(run, host="elsewhere", silent_s=silent_s)
        await ground.a_lease(await ground.a_domain(name, run=run, pages=1), worker)
    said = await forager("recover")
    assert (said.code, said.out, said.err) == (0, "silent.example\n", "1 domain can be claimed again.\n")
    assert json.loads((await forager("recover", "--silent", "100", "--json")).out) == [{"domain": "quiet.example"}]
    assert "Nothing to recover" in (await forager("recover")).err
