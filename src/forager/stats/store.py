"""One short function per statement of `queries.sql`. Opens no transactions: the caller does."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from forager import clock
from forager.db import statements
from forager.db.query import fetch_one
from forager.db.types import Connection, Row
from forager.engine.models import Pause
from forager.errors import ChallengeError
from forager.frontier.models import LOGIN_WALL, Outcome
from forager.runs.models import IMAGE, SITEMAP, DomainCount, Evidence, Holder, OutcomeCount, RunSpec, Scope
from forager.stats.processes import get_process_key, has_exited, is_local_process

SQL = statements.load("forager.stats")
UNKEPT_S = 60.0
"""A run without a recorded process is lost when it has had no worker since its first minute."""
SILENT_S = 300.0
"""A process of another machine that has not renewed its run for this time has lost it."""


async def start_run(conn: Connection, spec: RunSpec, *, by: str) -> int:
    order = json.dumps(asdict(spec))
    run: int = await conn.fetchval(
        SQL["start_run"], order, spec.max_pages, spec.max_pages_per_domain, spec.max_depth, by, get_process_key()
    )
    return run


async def open_run(conn: Connection, run: int, spec: RunSpec) -> None:
    await conn.execute(SQL["open_run"], run, json.dumps(asdict(spec)))


async def find_run(conn: Connection, run: int) -> RunSpec | None:
    """Returns the config of a run as it was given."""
    row = await conn.fetchrow(SQL["find_run"], run)
    return spec_from_json(row["spec"]) if row else None


async def run_started_at(conn: Connection, run: int) -> datetime:
    """Returns when a run began, by the database's clock."""
    moment: datetime = (await fetch_one(conn, SQL["find_run"], run))["started_at"]
    return moment


def spec_from_json(text: str) -> RunSpec:
    fields = json.loads(text)
    for name in ("seeds", "include", "exclude", "allow_networks", "bare"):
        fields[name] = tuple(fields.get(name, ()))
    return RunSpec(**fields | {"scope": Scope(fields["scope"])})


async def end_run(conn: Connection, run: int, status: str) -> None:
    await conn.execute(SQL["end_run"], run, status, get_process_key())


async def keep_run(conn: Connection, run: int) -> None:
    """Records that this process, which started the run, still works on it."""
    await conn.execute(SQL["keep_run"], run, get_process_key())


async def ensure_continuous_run(conn: Connection, spec: RunSpec, *, by: str) -> int:
    """Returns the continuous run, creating it where there is none."""
    await conn.execute(SQL["lock_standing_run"])
    run: int | None = await conn.fetchval(SQL["ensure_continuous_run"])
    if run is None:
        run = await conn.fetchval(SQL["start_standing_run"], json.dumps(asdict(spec)), spec.max_depth, by)
    assert run is not None
    return run


async def set_continuous_networks(conn: Connection, run: int, networks: Sequence[str]) -> None:
    await conn.execute(SQL["set_continuous_networks"], run, list(networks))


async def continuous_networks(conn: Connection) -> tuple[str, ...]:
    """Returns the networks that the latest `forager up` allowed past the address guard; none where there was none."""
    return tuple(row["network"] for row in await conn.fetch(SQL["continuous_networks"]))


async def assign_run(conn: Connection, run: int) -> None:
    await conn.execute(SQL["assign_run"], run)


async def take_orders(conn: Connection, foreman: str, *, silent_s: float, limit: int) -> list[int]:
    return sorted(row["id"] for row in await conn.fetch(SQL["take_orders"], foreman, silent_s, limit))


async def list_owned_runs(conn: Connection) -> list[tuple[int, str]]:
    """Returns assigned runs with the supervisor that owns each."""
    return [tuple(row) for row in await conn.fetch(SQL["list_owned_runs"])]


async def free_orders(conn: Connection, orders: Sequence[tuple[int, str]]) -> None:
    await conn.execute(SQL["free_orders"], [run for run, _ in orders], [keeper for _, keeper in orders])


async def keep_orders(conn: Connection, foreman: str, runs: Sequence[int]) -> dict[int, bool]:
    """Returns the runs that this supervisor still owns, and whether each has been asked to stop."""
    rows = await conn.fetch(SQL["keep_orders"], foreman, list(runs))
    return {row["id"]: row["is_stopping"] for row in rows}


async def request_stop(conn: Connection, run: int) -> bool:
    return await conn.fetchval(SQL["request_stop"], run) is not None


async def acquire_pages(conn: Connection, run: int, wanted: int) -> int:
    granted: int = await conn.fetchval(SQL["acquire_pages"], run, wanted)
    return granted


