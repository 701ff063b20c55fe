"""How a crawl ended: the exit code and the first sentence of the summary. Pure.

0 only where something was had and nothing was cut off; a crawl that had nothing to do is fine, too.
"""

from collections.abc import Mapping
from datetime import datetime

from forager.cli import command_hints as hints
from forager.cli import format as words
from forager.frontier.outcome_kind import LOGIN_WALL, OutcomeKind
from forager.runs.commands.outcome_counts import count_by_label
from forager.runs.models import DomainCount, RunEnd, RunReport, RunSpec, Scope

FAILED, NOTHING_HAD, INTERRUPTED, LIMIT_REACHED = 1, 6, 11, 15
GOOD, MIXED, BAD = "bold green", "bold yellow", "bold red"
FEW_PAGES = 3
ROBOTS = frozenset({OutcomeKind.BLOCKED_ROBOTS})
MOST_LOGINS = 3
LOGIN_WORDS = "asked for a login"
"""How the reason of a domain says that its pages ask for a login."""
NO_TLS = frozenset({"tls_error", "robots_unreachable", "connect_error"})
STOPPED_SENTENCE = "Stopped, everything is saved. The same command resumes."


def exit_code(report: RunReport, *, is_refresh: bool = False) -> int:
    """What the shell is told. A refresh visits what was visited before: that a depth limit cut the crawl is no news."""
    match report.end:
        case RunEnd.STOPPED:
            return INTERRUPTED
        case RunEnd.FAILED:
            return FAILED
        case RunEnd.FINISHED | RunEnd.LIMIT if not count_fetched(report) and (
            count_attempted(report) or _list_blocked(report)
        ):
            return NOTHING_HAD
        case RunEnd.LIMIT if report.waiting.get("over_limit") or not is_refresh:
            return LIMIT_REACHED
        case _:
            return 0


def count_fetched(report: RunReport) -> int:
    """Pages that came, or are as they were; a redirect is no page, nor is a login form."""
    return sum(
        row.pages
        for row in report.progress.outcomes
        if row.outcome == OutcomeKind.SUCCESS
        and row.is_page
        and not is_redirect(row.reason)
        and row.reason != LOGIN_WALL
    )


def count_attempted(report: RunReport) -> int:
    return sum(row.pages for row in report.progress.outcomes if row.outcome != OutcomeKind.CANCELLED and row.is_page)


def is_redirect(reason: str) -> bool:
    return reason.startswith("3") and reason != "304"


def opening(report: RunReport, spec: RunSpec, now: datetime) -> tuple[str, str]:
    """The sentence that says how it went, and its colour."""
    match report.end:
        case RunEnd.STOPPED:
            return STOPPED_SENTENCE, MIXED
        case RunEnd.FAILED:
            return "The crawl failed.", BAD
    if not count_fetched(report):
        return _describe_failure(report)
    if report.end is RunEnd.LIMIT:
        return f"{limit_message(report.waiting, spec)} The same command continues{_limit_hint(report, spec)}.", MIXED
    if later := report.waiting.get("retry_later", 0):
        return _later(later, report, now), MIXED
    if report.changed + report.unchanged or report.not_due:
        return _again(report, now), GOOD
    return "Finished: nothing is left that may be visited now.", GOOD


def _again(report: RunReport, now: datetime) -> str:
    """Of a site that was crawled before: what is new, what changed, and what is not due."""
    new = max(count_fetched(report) - report.changed - report.unchanged, 0)
    counts = f"{words.count(new)} new, {words.count(report.changed)} changed, {words.count(report.unchanged)} the same"
    return f"Finished: {counts}{_not_due(report, now)}."


def _not_due(report: RunReport, now: datetime) -> str:
    if not report.not_due:
        return ""
    pages = f"{words.things(report.not_due, 'page')} {'is' if report.not_due == 1 else 'are'}"
    until = report.not_due_until
    when = f" until {words.format_day(until, now)}" if until is not None and until > now else ""
    them = "it" if report.not_due == 1 else "them"
    return f"; {pages} not due{when} (`{hints.refresh(_name(report), now=True)}` visits {them} now)"


def limit_message(waiting: Mapping[str, int], spec: RunSpec) -> str:
    """Which limit cut what, with its flag."""
    if over := waiting.get("over_limit", 0):
        return f"The limit is reached: {words.things(over, 'known page')} left out by {limit_flags(spec)}."
    deep = waiting.get("too_deep", 0)
    return f"Cut off: {words.things(deep, 'known page')} left out by --depth {spec.max_depth}."


def limit_flags(spec: RunSpec) -> str:
    flags = [("--max-pages", spec.max_pages), ("--max-pages-per-domain", spec.max_pages_per_domain)]
    named = " or ".join(f"{flag} {value}" for flag, value in flags if value is not None)
    return named or "the page limit of their domain"


