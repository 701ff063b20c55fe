"""A running `forager up`, and its API as an administrator has it."""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from tests.acceptance.conftest import NETWORK
from tests.acceptance.stage import Crawl, Forager, until
from tests.ports import free_port

from forager.db.embedded.processes import command_of, is_alive

PASSWORD = "seven quiet otters"
QUICK = {"FORAGER_POLITENESS_DELAY": "0.02", "FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}


class Instance:
    """A running `forager up`, and its API as an administrator has it."""

    def __init__(self, forager: Forager, *arguments: str, port: int | None = None, **environ: str) -> None:
        self.port = port or free_port()
        self.process: Crawl = forager.spawn("up", "--port", str(self.port), *arguments, **QUICK | environ)
        address = f"http://127.0.0.1:{self.port}"
        self.http = httpx.Client(base_url=address, timeout=30, headers={"Origin": address})
        until(self.answers, "the API answers")

    def answers(self) -> bool:
        assert self.process.is_running, self.process.said
        try:
            return self.http.get("/health").status_code == 200
        except httpx.HTTPError:
            return False

    def become_admin(self) -> None:
        """By the link it printed, as the first person does."""
        found = until(lambda: re.search(r"/accept#(\S+)", self.process.said), "the first link is printed")
        self._begin("/api/auth/accept", {"secret": found[1], "name": "alice", "password": PASSWORD})

    def log_in(self) -> None:
        self._begin("/api/auth/login", {"name": "alice", "password": PASSWORD})

    def _begin(self, path: str, body: Any) -> None:
        self.http.headers["X-CSRF-Token"] = self.do("POST", path, body)["csrf_token"]

    def do(self, verb: str, path: str, body: Any = None) -> Any:
        answer = self.http.request(verb, path, json=body)
        assert answer.is_success, f"{verb} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def pids(self, word: str) -> list[int]:
        """Of its children that run this command."""
        children = Path(f"/proc/{self.process.process.pid}/task/{self.process.process.pid}/children").read_text()
        return [pid for pid in map(int, children.split()) if f" {word} " in command_of(pid) and is_alive(pid)]

    def stop(self) -> None:
        self.process.signal(signal.SIGTERM)
        assert self.process.wait() == 0, self.process.said


@contextmanager
def up(forager: Forager, *arguments: str, port: int | None = None, **environ: str) -> Iterator[Instance]:
    instance = Instance(forager, *arguments, port=port, **environ)
    try:
        yield instance
    finally:
        instance.http.close()