async def return_pages(conn: Connection, run: int, count: int) -> None:
    if count:
        await conn.execute(SQL["return_pages"], run, count)


async def count_outcomes(conn: Connection, run: int, outcomes: Sequence[Outcome]) -> None:
    """Counts these visits by outcome and status code or error code."""
    tally: dict[tuple[str, str], list[int]] = {}
    for outcome in outcomes:
        count = tally.setdefault((outcome.kind.value, reason_of(outcome)), [0, 0, 0])
        count[0] += 1
        count[1] += outcome.wire_bytes
        count[2] += outcome.response_time_ms or 0
    await conn.execute(
        SQL["count_outcomes"],
        run,
        [outcome for outcome, _ in tally],
        [reason for _, reason in tally],
        [pages for pages, _, _ in tally.values()],
        [size for _, size, _ in tally.values()],
        [time_ms for _, _, time_ms in tally.values()],
    )


def reason_of(outcome: Outcome) -> str:
    """Returns what was there in place of the page, the status code where there was a response, else the error's
    code."""
    if isinstance(outcome.error, ChallengeError):
        reason = outcome.error.reason
    elif outcome.reading is not None and LOGIN_WALL in outcome.reading.flags:
        reason = LOGIN_WALL
    else:
        reason = str(outcome.status_code or (outcome.error.code if outcome.error else "unknown"))
    if outcome.target.is_sitemap:
        return SITEMAP + reason
    return IMAGE + reason if outcome.target.is_image else reason


async def count_drops(conn: Connection, run: int, drops: Mapping[str, int]) -> None:
    if drops:
        await conn.execute(SQL["count_drops"], run, list(drops), list(drops.values()))


async def count_links(conn: Connection, run: int, *, seen: int, learned: int) -> None:
    await conn.execute(SQL["count_links"], run, seen, learned)


async def add_worker(
    conn: Connection, run: int | None, *, host: str, pid: int, pid_started: int, labels: Sequence[str] = ()
) -> int:
    worker: int = await conn.fetchval(SQL["add_worker"], run, host, pid, pid_started, list(labels))
    return worker


async def drain_workers(conn: Connection, *, worker: int | None = None, host: str | None = None) -> list[Any]:
    """Asks one running worker, or those of a machine, to stop; returns rows with their id, run, host and pid."""
    rows: list[Row] = await conn.fetch(SQL["drain_workers"], worker, host)
    return rows


async def worker_status(conn: Connection, worker: int) -> str | None:
    status: str | None = await conn.fetchval(SQL["worker_status"], worker)
    return status


async def is_draining(conn: Connection, worker: int) -> bool:
    return bool(await conn.fetchval(SQL["is_draining"], worker))


async def are_all_draining(conn: Connection, run: int) -> bool:
    """Returns whether a run has no workers left because operators drained them: it is not over."""
    return bool(await conn.fetchval(SQL["are_all_draining"], run))


async def heartbeat(conn: Connection, worker: int, pause: Pause | None = None) -> bool:
    """Records a heartbeat; returns False when this worker was declared dead."""
    told = (pause.reason.value, pause.detail, clock.monotonic() - pause.since) if pause else (None, None, None)
    return await conn.fetchval(SQL["beat"], worker, *told) is not None


async def end_worker(conn: Connection, worker: int) -> None:
    await conn.execute(SQL["end_worker"], worker)


async def find_running_workers(conn: Connection, host: str) -> list[tuple[int, int, int]]:
    """Returns workers of this machine that are registered as running: id, pid, start time of the pid."""
    return [tuple(row) for row in await conn.fetch(SQL["find_running_workers"], host)]


async def has_stale_workers(conn: Connection, *, silent_s: float, lost_s: float, host: str) -> bool:
    """Returns whether leases of a worker without heartbeat are to be released, or one of another machine is to be
    declared dead."""
    return bool(await conn.fetchval(SQL["has_stale_workers"], silent_s, lost_s, host))


async def mark_stale_dead(conn: Connection, *, silent_s: float, host: str) -> list[int]:
    """Declares workers of machines other than `host` dead that sent no heartbeat for `silent_s`; returns their ids."""
    return sorted(row["id"] for row in await conn.fetch(SQL["mark_stale_dead"], silent_s, host))


async def mark_workers_dead(conn: Connection, workers: Sequence[int]) -> None:
    await conn.execute(SQL["mark_workers_dead"], workers)


async def mark_all_dead(conn: Connection) -> None:
    """Marks all workers as dead in a copy of a database, before any process works on it."""
    await conn.execute(SQL["mark_all_dead"])


