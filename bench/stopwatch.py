"""Times stages that run in this process and in one backend of PostgreSQL: CPU of both, and the time that passed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Cost:
    client_s: float = 0.0
    backend_s: float = 0.0
    passed_s: float = 0.0

    @property
    def cpu_s(self) -> float:
        return self.client_s + self.backend_s


def backend_cpu_s(pid: int | None) -> float:
    """What the scheduler gave a process so far, in nanoseconds: one statement is far shorter than a clock tick."""
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9 if pid else 0.0


class Stopwatch:
    """Adds up costs by the name of their stage."""

    def __init__(self, backend: int | None = None) -> None:
        self._backend = backend
        self.costs: dict[str, Cost] = {}

    @contextmanager
    def time(self, stage: str) -> Iterator[None]:
        cost = self.costs.setdefault(stage, Cost())
        passed_s, client_s, backend_s = time.perf_counter(), time.process_time(), backend_cpu_s(self._backend)
        try:
            yield
        finally:
            cost.backend_s += backend_cpu_s(self._backend) - backend_s
            cost.client_s += time.process_time() - client_s
            cost.passed_s += time.perf_counter() - passed_s
