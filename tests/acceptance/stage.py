"""What acceptance tests act on: a web in its own process, the product's commands, and a crawl that can be killed.

Everything waits for events: lines in the web's own log, rows in the database, processes that are gone. Time only ends
what would otherwise never end.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests import starter
from tests.conftest import in_thread, kept, let_go

from forager.db.embedded.processes import command_of, is_alive
from forager.db.pool import CONNECTION_LOST
from forager_playground import AnswerKey, Running, Visit, read_log, requests_per_path

PATIENCE_S = 120.0
POLL_S, MOST_POLL_S = 0.02, 0.1
LEASES = """SELECT COALESCE(sum(amount), 0)::int FROM (SELECT metric, label, amount FROM series_totals
            UNION ALL SELECT metric, label, amount FROM series_parts) c WHERE metric = 'leases' AND label = $1"""
TRANSPORT_S = 0.25
"""Between a request's leaving and its being read by the web lies a busy machine: a span seen there may be shorter."""

IN_FLIGHT, BATCH = 8, 12
AT_RISK = IN_FLIGHT + BATCH
SMALL = {
    "FORAGER_FETCH_MAX_REQUESTS_PER_WORKER": str(IN_FLIGHT),
    "FORAGER_WORKER_BATCH_PAGES": str(BATCH),
    "FORAGER_WORKER_BATCH_INTERVAL": "50ms",
    "FORAGER_WORKER_BUFFER_PAGES": str(AT_RISK),
}
"""What a worker can lose, made small, so that the bound on what is fetched again means something: what is under way and
what waits to be written, together."""


def until(happens: Callable[[], Any], what: str, most_s: float = MOST_POLL_S) -> Any:
    """The first true answer. Asked less and less often: most questions are statements, and fifty a second are work."""
    began_at = time.monotonic()
    while not (answer := happens()):
        waited_s = time.monotonic() - began_at
        assert waited_s < PATIENCE_S, f"within {PATIENCE_S:.0f} s it did not happen that {what}"
        time.sleep(min(POLL_S + waited_s / 20, most_s))
    return answer


def tell(text: str) -> None:
    """A figure, or what helps to understand a failure; pytest shows it with the failure, or with -s."""
    sys.stdout.write(text + "\n")


class Web:
    """A playground in a process of its own, and its log: the witness that has no interest in the crawl."""

    def __init__(self, running: Running, log: Path) -> None:
        self.running = running
        self.log = log

    @property
    def urls(self) -> tuple[str, ...]:
        return self.running.urls

    @property
    def key(self) -> AnswerKey:
        return self.running.answer_key

    @property
    def hosts(self) -> list[str]:
        return [url.removeprefix("http://").rstrip("/") for url in self.urls]

    def everything(self) -> list[Visit]:
        return read_log(self.log) if self.log.exists() else []

    def visits(self) -> list[Visit]:
        """Requests for pages."""
        return [visit for visit in self.everything() if visit.target != "/robots.txt"]

    def count(self) -> int:
        """How many requests for pages it saw; asked often, so lines are counted and not read."""
        log = self.log.read_bytes() if self.log.exists() else b""
        return log.count(b"\n") - log.count(b'"target": "/robots.txt"')

    def requests(self) -> Counter[str]:
        return requests_per_path(self.visits())

    def repeated(self) -> dict[str, int]:
        """URL → how many requests were made beyond the first."""
        return {url: number - 1 for url, number in self.requests().items() if number > 1}

    def wait_past(self, number: int) -> None:
        """Until it saw more than so many requests for pages."""
        until(lambda: self.count() > number, f"the web saw more than {number} requests", most_s=POLL_S)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Nothing is answered inside: requests stay open."""
        self.running.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.running.process.send_signal(signal.SIGCONT)


class Crawl:
    """A running `forager crawl` with its workers, or another command that runs until it is told to stop."""

    def __init__(self, command: list[str], environ: Mapping[str, str], folder: Path) -> None:
        self._said = folder / f"said.{time.monotonic_ns()}.txt"
        self.started_s = time.monotonic()
        with self._said.open("wb") as stderr:
            self.process = subprocess.Popen(
                command,
                env=environ,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            )
        self._known_workers: set[int] = set()

    @property
    def said(self) -> str:
        """Standard error so far, the workers' too."""
        return self._said.read_text(encoding="utf-8", errors="replace")

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def workers(self) -> list[int]:
        """Pids of its worker processes that live."""
        children = Path(f"/proc/{self.process.pid}/task")
        pids = {int(pid) for file in children.glob("*/children") for pid in _read(file).split()}
        self._known_workers |= {pid for pid in pids if "--attached" in command_of(pid)}
        return sorted(pid for pid in self._known_workers if is_alive(pid))

    def wait(self) -> int:
        """The exit code."""
        return self.process.wait(PATIENCE_S)

    def finish(self, expected: int = 0) -> None:
        """It has to end by itself, and well, or with the exit code that is expected."""
        code = self.wait()
        assert code == expected, f"exit code {code}: {self.said[-4000:]}"

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill_parent(self) -> list[int]:
        """Only the parent; answers the workers it had."""
        workers = self.workers()
        self.process.kill()
        self.process.wait()
        return workers

    def kill_all(self) -> None:
        """The parent and its workers at one moment: it is stopped first, so that it cannot start another."""
        if self.is_running:
            self.process.send_signal(signal.SIGSTOP)
        doomed = self.workers()
        kill(*doomed)
        self.process.kill()
        self.process.wait()