async def end_lost_runs(conn: Connection) -> None:
    """Ends the runs whose process was killed. For a process of another machine only the time since its last renewal
    is known."""
    rows = await conn.fetch(SQL["find_kept_runs"])
    lost = [row["id"] for row in rows if is_lost(row["kept_by"], row["silent_s"])]
    if lost:
        await conn.execute(SQL["end_lost_runs"], lost)


def is_lost(kept_by: str | None, silent_s: float) -> bool:
    """Returns whether the process that owns a run is gone."""
    if kept_by is None:
        return silent_s > UNKEPT_S
    return has_exited(kept_by) if is_local_process(kept_by) else silent_s > SILENT_S


async def read_clock(conn: Connection) -> datetime:
    """Returns the database's clock, which decides leases."""
    now: datetime = await conn.fetchval(SQL["read_clock"])
    return now


async def read_holders(conn: Connection, run: int, *, limit: int) -> list[Holder]:
    """Returns the other workers that hold domains of this run."""
    return [Holder(*row) for row in await conn.fetch(SQL["read_holders"], run, limit)]


async def read_run(conn: Connection, run: int) -> Any:
    return await conn.fetchrow(SQL["read_run"], run)


async def read_outcomes(conn: Connection, run: int) -> tuple[OutcomeCount, ...]:
    return tuple(OutcomeCount(*row) for row in await conn.fetch(SQL["read_outcomes"], run))


async def read_drops(conn: Connection, run: int) -> dict[str, int]:
    return {row["reason"]: row["links"] for row in await conn.fetch(SQL["read_drops"], run)}


async def read_domain_states(conn: Connection, run: int) -> tuple[dict[str, int], int]:
    """Returns the number of domains by status, and the number of pages to be visited, again or for the first time."""
    rows = await conn.fetch(SQL["read_domain_states"], run)
    again: int = await conn.fetchval(SQL["count_due_revisits"], run)
    return {row["status"]: row["domains"] for row in rows}, sum(row["frontier"] for row in rows) + again


async def list_active_domains(conn: Connection, run: int, limit: int) -> tuple[DomainCount, ...]:
    return tuple(DomainCount(*row) for row in await conn.fetch(SQL["list_active_domains"], run, limit))


async def list_blocked_domains(conn: Connection, run: int, limit: int) -> tuple[DomainCount, ...]:
    return tuple(DomainCount(*row) for row in await conn.fetch(SQL["list_blocked_domains"], run, limit))


async def read_last_visit(conn: Connection, run: int) -> Any:
    return await conn.fetchrow(SQL["read_last_visit"], run)


async def read_waiting(
    conn: Connection,
    run: int,
    *,
    max_depth: int,
    has_limit: bool,
    patterns: tuple[list[str] | None, list[str] | None, list[str] | None],
) -> list[Any]:
    """Returns rows (reason, pages, due_at) of known pages the run did not visit."""
    rows: list[Row] = await conn.fetch(SQL["read_waiting"], run, max_depth, has_limit, *patterns)
    return rows


async def adopt_seeds(conn: Connection, run: int, redirected: Mapping[str, str]) -> None:
    """Adds where its seeds lead to the seeds of a run, one by one: each is added once."""
    for seed, url in redirected.items():
        await conn.execute(SQL["adopt_seeds"], run, json.dumps([url]), json.dumps({seed: url}))


async def read_redirected(conn: Connection, run: int) -> dict[str, str]:
    """Returns seed → where it leads."""
    found: dict[str, str] = json.loads(await conn.fetchval(SQL["read_redirected"], run) or "{}")
    return found


async def read_evidence(conn: Connection, run: int) -> Evidence:
    """Returns what the last visits of a run show about pages that may not be what was asked for."""
    return Evidence(**dict(await fetch_one(conn, SQL["read_evidence"], run)))


async def read_changes(conn: Connection, run: int) -> tuple[int, int]:
    """Returns how many pages the run visited again and found changed, and how many unchanged."""
    row = await fetch_one(conn, SQL["read_changes"], run)
    return row["changed"], row["unchanged"]


async def read_not_due(
    conn: Connection,
    run: int,
    *,
    max_depth: int,
    patterns: tuple[list[str] | None, list[str] | None, list[str] | None],
) -> tuple[int, datetime | None]:
    """Returns how many pages of an earlier crawl the run did not visit, and when the first of them is due."""
    row = await fetch_one(conn, SQL["read_not_due"], run, max_depth, *patterns)
    return row["pages"], row["until"]


async def move_days(conn: Connection, domain_id: int, others: Sequence[int]) -> None:
    await conn.execute(SQL["move_days"], domain_id, others)
