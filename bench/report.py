"""How results are shown and written. Decides nothing about them."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from bench.compare import Comparison, make_rows
from bench.growth_step import Step
from bench.leases import AT_ONCE, LeaseStep
from bench.revisit import BUDGETS, KINDS, Result
from bench.roster import Entrant
from bench.stages import Stage
from bench.table import HEADINGS, Figure, as_markdown, as_text
from forager.config.native import check_native

STAGE_HEADINGS = ("stage", "what it does", "own µs/page", "PostgreSQL µs/page")
GROWTH_HEADINGS = (
    "known pages",
    "claim",
    "learn",
    "record",
    "together",
    "own",
    "PostgreSQL",
    "passed",
    "links asked",
    "worker MB",
)
LEASE_HEADINGS = ("domains", "claim", "release", "together", "PostgreSQL CPU", "next ready")
REVISIT_HEADINGS = ("requests/day", "plan", "stale time", "changes found", "requests")


def describe_machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "native": check_native(),
    }


def show_comparison(comparison: Comparison, entrants: Sequence[Entrant], *, is_markdown: bool) -> str:
    lines = [f"The {comparison.web} web:", ""] if is_markdown else [f"The {comparison.web} web:"]
    lines += [show_table(HEADINGS, make_rows(comparison, entrants), is_markdown=is_markdown), ""]
    lines.append(f"The web's own process: {comparison.serving_us:.0f} µs of CPU per page.")
    lines += [f"Skipped: {skipped.crawler}: {skipped.reason}" for skipped in comparison.skipped]
    lines += [f"INVALID: {problem}" for problem in comparison.invalid]
    return "\n".join(lines) + "\n"


def show_stages(web: str, stages: Sequence[Stage], *, is_markdown: bool) -> str:
    last = max(at for at, stage in enumerate(stages) if not stage.is_part) + 1
    counted = [stage for stage in stages if not stage.is_part]
    own, postgres = sum(stage.own_us for stage in counted), sum(stage.postgres_us for stage in counted)
    whole = Stage("together", "", own, postgres)
    rows = [
        (stage.name, stage.what, f"{stage.own_us:,.0f}", f"{stage.postgres_us:,.0f}")
        for stage in (*stages[:last], whole, *stages[last:])
    ]
    table = show_table(STAGE_HEADINGS, rows, is_markdown=is_markdown)
    return f"What a page of the {web} web costs, stage by stage:\n\n{table}\n"


def show_growth(steps: Sequence[Step], *, is_markdown: bool) -> str:
    rows = [_describe_step(step, steps[0]) for step in steps]
    title = "How the cost grows (µs per page; claim, learn and record are CPU of worker and backend):\n"
    return title + show_table(GROWTH_HEADINGS, rows, is_markdown=is_markdown, words=1) + "\n"


def _describe_step(step: Step, first: Step) -> tuple[str, ...]:
    return (
        f"{step.size:,}",
        f"{step.claim_us:.0f}",
        f"{step.learn_us:.0f}",
        f"{step.record_us:.0f}",
        f"{step.cpu_us:.0f} ({step.cpu_us / first.cpu_us:.2f} ×)",
        f"{step.client_us:.0f}",
        f"{step.postgres_us:.0f}",
        f"{step.passed_us:.0f} ({step.passed_us / first.passed_us:.2f} ×)",
        f"{step.asked:.1f}",
        f"{step.memory_mb:.0f}",
    )


def show_leases(steps: Sequence[LeaseStep], *, is_markdown: bool) -> str:
    rows = [_describe_leases(step, steps[0]) for step in steps]
    title = f"What {AT_ONCE} leases cost among so many domains (ms, medians; CPU on average):\n"
    return title + show_table(LEASE_HEADINGS, rows, is_markdown=is_markdown, words=1) + "\n"


def _describe_leases(step: LeaseStep, first: LeaseStep) -> tuple[str, ...]:
    return (
        f"{step.size:,}",
        f"{step.claim_ms:.1f}",
        f"{step.release_ms:.1f}",
        f"{step.turn_ms:.1f} ({step.turn_ms / first.turn_ms:.2f} ×)",
        f"{step.backend_ms:.1f} ({step.backend_ms / first.backend_ms:.2f} ×)",
        f"{step.next_ready_ms:.2f} ({step.next_ready_ms / first.next_ready_ms:.2f} ×)",
    )


def show_revisits(results: Sequence[Result], *, is_markdown: bool) -> str:
    rows = [_describe_plan(result) for result in results]
    chosen = [result for result in results if result.requests_per_day == BUDGETS[1]]
    kinds = [(kind.name, *(_describe_kind(result, kind.name) for result in chosen)) for kind in KINDS]
    return (
        "What a budget of requests is worth (all sites together):\n"
        + show_table(REVISIT_HEADINGS, rows, is_markdown=is_markdown)
        + f"\n\nVisits of a page per week, and its stale time, with {BUDGETS[1]} requests/day:\n"
        + show_table(("page", *(result.plan for result in chosen)), kinds, is_markdown=is_markdown, words=1)
        + "\n"
    )


def _describe_plan(result: Result) -> tuple[str, ...]:
    stale, whole = 1 - result.freshness(), result.whole
    per_day = f"{result.requests_per_day:g}"
    return per_day, result.plan, f"{stale:.1%}", f"{whole.changes_found:,}", f"{whole.requests:,}"


def _describe_kind(result: Result, kind: str) -> str:
    return f"{result.visits_per_week(kind):.1f} × ({1 - result.freshness(kind):.0%})"


def show_figures(figures: Sequence[Figure]) -> str:
    return "\n".join(str(figure) for figure in figures)


def show_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, is_markdown: bool, words: int = 2) -> str:
    return (as_markdown if is_markdown else as_text)(headings, rows, words=words)


def write_json(path: Path, found: dict[str, Any]) -> None:
    path.write_text(json.dumps(found, default=_plain, indent=2, ensure_ascii=False), encoding="utf-8")


def _plain(value: object) -> Any:
    if isinstance(value, Figure):
        return asdict(value) | {"is_reached": value.is_reached}
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
