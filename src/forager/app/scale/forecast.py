"""From the course of an imagined crawl to what it asks of machines: database, storage, money. Pure."""

import math
from dataclasses import dataclass
from typing import Any

from forager.app import capacity
from forager.app.scale import costs
from forager.app.scale.course import ClusterLimits, Crawl, SimulationResult
from forager.app.scale.tempo import interval_s
from forager.app.scale.web import SimulatedWeb, WebPlan
from forager.settings import Settings

HOUR_S = 3600.0
GB = 1e9


@dataclass(frozen=True, slots=True)
class Machines:
    workers: int
    database_cores: float = 4.0
    core_hour: float = 0.04
    """What an hour of one core costs, in whatever money."""
    gb_month: float = 0.10


@dataclass(frozen=True, slots=True)
class Forecast:
    course: SimulationResult
    pages: int
    is_done: bool
    database: dict[str, float]
    storage: dict[str, float]
    machines: dict[str, float]
    money: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        course = self.course
        return {
            "pages": course.pages,
            "of_pages": self.pages,
            "is_done": self.is_done,
            "seconds": course.seconds,
            "busy_s": course.busy_s,
            "pages_per_s": course.pages_per_s,
            "most_pages_per_s": course.most_pages_per_s,
            "most_requests_open": course.most_open,
            "most_domains_at_once": course.most_lanes,
            "turns": course.turns,
            "limits": course.limits,
            "reached_s": {f"{share:.0%}": at for share, at in course.reached_s.items()},
            "database": self.database,
            "storage": self.storage,
            "machines": self.machines,
            "money": self.money,
        }


def foresee(
    plan: WebPlan, web: SimulatedWeb, scores: list[float], machines: Machines, settings: Settings, *, until_s: float
) -> Forecast:
    intervals = {
        kind: interval_s(
            kind, max_in_flight=settings.max_concurrent_requests, is_adaptive=settings.adaptive_pace, seed=plan.seed
        )
        for kind in set(web.kinds)
    }
    turn_pages = settings.lease_pages if settings.budget else None
    course = Crawl(web, intervals, scores, build_limits(machines, settings), turn_pages=turn_pages).run(until_s)
    total = sum(web.sizes)
    return Forecast(
        course,
        pages=total,
        is_done=course.pages >= total,
        database=database_load(course, machines, settings),
        storage={"database_bytes": course.pages * costs.PAGE_BYTES, "wire_bytes": course.pages * costs.WIRE_BYTES},
        machines=estimate_resources(course, machines),
        money=money_of(course, machines),
    )


def build_limits(machines: Machines, settings: Settings) -> ClusterLimits:
    return ClusterLimits(
        queues=machines.workers * (settings.max_domains_per_worker or capacity.MOST),
        requests_open=machines.workers * settings.max_requests_in_flight,
        worker_pages_per_s=machines.workers * costs.WORKER_PAGES_PER_S,
        database_pages_per_s=machines.database_cores * 1000 / costs.POSTGRES_MS,
    )


def database_load(course: SimulationResult, machines: Machines, settings: Settings) -> dict[str, float]:
    """A worker writes when its batch is full or its time has come: the more workers, the smaller the batches."""
    rate = course.pages_per_s / machines.workers
    batch = min(settings.batch_pages, max(1.0, rate * settings.batch_ms / 1000))
    batches = rate / batch
    each = batches * (costs.BATCH_STATEMENTS + costs.ROUND_STATEMENTS) + costs.SECOND_STATEMENTS
    turns = course.busy_turns / course.busy_s if course.busy_s else 0.0
    statements = machines.workers * each + turns * costs.TURN_STATEMENTS
    return {
        "statements_per_s": statements,
        "statements_per_page": statements / course.pages_per_s if course.pages_per_s else 0.0,
        "pages_per_batch": batch,
        "rows_per_s": course.pages_per_s * costs.ROWS,
        "wal_bytes_per_s": course.pages_per_s * costs.WAL_BYTES,
        "cores": course.pages_per_s * costs.POSTGRES_MS / 1000,
        "connections": machines.workers * costs.WORKER_CONNECTIONS,
    }


def estimate_resources(course: SimulationResult, machines: Machines) -> dict[str, float]:
    return {
        "worker_cores": course.pages_per_s * costs.WORKER_MS / 1000,
        "worker_cores_at_most": course.most_pages_per_s * costs.WORKER_MS / 1000,
        "worker_memory_bytes": machines.workers * costs.WORKER_MB * 1e6,
    }


def money_of(course: SimulationResult, machines: Machines) -> dict[str, float]:
    """Whole cores for workers and those of the database while it is busy, and what is stored at its end for a month."""
    cores = max(1, math.ceil(course.most_pages_per_s * costs.WORKER_MS / 1000))
    hours = course.busy_s / HOUR_S
    stored = course.pages * costs.PAGE_BYTES / GB
    spent = {
        "workers": cores * hours * machines.core_hour,
        "database": machines.database_cores * hours * machines.core_hour,
        "storage_a_month": stored * machines.gb_month,
    }
    total = spent["workers"] + spent["database"] + spent["storage_a_month"]
    return spent | {"total": total, "per_million_pages": total / course.pages * 1e6 if course.pages else 0.0}
