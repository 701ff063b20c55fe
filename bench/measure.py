"""What a process tree costs: CPU and memory, read from /proc while it runs. Linux only.

CPU counts reaped children too, so that a worker which ended is not forgotten. A window of time is measured by
sampling, because importing libraries or creating a database is no part of what a page costs.
"""

import os
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
INTERVAL_S = 0.1
PSS_EVERY = 10
"""Proportional memory is asked for at every tenth sample: the kernel walks all pages of a process for it."""
MB = 1024 * 1024
LEVELS = 3
NO_LEVELS = (0.0,) * LEVELS


class Process(NamedTuple):
    pid: int
    parent: int
    command: str
    cpu_s: float
    """Its own and that of the children it has reaped."""
    rss_bytes: int


@dataclass(frozen=True, slots=True)
class Sample:
    at: float
    own_cpu_s: float
    postgres_cpu_s: float
    own_rss_bytes: int
    largest_rss_bytes: int
    own_pss_bytes: int = 0
    """Shared pages counted once, in shares; 0 where it was not asked for."""
    level_cpu_s: tuple[float, ...] = ()
    """CPU by the depth in the tree: of the first process, of its children, of theirs."""


def read_process(pid: int) -> Process | None:
    """One process as the kernel counts it now; None when it is gone."""
    try:
        stat = _read(f"/proc/{pid}/stat")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command stands in brackets and may itself hold brackets and spaces: fields count from the last one.
    command, _, rest = stat.partition("(")[2].rpartition(")")
    fields = rest.split()
    cpu_ticks = sum(int(field) for field in fields[11:15])
    return Process(pid, int(fields[1]), command, cpu_ticks * TICK_S, int(fields[21]) * PAGE_BYTES)


def read_pss_bytes(pid: int) -> int:
    """Memory of one process with its share of what it shares; 0 when it is gone or not ours to look at."""
    try:
        lines = _read(f"/proc/{pid}/smaps_rollup").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def list_children(pid: int) -> list[int]:
    """Asked of the kernel one by one: reading all processes ten times a second would disturb what is measured."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
        return [int(child) for thread in threads for child in _read(f"/proc/{pid}/task/{thread}/children").split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def walk_tree(root: int, skip: Callable[[Process], bool] = lambda _: False) -> list[Process]:
    """A process and its living descendants, without the branches that `skip` names."""
    waiting, tree = [root], []
    while waiting:
        process = read_process(waiting.pop())
        if process and not skip(process):
            tree.append(process)
            waiting += list_children(process.pid)
    return tree


def sum_levels(tree: Sequence[Process]) -> tuple[float, ...]:
    """CPU by depth; a tree lists parents before their children."""
    depths: dict[int, int] = {}
    sums = [0.0] * LEVELS
    for process in tree:
        depths[process.pid] = depth = min(depths.get(process.parent, -1) + 1, LEVELS - 1)
        sums[depth] += process.cpu_s
    return tuple(sums)


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def is_postgres(process: Process) -> bool:
    return process.command.startswith("postgres")


def postmaster_below(folder: Path) -> int | None:
    """The postmaster of the data folder somewhere below this one, by the pid file PostgreSQL writes itself."""
    for pid_file in _pid_files(folder):
        try:
            pid = int(pid_file.read_text(encoding="utf-8").split("\n", 1)[0])
        except (OSError, ValueError):
            continue
        process = read_process(pid)
        if process and is_postgres(process):
            return pid
    return None


def _pid_files(folder: Path) -> Iterator[Path]:
    for pattern in ("postmaster.pid", "*/postmaster.pid", "*/*/postmaster.pid"):
        yield from folder.glob(pattern)


class Meter:
    """Samples one process tree, and one PostgreSQL beside it, from a thread. Use it as a context manager."""

    def __init__(self, own: int, postmaster: Callable[[], int | None]) -> None:
        self._own = own
        self._postmaster = postmaster
        self._known_postmaster: int | None = None
        self._samples: list[Sample] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def own_cpu_s(self, start: float, end: float) -> float:
        return self._between(start, end, lambda sample: sample.own_cpu_s)

    def postgres_cpu_s(self, start: float, end: float) -> float:
        return self._between(start, end, lambda sample: sample.postgres_cpu_s)

    def level_cpu_s(self, level: int, start: float, end: float) -> float:
        """CPU of all processes at that depth below the first one."""
        return self._between(start, end, lambda sample: (*sample.level_cpu_s, *NO_LEVELS)[level])

    @property
    def peak_bytes(self) -> int:
        """The most memory all processes together held."""
        return max((sample.own_rss_bytes for sample in self._samples), default=0)

    @property
    def pss_bytes(self) -> int:
        """The most memory all processes together held, what they share counted once."""
        return max((sample.own_pss_bytes for sample in self._samples), default=0)

    @property
    def largest_bytes(self) -> int:
        """The most memory any one process held."""
        return max((sample.largest_rss_bytes for sample in self._samples), default=0)

    def _watch(self) -> None:
        while not self._done.is_set():
            self._samples.append(self._take())
            self._done.wait(INTERVAL_S)

    def _take(self) -> Sample:
        own = walk_tree(self._own, skip=is_postgres)
        asks_pss = len(self._samples) % PSS_EVERY == PSS_EVERY - 1
        postgres = self._walk_postgres()
        return Sample(
            at=time.time(),
            own_cpu_s=sum(process.cpu_s for process in own),
            level_cpu_s=sum_levels(own),
            postgres_cpu_s=sum(process.cpu_s for process in postgres),
            own_rss_bytes=sum(process.rss_bytes for process in own),
            largest_rss_bytes=max((process.rss_bytes for process in own), default=0),
            own_pss_bytes=sum(read_pss_bytes(process.pid) for process in own) if asks_pss else 0,
        )

    def _walk_postgres(self) -> list[Process]:
        """Looked for until it is found, and again when it is gone."""
        if not (self._known_postmaster and read_process(self._known_postmaster)):
            self._known_postmaster = self._postmaster()
        return walk_tree(self._known_postmaster) if self._known_postmaster else []

    def _between(self, start: float, end: float, cpu: Callable[[Sample], float]) -> float:
        return self._at(end, cpu) - self._at(start, cpu)

    def _at(self, moment: float, cpu: Callable[[Sample], float]) -> float:
        """The CPU spent until a moment, on the straight line between the two samples around it."""
        after = bisect_left(self._samples, moment, key=lambda sample: sample.at)
        if not 0 < after < len(self._samples):
            return cpu(self._samples[max(after - 1, 0)]) if self._samples else 0.0
        left, right = self._samples[after - 1], self._samples[after]
        share = (moment - left.at) / (right.at - left.at)
        return cpu(left) + share * (cpu(right) - cpu(left))
