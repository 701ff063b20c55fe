"""The data types of `forager why`: gates (conditions of a visit), the prediction they add up to, and shared wording."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pydantic import with_config

from forager.config.settings import Settings
from forager.db.rows import RECORD
from forager.politeness.guard import AddressGuard, guard_from_settings
from forager.runs.models import RunSpec, Scope

DEFAULT_DEPTH = RunSpec(()).max_depth
MOST_SEEDS = 3


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """The settings that decide about a visit; the same values that a worker gets."""

    robots_agent: str
    delay_s: float
    unpaced_hosts: tuple[str, ...]
    guard: AddressGuard
    dead_after_s: float
    max_domain_errors: int
    max_unreachable: int
    adaptive_pace: bool
    breaker_failures: int
    breaker_reset_s: float


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Gate:
    """One condition of a visit."""

    name: str
    is_open: bool | None
    """None: it tells something and stops nothing."""
    sentence: str
    opens_at: datetime | None = None
    """Of a closed gate: when it opens by itself; None: not by itself."""
    remedy: str | None = None
    """What a person can type to open it."""

    @property
    def is_closed(self) -> bool:
        return self.is_open is False

    @property
    def is_permanent(self) -> bool:
        return self.is_closed and self.opens_at is None


@dataclass(frozen=True, slots=True)
class Prediction:
    """The result: the page is fetched now, at a later time, or never."""

    kind: Literal["now", "at", "never"]
    because: str
    at: datetime | None = None
    remedy: str | None = None


def never(gate: Gate) -> Prediction:
    return Prediction("never", gate.sentence, remedy=gate.remedy)


def latest_opening(gates: Iterable[Gate], now: datetime) -> datetime:
    """Returns when all closed gates are open; one whose time has passed only waits for the next check."""
    return max([now, *(gate.opens_at for gate in gates if gate.is_closed and gate.opens_at)])


def format_time(at: datetime, now: datetime) -> str:
    """Returns the time in UTC; with the date only if it is another day."""
    return f"{at:%H:%M:%S} UTC" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M} UTC"


def span(seconds: float) -> str:
    """Formats a configured duration, not a measured one: `1 s`, `0.5 s`, `3 min`, `2 h`, `14 d`."""
    for unit_s, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit_s:
            return f"{round(seconds / unit_s, 1):g} {unit}"
    return f"{round(seconds, 3):g} s"


def things(number: int, one: str) -> str:
    return f"{number:,} {one}" + ("" if number == 1 else "s")


def after(at: datetime, seconds: float) -> datetime:
    """Adds seconds, clamped: the last visit of a slow site with a million pages may lie beyond the largest datetime."""
    try:
        return at + timedelta(seconds=seconds)
    except OverflowError:
        return datetime.max.replace(tzinfo=at.tzinfo)


def crawl_command(url: str) -> str:
    return f"forager crawl {shlex.quote(url)}"


def refresh_command(name: str) -> str:
    return f"forager refresh {shlex.quote(name)} --now"


def revisit_command(url: str) -> str:
    return f"forager page {shlex.quote(url)} every 1d"


def domain_command(name: str, verb: str) -> str:
    return f"forager domain {shlex.quote(name)} {verb}"


def resume_command(run: int, spec: RunSpec) -> str:
    """Returns the command that resumes a run; a long list of seeds is stored only in the database."""
    if spec.is_long or len(spec.seeds) > MOST_SEEDS:
        return f"forager worker --run {run}"
    flags = [] if spec.scope is Scope.HOST else ["--scope", spec.scope.value]
    for name, globs in (("--include", spec.include), ("--exclude", spec.exclude)):
        flags += [word for glob in globs for word in (name, glob)]
    for name, value, default in (
        ("--depth", spec.max_depth, DEFAULT_DEPTH),
        ("--max-pages", spec.max_pages, None),
        ("--max-pages-per-domain", spec.max_pages_per_domain, None),
        ("--delay", spec.delay_s, None),
    ):
        flags += [] if value == default else [name, f"{value:g}"]
    flags += [word for network in spec.allow_networks for word in ("--allow-network", network)]
    return shlex.join(["forager", "crawl", *spec.seeds, *flags])


def build_fetch_policy(settings: Settings) -> FetchPolicy:
    return FetchPolicy(
        robots_agent=settings.politeness.robots_agent,
        delay_s=settings.politeness.delay,
        unpaced_hosts=settings.politeness.no_delay_hosts,
        guard=guard_from_settings(settings),
        dead_after_s=settings.worker.dead_after,
        max_domain_errors=settings.failures.block_after,
        max_unreachable=settings.failures.unreachable_after,
        adaptive_pace=settings.politeness.adaptive_delay,
        breaker_failures=settings.failures.breaker_failures,
        breaker_reset_s=settings.failures.breaker_reset,
    )
