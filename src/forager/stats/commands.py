"""`forager stats`: an overview, or one metric over time."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.durations import parse_duration
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import number, text_column
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.stats.overview import Series

Row = dict[str, Any]
BAR = 30


def register(app: typer.Typer) -> None:
    app.command("stats", cls=Command, rich_help_panel="Look")(stats)


def stats(
    metric: Annotated[
        str | None, typer.Argument(metavar="METRIC", help="One number over time, such as pages_per_second.")
    ] = None,
    *,
    since: Annotated[str, typer.Option("--since", metavar="SPAN", help="How far to look back.")] = "1h",
    step: Annotated[
        str | None, typer.Option("--step", metavar="SPAN", help="Length of a step; by default chosen.")
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Show everything at a glance, or one number over time."""
    settings = begin(home=home)
    from forager.stats import overview as numbers

    if metric is None:
        row = run_query(
            settings, "stats", lambda connection: numbers.overview(connection, dead_after_s=settings.worker.dead_after)
        )
        return output.write_json(row) if as_json else _write(row)
    span_s, step_s = _span(since, "--since"), round(_span(step, "--step")) if step else None
    since_at = clock.now() - timedelta(seconds=span_s)
    found = run_query(
        settings, "stats", lambda connection: numbers.series(connection, metric, since=since_at, step_s=step_s)
    )
    return output.write_json(asdict(found)) if as_json else _print_series(found)


def _span(text: str, flag: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"{flag}: {error}.") from None


def _write(row: Row) -> None:
    table.write(("what", text_column("now")), list(_lines(row)))


def _lines(row: Row) -> Iterator[tuple[str, str]]:
    known, read = words.count(row["pages_known"]), words.count(row["pages_crawled"])
    yield "pages", f"{known} known, {read} read, {row['frontier_size']:,.0f} to visit"
    good, refused = _share(row["success_rate"]), _share(row["error_rate"])
    yield "pace", f"{words.rate(row['pages_per_second'])}, {good} good, {refused} answered 4xx or 5xx"
    yield "received", words.size(row["bytes"])
    yield "domains", f"{words.count(row['domains'])}: {_counts(row['domain_states'])}; {row['paused_domains']:,} paused"
    active, silent = row["active_workers"], row["silent_workers"]
    yield "workers", f"{active:,.0f} active, {silent:,.0f} silent, {row['leases_held']:,.0f} leases"
    yield "waiting", _waiting(row)
    yield "open tasks", _counts(row["tasks_open"])
    yield "visits", _counts(row["visits"])
    yield "answers", _counts(row["statuses"])
    yield "failures", _counts(row["failures"])
    for stage, found in row["latency"].items():
        if found["p50"] is not None:
            half, most, nearly_all = (f"{found[quantile] * 1000:,.0f} ms" for quantile in ("p50", "p95", "p99"))
            yield f"{stage} takes", f"{half}; 95 %: {most}; 99 %: {nearly_all}"
    images = f"{words.things(row['images_found'], 'image')} ({words.count(row['images_stored'])} stored)"
    yield "found", f"{words.things(row['products'], 'product')}, {images}"
    yield "breakers", _counts(row["breakers"])
    yield "proxies", _counts(row["proxies"])
    yield "database", f"{words.size(row['database_bytes'])}, {row['connections']:.0f} connections"
    yield "alerts", _counts(row["alerts_open"])
    yield "runs", f"{words.count(row['runs'])}, {words.count(row['running_runs'])} running"


def _counts(numbers: Mapping[str, float]) -> str:
    there = {label: amount for label, amount in numbers.items() if amount}
    ordered = sorted(there.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{words.count(round(amount))} {words.plain_reason(label)}" for label, amount in ordered) or "–"


def _waiting(row: Row) -> str:
    """Domains that are due and that nobody has taken yet."""
    if not row["domains_waiting"]:
        return "no domain"
    domains = words.things(round(row["domains_waiting"]), "domain")
    return f"{domains}, the first for {words.duration(row['domain_wait_s'])}"


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _print_series(found: "Series") -> None:
    if not found.points:
        return output.say("No measurements in this time; the job `series` takes them, and workers count.")
    most = max((point.value or 0.0 for point in found.points), default=0.0)
    table.write(
        ("at", "label", number(found.unit), ""),
        [
            (
                f"{point.at:%m-%d %H:%M}",
                words.clean(point.label) or "–",
                "–" if point.value is None else f"{point.value:,.3f}".rstrip("0").rstrip("."),
                "▇" * round(BAR * (point.value or 0.0) / most) if most > 0 else "",
            )
            for point in found.points
        ],
    )
    return None
