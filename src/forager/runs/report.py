"""A run's progress and report, read from the database: the same for one worker or fifty, live or a year later."""

from collections.abc import Mapping

from forager.db.types import Connection
from forager.domains import store as domains
from forager.domains.sitemaps import listed_in_run
from forager.engine.models import describe_pause
from forager.frontier.models import OutcomeKind
from forager.links.scope import claim_depth, claim_patterns
from forager.runs.models import Progress, RunEnd, RunReport, RunSpec
from forager.stats import store as stats
from forager.storage.store import read_bodies

DOMAINS_SHOWN = 12
STANDING_SHOWN = 50
FEW_PAGES = 3
"""A crawl with no more pages than this may have missed the site behind them."""


async def read_progress(conn: Connection, run: int) -> Progress:
    totals = await stats.read_run(conn, run)
    outcomes = await stats.read_outcomes(conn, run)
    states, frontier = await stats.read_domain_states(conn, run)
    last = await stats.read_last_visit(conn, run)
    return Progress(
        run_id=run,
        elapsed_s=totals["elapsed_s"],
        workers=totals["workers"],
        pages_done=sum(count.pages for count in outcomes if count.is_page),
        pages_ok=sum(count.pages for count in outcomes if count.outcome == OutcomeKind.SUCCESS and count.is_page),
        frontier=frontier,
        wire_bytes=sum(count.wire_bytes for count in outcomes),
        links_seen=totals["links_seen"],
        pages_learned=totals["pages_learned"],
        outcomes=outcomes,
        domains=await stats.list_active_domains(conn, run, DOMAINS_SHOWN),
        domain_states=states,
        last_url=last["url"] if last else None,
        last_status_code=last["status_code"] if last else None,
        last_response_time_ms=last["response_time_ms"] if last else None,
        pause=describe_pause(totals["pause_reason"], totals["pause_detail"]) if totals["pause_reason"] else None,
    )


async def read_report(conn: Connection, run: int, spec: RunSpec, *, was_stopped: bool, has_failed: bool) -> RunReport:
    progress = await read_progress(conn, run)
    spec = await stats.find_run(conn, run) or spec  # with the seeds that were adopted
    has_limit = spec.max_pages is not None or spec.max_pages_per_domain is not None
    rows = await stats.read_waiting(
        conn, run, max_depth=claim_depth(spec), has_limit=has_limit and not was_stopped, patterns=claim_patterns(spec)
    )
    waiting = {row["reason"]: row["pages"] for row in rows}
    changed, unchanged = await stats.read_changes(conn, run)
    not_due, not_due_until = await stats.read_not_due(
        conn, run, max_depth=claim_depth(spec), patterns=claim_patterns(spec)
    )
    due = [row["due_at"] for row in rows if row["reason"] == "retry_later" and row["due_at"]]
    return RunReport(
        end=end_of(waiting, was_stopped=was_stopped, has_failed=has_failed),
        progress=progress,
        dropped=await stats.read_drops(conn, run),
        waiting=waiting,
        standing=await stats.list_blocked_domains(conn, run, STANDING_SHOWN),
        next_at=min(due, default=None),
        sitemaps=await domains.sitemaps_of_run(conn, run, limit=3) if progress.pages_ok <= FEW_PAGES else (),
        listed=await listed_in_run(conn, run),
        evidence=await stats.read_evidence(conn, run),
        redirected=spec.redirected,
        changed=changed,
        unchanged=unchanged,
        not_due=not_due,
        not_due_until=not_due_until,
        bodies=await read_bodies(conn, run),
    )


def end_of(waiting: Mapping[str, int], *, was_stopped: bool, has_failed: bool) -> RunEnd:
    """Pages left in scope without a limit as the reason mean that the workers were stopped."""
    if was_stopped:
        return RunEnd.STOPPED
    if has_failed:
        return RunEnd.FAILED
    if waiting.get("stopped"):
        return RunEnd.STOPPED
    return RunEnd.LIMIT if waiting.get("over_limit") or waiting.get("too_deep") else RunEnd.FINISHED
