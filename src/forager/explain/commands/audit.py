"""`forager audit politeness`: proof from the history that every request was polite. Exit code 1 when one was not."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.accounts.commands.audit_log import show_log
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, DomainName, Home
from forager.cli.help import Command, Group
from forager.cli.start import begin, run_query
from forager.cli.table import Cell, number, text_column

if TYPE_CHECKING:
    from rich.console import Console

    from forager.explain.politeness import Audit, DelayGroup, EarlyRequest, ForbiddenVisit, RobotsOverride
from forager.cli.durations import parse_past_time

BROKEN = 1
MOST_CLASSES = 20


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        cls=Group, rich_markup_mode=None, help="Prove that the crawl was polite; show who changed what."
    )
    family.command("politeness", cls=Command)(politeness)
    family.command("log", cls=Command)(show_log)
    app.add_typer(family, name="audit", rich_help_panel="Look after it", no_args_is_help=True)


def politeness(
    domain: DomainName = None,
    since: Annotated[
        str | None, typer.Option(help="Only requests since: 2026-01-31, or 7d, 12h, 30m ago.", metavar="WHEN")
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Prove that no request came too early or against robots.txt."""
    from forager.explain.politeness import audit_politeness

    begun = parse_past_time(since, clock.now()) if since is not None else None
    settings = begin(home=home)
    audit = run_query(
        settings,
        "audit",
        lambda connection: audit_politeness(
            connection, agent=settings.politeness.robots_agent, domain=domain, since=begun
        ),
    )
    if as_json:
        output.write_json(_document(audit))
    else:
        _write(audit)
    if not audit.is_clean:
        raise typer.Exit(BROKEN)


def _write(audit: "Audit") -> None:
    pace = audit.pace
    if not pace.requests:
        output.say("No request is recorded, so there is nothing to prove.")
        return
    screen = output.console()
    asked = f"{words.things(pace.requests, 'request')} to {words.things(pace.domains, 'domain')} on record"
    screen.print(asked, soft_wrap=True)
    screen.print()
    table.write(
        ("pace", number("requests"), number("smallest gap"), text_column("verdict")),
        [_class_row(each, audit) for each in pace.classes[:MOST_CLASSES]],
    )
    if len(pace.classes) > MOST_CLASSES:
        screen.print(f"and {words.count(len(pace.classes) - MOST_CLASSES)} more paces; --json lists them all.")
    screen.print()
    _write_delays(screen, audit)
    _write_robots(screen, audit)


def _class_row(each: "DelayGroup", audit: "Audit") -> tuple[str | Cell, ...]:
    gap = "–" if each.smallest_gap_ms is None else _seconds(each.smallest_gap_ms)
    match each.pace_ms:
        case None:
            label, verdict = "unproved", Cell("no pace was written down for them", "yellow")
        case 0:
            label, verdict = "unpaced", Cell(_format_no_delay(audit), "dim")
        case pace_ms:
            label = _seconds(pace_ms)
            verdict = (
                Cell(f"✗ {words.count(each.too_early)} too early", "red") if each.too_early else Cell("✓", "green")
            )
    return label, words.count(each.requests), gap, verdict


def _format_no_delay(audit: "Audit") -> str:
    more = audit.unpaced_count - len(audit.unpaced_domains)
    names = ", ".join(words.clean(name) for name, _ in audit.unpaced_domains)
    hosts = words.things(audit.unpaced_count, "host")
    return f"{hosts} by your leave: {names}" + (f" and {words.count(more)} more" if more > 0 else "")


def _write_delays(screen: "Console", audit: "Audit") -> None:
    judged = sum(each.gaps for each in audit.pace.with_delay)
    if audit.pace.too_early:
        broken = words.things(audit.pace.too_early, "request")
        _say(screen, f"{broken} came earlier than the pace in force allows:", is_kept=False)
        _list(screen, [_early(early) for early in audit.pace.examples], audit.pace.too_early)
    elif judged:
        _say(screen, f"No request came too early: {words.things(judged, 'gap')} kept the pace in force.", is_kept=True)
    else:
        screen.print(" – No pace can be judged: no two requests to one domain had one.")


def _write_robots(screen: "Console", audit: "Audit") -> None:
    robots = audit.robots
    compared = f"{words.things(robots.visits, 'visit')} to {words.things(robots.origins, 'origin')} compared"
    if robots.forbidden:
        broken = words.things(robots.forbidden, "visit")
        _say(screen, f"{broken} made although robots.txt forbids it ({compared}):", is_kept=False)
        _list(screen, [_forbidden(visit) for visit in robots.examples], robots.forbidden)
    else:
        _say(screen, f"No visit was forbidden by the robots.txt then valid: {compared}.", is_kept=True)
    if robots.overridden:
        visits = words.things(robots.overridden, "visit")
        screen.print(f" – {visits} made by the operator's order, although robots.txt forbids it:")
        _list(screen, [_override(order) for order in robots.overrides], len(robots.overrides))


def _override(order: "RobotsOverride") -> str:
    end = f" to {order.ended_at:%Y-%m-%d %H:%M}" if order.ended_at else " on"
    told = f"{order.domain} by the order of {order.ordered_by} from {order.started_at:%Y-%m-%d %H:%M}{end}"
    return words.clean(f"{told}: {order.reason}" if order.reason else told)


def _say(screen: "Console", sentence: str, *, is_kept: bool) -> None:
    from rich.text import Text

    colour = "green" if is_kept else "red"
    screen.print(Text(" ✓ " if is_kept else " ✗ ", style=f"bold {colour}").append(sentence, style="not bold default"))


def _list(screen: "Console", lines: list[str], total: int) -> None:
    from rich.text import Text

    for line in lines:
        screen.print(Text(f"   {line}"))
    if total > len(lines):
        screen.print(f"   and {words.count(total - len(lines))} more")


def _early(early: "EarlyRequest") -> str:
    from forager.explain.politeness import tell

    return f"{early.requested_at:%Y-%m-%d %H:%M:%S}  {words.clean(tell(early))}"


def _forbidden(visit: "ForbiddenVisit") -> str:
    place = f"line {visit.line}: " if visit.line is not None else ""
    told = words.clean(f"task {visit.task_id} {visit.url}: {place}{visit.rule}")
    return f"{visit.requested_at:%Y-%m-%d %H:%M:%S}  {told}"


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:,.3f} s"


def _document(audit: "Audit") -> dict[str, Any]:
    pace = audit.pace
    return {
        "is_clean": audit.is_clean,
        "domains": pace.domains,
        "requests": pace.requests,
        "pace": {
            "too_early": pace.too_early,
            "unpaced": pace.unpaced,
            "unproved": pace.unproved,
            "classes": [asdict(each) for each in pace.classes],
            "examples": [asdict(each) for each in pace.examples],
            "unpaced_domains": [{"domain": name, "requests": asked} for name, asked in audit.unpaced_domains],
        },
        "robots": asdict(audit.robots),
    }
