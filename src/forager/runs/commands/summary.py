"""The last word of a crawl: what was done, what was not and why, where to look next. Pure; `write` only prints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from forager.cli import command_hints as hints
from forager.cli import format as words
from forager.cli import output
from forager.links.trap_descriptions import TRAP_WORDS
from forager.runs.commands.ending import count_fetched, limit_flags, list_hints, opening
from forager.runs.commands.outcome_counts import count_by_label
from forager.runs.commands.progress_view import domain_state
from forager.runs.models import DomainCount, RunReport, RunSpec

DROPPED = {
    "scheme": "not http or https",
    "scope": "out of scope (a wider --scope takes them)",
    "excluded": "by --include and --exclude",
    "nofollow": "the page asked not to follow",
    "binary": "files Forager does not read",
    "trap": "looked like a trap (endless calendars, repeating paths)",
    **{f"trap:{rule}": f"looked like a trap: {told}" for rule, told in TRAP_WORDS.items()},
    "too_many": "over crawl.max_links_per_page",
    "bad_url": "no URL at all",
    "duplicate": "repeated on the same page",
    "denied": "to domains on the deny list (`forager domains denied` shows it)",
    "purged": "to pages that were purged meanwhile",
    "switched_off": "sitemaps and feeds, which are switched off",
}
HINTS = {
    "address refused": ": not a public address; --allow-network lets it through",
    "robots unreachable": ": without a robots.txt nothing may be asked; tried again in an hour",
}
KEPT = {"stored": "stored", "known": "stored before"}
LOST = "lost:"
LOSSES = {
    "disk_full": "the disk is full",
    "store_away": "the object store did not answer",
    "store_refused": "the object store rejected them",
    "no_bucket": "the bucket is gone",
    "plugin_failed": "the plug-in that stores bodies failed",
    "not_writable": "the folder `bodies` of the data folder may not be written",
    "missing": "the stored file is gone",
}
MOST_ROWS = 8
WAITS = "waits until "


@dataclass(frozen=True, slots=True)
class Line:
    """One line and its colour."""

    text: str
    style: str = ""


def summary_lines(report: RunReport, spec: RunSpec, now: datetime) -> list[Line]:
    """The whole summary."""
    sections = (
        _done(report),
        _not_done(report, spec, now),
        _format_domains([domain for domain in report.standing if domain.status != "exhausted"]),
        _left_out(report.dropped),
        _format_bodies(report.bodies),
        _build_warnings(report, spec),
        _due([domain for domain in report.standing if domain.status == "exhausted"]),
        _next(report),
    )
    return [
        *_opening(report, spec, now),
        *_redirected(report),
        *(line for section in sections if section for line in (Line(""), *section)),
    ]


def write(lines: list[Line]) -> None:
    """To standard error; colours only on a terminal."""
    from rich.text import Text

    screen = output.console("stderr")
    for line in lines:
        screen.print(Text(line.text, style=line.style))


def _opening(report: RunReport, spec: RunSpec, now: datetime) -> list[Line]:
    sentence, style = opening(report, spec, now)
    progress = report.progress
    rate = progress.pages_done / progress.elapsed_s if progress.elapsed_s > 0 else 0.0
    figures = (
        f"run {progress.run_id} · {words.things(progress.pages_done, 'page')} in {words.duration(progress.elapsed_s)}"
        f" ({words.rate(rate)}) · {words.size(progress.wire_bytes)} read"
        f" · {words.things(progress.links_seen, 'link')}, {words.things(progress.pages_learned, 'new URL')}"
    )
    return [Line(sentence, style), Line(figures), *_format_listed(report)]


def _format_listed(report: RunReport) -> list[Line]:
    """What sitemaps and feeds listed, and how many of them could not be read."""
    listed = report.listed
    files = [
        words.things(number, noun) for number, noun in ((listed.sitemaps, "sitemap"), (listed.feeds, "feed")) if number
    ]
    lines = []
    if files:
        lines.append(Line(f"{words.things(listed.urls, 'URL')} from {' and '.join(files)}"))
    if listed.unread:
        name = report.progress.domains[0].name if len(report.progress.domains) == 1 else "NAME"
        unread = words.things(listed.unread, "sitemap or feed", "sitemaps or feeds")
        lines.append(Line(f"{unread} could not be read: `forager domain {name} sitemaps` says why"))
    return lines


def _redirected(report: RunReport) -> list[Line]:
    """Which seeds lead elsewhere: that was crawled instead."""
    moved = list(report.redirected.items())
    lines = [
        Line(f"{words.clean(seed)} {_verb(seed, url)} {words.clean(url)}, crawled instead", "yellow")
        for seed, url in moved[:MOST_ROWS]
    ]
    more = len(moved) - MOST_ROWS
    return [*lines, *([Line(f"and {words.things(more, 'more seed')} that redirect", "yellow")] if more > 0 else [])]


def _verb(seed: str, url: str) -> str:
    is_fallback = seed.startswith("https://") and url == f"http://{seed.removeprefix('https://')}"
    return "does not work over https:" if is_fallback else "redirects to"


def _done(report: RunReport) -> list[Line]:
    groups = count_by_label(report.progress.outcomes)
    if not groups:
        return []
    rows = [Line(_row(group.pages, group.label + HINTS.get(group.label, "")), group.colour) for group in groups]
    return [Line("done", "bold"), *rows]


def _not_done(report: RunReport, spec: RunSpec, now: datetime) -> list[Line]:
    rows = [Line(_row(pages, _format_reason(reason, spec, pages))) for reason, pages in _sort_by_count(report.waiting)]
    if not rows:
        return []
    if report.next_at is not None:
        rows.append(Line(f"{'':>9}  the first of them is due {words.format_relative(report.next_at, now)}"))
    return [Line("not done", "bold"), *rows]


def _format_reason(reason: str, spec: RunSpec, pages: int) -> str:
    """The reason, with the flag that would change it."""
    are, wait = ("is", "waits") if pages == 1 else ("are", "wait")
    noun = "page" if pages == 1 else "pages"
    match reason:
        case "too_deep":
            return f"{noun} {are} deeper than --depth {spec.max_depth}"
        case "over_limit":
            return f"{noun} {are} over {limit_flags(spec)}"
        case "retry_later":
            return f"{noun} {wait} for another try"
        case "domain_blocked":
            return f"{noun} of domains that are blocked or unreachable"
        case "domain_waits":
            return f"{noun} of domains that asked to wait"
        case "domain_paused":
            return f"{noun} of domains that are paused; `forager domain NAME resume` resumes them"
        case "paused":
            return f"{noun} {are} paused; `forager tasks resume` resumes them"
        case "waits_for_task":
            return f"{noun} {wait} for other tasks"
        case "stopped":
            return f"{noun} {are} left; the same command resumes"
        case _:
            return f"{noun}: {words.plain_reason(reason)}"


def _format_domains(domains: Sequence[DomainCount]) -> list[Line]:
    if not domains:
        return []
    width = min(40, max(len(domain.name) for domain in domains[:MOST_ROWS]))
    rows = [
        Line(
            f"  {words.truncate_middle(words.clean(domain.name), width):<{width}}  {domain_state(domain)[0]}"
            + (f", {words.things(domain.frontier, 'page')} waiting" if domain.frontier else "")
        )
        for domain in domains[:MOST_ROWS]
    ]
    more = len(domains) - MOST_ROWS
    rows += [Line(f"  and {words.things(more, 'more domain')}: forager domains")] if more > 0 else []
    return [Line("waiting", "bold"), *rows]


def _due(domains: Sequence[DomainCount]) -> list[Line]:
    """Sites that were visited to their end: when `forager up` or `forager refresh` visits them again."""
    if not domains:
        return []
    width = min(40, max(len(domain.name) for domain in domains[:MOST_ROWS]))
    rows = [
        Line(f"  {words.truncate_middle(words.clean(domain.name), width):<{width}}  {_since(domain)}")
        for domain in domains[:MOST_ROWS]
    ]
    return [Line("visited again by `forager up` or `forager refresh`", "bold"), *rows]


def _since(domain: DomainCount) -> str:
    return f"from {(domain.reason or '').removeprefix(WAITS)} on"


def _left_out(dropped: Mapping[str, int]) -> list[Line]:
    rows = [
        Line(_row(links, DROPPED.get(reason, words.plain_reason(reason)))) for reason, links in _sort_by_count(dropped)
    ]
    return [Line("links left out", "bold"), *rows] if rows else []


def _format_bodies(bodies: Mapping[str, int]) -> list[Line]:
    """What was lost stands out: it cannot be read again, and somebody has to make room."""
    kept = [Line(_row(bodies[what], told)) for what, told in KEPT.items() if bodies.get(what)]
    lost = {what.removeprefix(LOST): number for what, number in bodies.items() if what.startswith(LOST)}
    rows = [Line(_row(number, f"lost: {_loss_reason(reason)}"), "red") for reason, number in _sort_by_count(lost)]
    if rows:
        rows.append(Line(f"{'':>9}  their visits count all the same; `forager replay --refetch` fetches pages again"))
    return [Line("bodies", "bold"), *kept, *rows] if kept or rows else []


def _loss_reason(reason: str) -> str:
    return LOSSES.get(reason, words.plain_reason(reason))


def _build_warnings(report: RunReport, spec: RunSpec) -> list[Line]:
    """Why a crawl that found next to nothing may have missed a site, each with the command that finds out."""
    found = [Line(f"  {sentence}", "yellow") for sentence in list_hints(report, spec)]
    return [Line("perhaps", "bold"), *found] if found else []


def _next(report: RunReport) -> list[Line]:
    """Commands that work in the state the crawl left."""
    names = [domain.name for domain in report.progress.domains]
    commands = [hints.domain(names[0]), hints.pages(names[0])] if names else []
    if count_fetched(report):
        commands.append(hints.EXPORT)
    return [Line("next", "bold"), *(Line(f"  {command}", "cyan") for command in commands)] if commands else []


def _sort_by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(((reason, number) for reason, number in counts.items() if number), key=lambda pair: -pair[1])


def _row(number: int, text: str) -> str:
    return f"{words.count(number):>9}  {text}"