def _limit_hint(report: RunReport, spec: RunSpec) -> str:
    if report.waiting.get("over_limit"):
        return "" if spec.max_pages or spec.max_pages_per_domain else " once it is raised"
    return " with a larger --depth"


def _later(pages: int, report: RunReport, now: datetime) -> str:
    since = f"from {report.next_at:%H:%M:%S} UTC on" if report.next_at and report.next_at > now else "now"
    one = pages == 1
    return (
        f"Finished, but for {words.things(pages, 'page')} that failed for now: `{hints.refresh(_name(report))}` tries "
        f"{'it' if one else 'them'} again, {since}."
    )


def _describe_failure(report: RunReport) -> tuple[str, str]:
    refusing = _list_blocked(report)
    if count_attempted(report):
        reasons = ", ".join(
            f"{words.count(group.pages)} {group.label}" for group in count_by_label(report.progress.outcomes)
        )
        more = f" `{hints.reset(refusing[0].name)}` lets the site be tried again." if refusing else ""
        return f"No page could be fetched: {reasons}.{more}", BAD
    if refusing:
        first = refusing[0]
        why = f"{first.status}: {words.plain_reason(first.reason)}" if first.reason else first.status
        return f"Nothing was visited: {first.name} is {why}. `{hints.reset(first.name)}` lets it be tried again.", BAD
    name = _name(report)
    again = f" `{hints.refresh(name, now=True)}` visits its pages again." if name else ""
    if report.waiting:
        return "Nothing could be visited now; what waits, and why, is below.", MIXED
    return f"Nothing was left to visit: all known pages were visited before.{again}", MIXED


def list_hints(report: RunReport, spec: RunSpec) -> list[str]:
    """Returns what the evidence suggests, with commands: sites that ask for a login and, of a crawl that found next to
    nothing, or nothing but empty pages, where the site may be."""
    found = [
        f"{domain.name} asks for a login: `{hints.settings(domain.name)}` lists --username, --cookies and --login-url"
        for domain in report.standing[:MOST_LOGINS]
        if LOGIN_WORDS in (domain.reason or "")
    ]
    if report.end in {RunEnd.STOPPED, RunEnd.FAILED} or not count_attempted(report):
        return found
    evidence, name, had = report.evidence, _name(report), count_fetched(report)
    if name and evidence.shells and evidence.shells * 2 >= had:
        pages = f"{words.things(evidence.shells, 'page')} {'has' if evidence.shells == 1 else 'have'}"
        found.append(f"{pages} no text and a script: `{hints.rendered(name)}`")
    if had > FEW_PAGES:
        return found
    reasons = {row.reason for row in report.progress.outcomes}
    if name and not found and (evidence.asks_for_login or evidence.login_forms):
        how = f"`{hints.login(name, evidence.login_url)}`" if evidence.login_url else f"`{hints.domain_settings(name)}`"
        found.append(f"it asks for a login: {how}; see docs/how-to/login.md")
    if evidence.challenges:
        found.append("it answers with a challenge for browsers: its owner can let your User-Agent through")
    if name and not had and ROBOTS & {row.outcome for row in report.progress.outcomes}:
        found.append(f"robots.txt forbids it; only on a site of your own: `{hints.override_robots(name)}`")
    out = report.dropped.get("scope", 0)
    if had and out and not report.progress.pages_learned and not report.unchanged and spec.scope is not Scope.PAGE:
        found.append(f"{words.things(out, 'link')} lead out of scope: a wider --scope (host, domain, any) takes them")
    if not had and any(map(is_redirect, reasons)) and out and spec.seeds:
        found.append(f"the seed leads to another site: `{hints.fetch(spec.seeds[0])}` shows where; crawl that one")
    if NO_TLS & reasons and not had and (plain := _without_tls(spec)):
        found.append(f"the site may speak http only: `{hints.crawl(plain, *_networks(spec))}`")
    found += [f"robots.txt names a sitemap, which was not read: `{hints.sitemap(url)}`" for url in report.sitemaps]
    return found


def _without_tls(spec: RunSpec) -> str | None:
    seed = spec.seeds[0] if spec.seeds else ""
    return f"http://{seed.removeprefix('https://')}" if seed.startswith("https://") else None


def _networks(spec: RunSpec) -> list[str]:
    return [word for network in spec.allow_networks for word in ("--allow-network", network)]


def _list_blocked(report: RunReport) -> list[DomainCount]:
    return [domain for domain in report.standing if domain.status in {"blocked", "unreachable"}]


def _name(report: RunReport) -> str | None:
    """The domain a hint is about; None where there are several."""
    names = [domain.name for domain in report.progress.domains]
    return names[0] if len(names) == 1 else None
