"""The request log: what the playground's server saw, and pure questions about it.

It is the witness in tests of pace, of "no page twice" and of "never fetched what is forbidden".
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TextIO

from forager.errors import UsageError
from forager_playground.key import AnswerKey


class Visit(NamedTuple):
    """One request. Times are of the monotonic clock, which all processes of a machine share."""

    site: str
    host: str
    """Address and port."""
    target: str
    """Path and query as the client sent them; empty, like `method`, when they could not be understood."""
    method: str
    status: int
    """0 is a connection that was cut: by the site's design, or by a client that left before the answer."""
    started_s: float
    """When the request was read in full."""
    ended_s: float
    """When the answer was handed to the socket."""
    connection: int
    user_agent: str
    is_conditional: bool = False
    """It said what it knows already, so that a 304 would do."""
    client: str = ""
    """The address the request came from."""
    late_s: float = 0.0
    """How long it lay here before it was read, because the machine was busy: a few milliseconds are not told."""

    @property
    def received_s(self) -> float:
        """What a pace is judged by: a request that is read late makes the one after it look early."""
        return self.started_s - self.late_s

    @property
    def url(self) -> str:
        return f"http://{self.host}{self.target}"


class RequestLog:
    """All visits so far, in the order in which their answers were sent; in memory, and in a JSONL file if asked."""

    def __init__(self, path: Path | None = None, *, keeps_visits: bool = True) -> None:
        self.visits: list[Visit] = []
        self.count = 0
        self._keeps_visits = keeps_visits
        self._file = _open_file(path) if path else None

    def add(self, visit: Visit) -> None:
        self.count += 1
        if self._keeps_visits:
            self.visits.append(visit)
        if self._file is not None:
            self._file.write(json.dumps(visit._asdict()) + "\n")
            self._file.flush()  # per line: a killed playground has told all it saw

    def clear(self) -> None:
        self.visits.clear()
        self.count = 0

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __iter__(self) -> Iterator[Visit]:
        return iter(self.visits)

    def __len__(self) -> int:
        return self.count


def _open_file(path: Path) -> TextIO:
    try:
        return path.open("a", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The log {path} cannot be written ({error.strerror}); name another file.") from None


def read_log(path: Path) -> list[Visit]:
    """A log file, also one whose last line was cut off by a kill."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [Visit(**json.loads(line)) for line in lines if line.endswith("\n")]


def requests_per_path(log: Iterable[Visit]) -> Counter[str]:
    """How often each absolute URL was asked for."""
    return Counter(visit.url for visit in log)


def visits_of(log: Iterable[Visit], host: str, *, with_robots: bool = True) -> list[Visit]:
    """One host's visits by their start."""
    of_host = (visit for visit in log if visit.host == host and (with_robots or visit.target != "/robots.txt"))
    return sorted(of_host, key=lambda visit: visit.started_s)


def smallest_gap_s(log: Iterable[Visit], host: str, *, with_robots: bool = True) -> float:
    """The shortest time between the arrivals of two requests; infinite when there were fewer than two."""
    arrivals = sorted(visit.received_s for visit in visits_of(log, host, with_robots=with_robots))
    return min((later - earlier for earlier, later in pairwise(arrivals)), default=float("inf"))


def most_open_at_once(log: Iterable[Visit], host: str) -> int:
    """The largest number of requests that were unanswered at one moment."""
    visits = visits_of(log, host)
    moments = [(visit.started_s, 1) for visit in visits] + [(visit.ended_s, -1) for visit in visits]
    open_now = most = 0
    for _, change in sorted(moments, key=lambda moment: (moment[0], -moment[1])):
        open_now += change
        most = max(most, open_now)
    return most


def forbidden_hits(log: Iterable[Visit], key: AnswerKey) -> list[Visit]:
    """Requests for what robots.txt forbids; a polite crawl has none."""
    forbidden = key.forbidden()
    return [visit for visit in log if visit.url in forbidden]