class Forager:
    """The product as a person has it: a home, a database, commands."""

    def __init__(self, folder: Path, environ: Mapping[str, str], dsn: str) -> None:
        self.folder = folder
        self.environ = dict(environ)
        self.dsn = dsn
        self._crawls: list[Crawl] = []
        self._asking = threading.Lock()
        self.program: tuple[str, ...] = (sys.executable, "-m", "forager")
        """What is started in the background; as `starter.PROGRAM` it is loaded anew, with every process it starts."""

    def start(self, *arguments: str, **environ: str) -> Crawl:
        """`forager crawl` with these arguments, in the background."""
        return self.spawn("crawl", *arguments, **environ)

    def spawn(self, *arguments: str, before: Sequence[str] = (), **environ: str) -> Crawl:
        """Any command, in the background; `before` it stands what runs it elsewhere."""
        command = [*before, *self.program, *arguments]
        crawl = Crawl(command, os.environ | self.environ | environ, self.folder)
        self._crawls.append(crawl)
        return crawl

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Any command, to its end."""
        return starter.run(arguments, os.environ | self.environ | environ, self.folder, PATIENCE_S)

    def do(self, *arguments: str, **environ: str) -> str:
        """A command that has to go well; what it wrote."""
        ended = self.run(*arguments, **environ)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def check(self, *, deep: bool = False) -> None:
        """The promises hold; `deep`: also for who reads everything."""
        self.do("check", *(["--deep"] if deep else []))

    def rows(self, name: str = "out.jsonl") -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / name).read_text(encoding="utf-8").splitlines()]

    def pages(self, name: str = "out.jsonl") -> set[str]:
        """What a crawl wrote as brought home."""
        return {row["url"] for row in self.rows(name) if row["status_code"] == 200}

    def ask(self, sql: str, *arguments: Any) -> list[Any]:
        async def fetch() -> list[Any]:
            try:
                return list(await (await kept(self.dsn)).fetch(sql, *arguments))
            except CONNECTION_LOST:  # the server was killed since we asked last
                await let_go(self.dsn)
                return list(await (await kept(self.dsn)).fetch(sql, *arguments))

        with self._asking:
            return in_thread(fetch())

    def value(self, sql: str, *arguments: Any) -> Any:
        return self.ask(sql, *arguments)[0][0]

    def close(self) -> None:
        """End what is left, and tell what the crawls said: pytest shows it when the test failed."""
        for crawl in self._crawls:
            crawl.kill_all()
        in_thread(let_go(self.dsn))
        for crawl in self._crawls:
            tell(f"--- exit {crawl.process.returncode}\n{crawl.said[-6000:]}")


def assert_exact(forager: Forager, web: Web, *, at_risk: int) -> None:
    """Everything was brought home and recorded once; so many requests at most were made again."""
    assert forager.pages() == web.key.expected_success()
    assert forager.value("SELECT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL") == len(web.key.by_url)
    forager.check()
    again = sum(web.repeated().values())
    tell(f"{again} of at most {at_risk} requests were made again")
    assert again <= at_risk


def count_leases(forager: Forager, how: str) -> int:
    """As far as workers have told: claimed, hinted, released, lost."""
    found: int = forager.value(LEASES, how)
    return found


def assert_no_domain_twice(forager: Forager) -> None:
    """A lease's version grows when it is given and when it is handed back. So where each was handed back by its holder,
    and nothing else moved one, nobody had a domain beside it."""
    assert count_leases(forager, "lost") == 0
    assert forager.value("SELECT sum(version)::int FROM domains") == 2 * count_leases(forager, "released")


def kill(*pids: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_for_end(*pids)


def wait_for_end(*pids: int) -> None:
    until(lambda: not any(is_alive(pid) for pid in pids), f"the processes {pids} are gone")


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
