"""The gates of a page, with their texts: known, in scope of its run, allowed by robots.txt and the address guard, and
due."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from forager.config.crawl_settings import CrawlSettings
from forager.db.types import Row
from forager.domains.access import read_robots_agent
from forager.domains.sitemaps import NamingFile
from forager.errors import AddressBlockedError
from forager.explain.conditions import (
    FetchPolicy,
    Gate,
    Prediction,
    after,
    crawl_command,
    format_time,
    latest_opening,
    never,
    refresh_command,
    revisit_command,
    span,
    things,
)
from forager.explain.why_domain import DomainSnapshot, budget_sentence
from forager.explain.why_traps import link_gate, trap_gate
from forager.frontier import page_priority
from forager.frontier.revisit import next_interval
from forager.frontier.sitemap_revisit import FEEDS
from forager.links.scope import CrawlScope, DomainScope, claim_depth
from forager.parsing.login import is_logout_url, is_same_page
from forager.politeness.guard import host_as_ip, kind_of
from forager.robots import rules as robots
from forager.urls.domain import origin_of, registrable

FINAL = ("address", "robots", "session")
DEFAULT_PORTS = {"http": 80, "https": 443}
LONGEST_MESSAGE = 200
ADAPTIVE_EVERY_S = 86_400.0
"""Initial interval of an adaptive domain without a set frequency; the claim uses the same number."""


@dataclass(frozen=True, slots=True)
class PageSnapshot:
    """What is known about one URL. `row` is None if it is not a known page."""

    url: str
    domain: str
    row: Row | None
    under_way: int = 0
    """Number of visits of its domain that a worker has already claimed."""
    before: int = 0
    """Number of other visits of its domain that come first."""
    traps: Sequence[Any] = ()
    """Traps found in its domain; for an unknown domain, the trap that keeps it unknown."""
    cut: Sequence[Any] = ()
    """For an unknown URL: pages of its domain whose links were not all taken."""
    listed_in: Sequence[NamingFile] = ()
    """Sitemaps and feeds that list it."""


def list_checks(page: PageSnapshot, domain: DomainSnapshot | None, manners: FetchPolicy) -> tuple[Gate, ...]:
    known = (
        _known_checks(page, domain) if page.row is not None and domain is not None else _unknown_checks(page, domain)
    )
    return (*known, *_session(page, domain), _robots(page, domain, manners), _guard(page, domain, manners))


def find_blocking(gates: Sequence[Gate]) -> Gate | None:
    """Returns the blocking gate; one that a further request cannot change comes first."""
    ordered = sorted(gates, key=lambda gate: FINAL.index(gate.name) if gate.name in FINAL else len(FINAL))
    return next((gate for gate in ordered if gate.is_permanent), None)


def predict(
    page: PageSnapshot, gates: Sequence[Gate], domain: Prediction, facts: DomainSnapshot, delay_s: float
) -> Prediction:
    """Predicts from the page's own gates first, then its domain's, then its position in the queue."""
    if stuck := find_blocking(gates):
        return never(stuck)
    is_taken = page.row is not None and page.row["locked_by"] is not None
    if is_taken and domain.kind == "now":
        return Prediction("now", domain.because)
    if domain.kind == "never":
        return domain
    if not is_taken and facts.pages_left is not None and page.before >= facts.pages_left:
        left = f"its run has {things(facts.pages_left, 'page')} left"
        because = f"{things(page.before, 'visit')} of its domain first, and {left}"
        return Prediction("never", because, remedy=crawl_command(page.url))
    closed = [gate for gate in gates if gate.is_closed]
    opens_at = latest_opening(closed, domain.at or facts.now)
    first = page.under_way + page.before
    reasons = [gate.sentence for gate in closed]
    if domain.kind == "now" or (domain.at or facts.now) > facts.now:
        reasons = [reason for reason in reasons if reason not in domain.because] + [domain.because]
    if first:
        reasons.append(
            f"{things(first, 'visit')} of its domain first" + (f", one every {span(delay_s)}" if delay_s else "")
        )
    return Prediction("at", ", ".join(reasons) or "every gate is open", after(opens_at, first * delay_s))


# A page we know ------------------------------------------------------------------------------------------------------


def _known_checks(page: PageSnapshot, domain: DomainSnapshot) -> tuple[Gate, ...]:
    row = page.row
    assert row is not None
    gates = [
        Gate("known", True, _describe_discovery(page, row)),
        _scope(page, domain),
        _depth(row, domain),
        _budget(row, domain),
        _status(page, row, domain),
        _task(row, domain),
        Gate("rank", None, _rank(row)),
        _visit(row, domain.now),
        _check_revisit(row, domain),
    ]
    return tuple(gate for gate in gates if gate is not None)


def _describe_discovery(page: PageSnapshot, row: Row) -> str:
    """Returns how the page became known: as a seed, through a sitemap or feed, or through links."""
    if row["is_seed"]:
        return "a seed"
    named = " and ".join(f"the {_kind_of(file)} {file.url}" for file in page.listed_in[:2])
    if row["is_sitemap"]:
        return "a sitemap or feed" + (f", listed in {named}" if named else "")
    return f"listed in {named}" if named else f"found {things(row['depth'], 'link')} from a seed"


def _kind_of(file: NamingFile) -> str:
    return "feed" if file.format in FEEDS else "sitemap"


def _depth(row: Row, domain: DomainSnapshot) -> Gate:
    spec, chosen = domain.spec, domain.chosen.get("max_depth")
    if spec is None and chosen is None:
        return Gate("depth", None, f"{row['depth']}")
    deepest = claim_depth(spec) if spec else chosen
    limit = "the limit of its run"
    if deepest and chosen is not None:
        deepest, limit = chosen, "the limit of its settings"
    if row["depth"] <= deepest:
        return Gate("depth", True, f"{row['depth']}, {limit} is {deepest}")
    sentence = f"{row['depth']}, deeper than {limit} ({deepest})"
    return Gate("depth", False, sentence, remedy=f"forager domain {domain.row['name']} set --max-depth {row['depth']}")


def _budget(row: Row, domain: DomainSnapshot) -> Gate | None:
    """Returns the gate of a first visit whose domain has spent its page budget; revisits may not be counted."""
    facts = domain.row
    is_first = row["status"] in {"discovered", "queued"} and not row["retry_count"]
    if facts["budget_left"] is None or facts["budget_left"] > 0 or not (is_first or facts["counts_revisits"]):
        return None
    limits = [limit for limit in (facts["max_pages_per_run"], facts["max_pages_per_domain"]) if limit is not None]
    remedy = f"forager domain {facts['name']} set --max-pages N"
    return Gate("budget", False, budget_sentence(facts, min(limits)), facts["budget_until"], remedy=remedy)


def _status(page: PageSnapshot, row: Row, domain: DomainSnapshot) -> Gate:
    status, has_task = row["status"], row["task_id"] is not None
    if trap := next((trap for trap in page.traps if trap["id"] == row["trap_id"]), None):
        return trap_gate("status", f"{status}:", page.domain, trap)
    if status in {"discovered", "queued"}:
        return Gate("status", True, f"{status}: " + ("not visited yet" if not row["visit_id"] else "to be tried again"))
    if status == "fetched":
        if has_task:
            return Gate("status", True, "fetched, and visited again")
        if row["duplicate_of"] is not None and row["revisit_every_s"] is None:
            instead = f"fetched, and the same as {row['duplicate_of']}, which is visited again instead"
            return Gate("status", False, instead, remedy=revisit_command(row["url"]))
        refresh_at = _refresh_at(domain)
        if refresh_at is not None:
            return Gate("status", False, "fetched, and visited again when its domain is refreshed", refresh_at)
        is_done = domain.row["status"] == "exhausted"
        remedy = refresh_command(domain.row["name"]) if is_done else revisit_command(row["url"])
        return Gate("status", False, "fetched, and no revisit is planned", remedy=remedy)
    words = {"failed": "every try failed", "blocked": "it was refused", "gone": "the server says it is gone"}
    return Gate("status", False, f"{status}: {words[status]}", remedy=crawl_command(row["url"]))


def _refresh_at(domain: DomainSnapshot) -> datetime | None:
    """Returns when the whole domain is visited again, if known: an exhausted one may become active earlier for a
    revisit."""
    at: datetime | None = domain.row["next_crawl_after"]
    if domain.row["status"] != "exhausted" or at is None:
        return None
    revisit_at = domain.frontier["next_at"]
    return at if revisit_at is None or at < revisit_at else None


def _task(row: Row, domain: DomainSnapshot) -> Gate | None:
    if row["task_id"] is None:
        return None
    name = f"task {row['task_id']}" + (f", try {row['retry_count'] + 1}" if row["retry_count"] else "")
    if row["locked_by"] is not None:
        since = format_time(row["locked_at"], domain.now)
        return Gate("task", True, f"{name}, taken by worker {row['locked_by']} at {since}")
    if row["task_status"] == "paused":
        return _paused(row, name, domain.now)
    if row["task_status"] != "pending":
        return Gate("task", False, f"{name} is {row['task_status']}")
    if row["scheduled_for"] > domain.now:
        return Gate("task", False, f"{name} is planned", row["scheduled_for"])
    return Gate("task", True, f"{name}, due since {format_time(row['scheduled_for'], domain.now)}")


def _paused(row: Row, name: str, now: datetime) -> Gate:
    """Returns the gate of a task that an operator, who is named, paused, or that waits for the task it depends on."""
    if row["is_waiting"]:
        state = row["depends_on_status"] or "gone"
        sentence = f"{name} waits for task {row['depends_on']}, which is {state}"
        return Gate("task", False, sentence, remedy=f"forager task {row['depends_on']}")
    told = f"{name} is paused"
    if row["ordered_by"] is not None:
        told += f", by {row['ordered_by']} at {format_time(row['ordered_at'], now)}"
    if row["order_reason"]:
        told += f": {row['order_reason'][:LONGEST_MESSAGE]}"
    return Gate("task", False, told, remedy=f"forager tasks resume {row['task_id']}")


def _rank(row: Row) -> str:
    place = f"{row['priority']} (1 is first, 10 last): "
    if row["is_seed"]:
        return place + "a seed"
    if row["priority"] != page_priority.priority_of(row["url"], row["depth"]):
        return place + "set when it was found"
    if page_priority.is_home(row["url"]):
        return place + "a home page"
    if row["depth"] >= page_priority.DEEP and row["priority"] == page_priority.LOW:
        return place + f"a deep page, {row['depth']} links from a seed"
    kinds = {
        page_priority.HIGH: "near to a seed",
        page_priority.MEDIUM: "a content page",
        page_priority.LOW: "pagination, an archive or a list",
    }
    return place + kinds[row["priority"]]


def _visit(row: Row, now: datetime) -> Gate:
    if row["visit_id"] is None:
        return Gate("last visit", None, "never")
    ending = " ".join(str(word) for word in (row["outcome"], row["status_code"], row["error_code"]) if word is not None)
    told = f": {row['error_message'][:LONGEST_MESSAGE]}" if row["error_message"] else ""
    return Gate("last visit", None, f"{format_time(row['completed_at'], now)}, task {row['visit_id']}: {ending}{told}")


def _check_revisit(row: Row, domain: DomainSnapshot) -> Gate:
    settled = domain.row
    own_s, domain_s = row["revisit_every_s"], settled["revisit_every_s"]
    changed = f"; {row['changes']:,} of {row['comparisons']:,} visits found it changed" if row["comparisons"] else ""
    if row["is_sitemap"]:
        return Gate("recurrence", None, f"read again by how often it changes{changed}")
    if own_s is not None:
        return Gate("recurrence", None, f"every {span(own_s)}, its own frequency{changed}")
    if row["duplicate_of"] is not None:
        return Gate("recurrence", None, f"none: a duplicate of {row['duplicate_of']}{changed}")
    if settled["is_adaptive"]:
        every_s = next_interval(
            frequency_s=domain_s or ADAPTIVE_EVERY_S,
            is_adaptive=True,
            price=settled["revisit_price"],
            comparisons=row["comparisons"],
            changes=row["changes"],
            watched_s=row["watched_s"],
        )
        return Gate("recurrence", None, f"about every {span(every_s)}, learned{changed}")
    if domain_s is not None:
        return Gate("recurrence", None, f"every {span(domain_s)}, as its domain{changed}")
    return Gate("recurrence", None, f"none: visited once{changed}")


# A page we do not know -----------------------------------------------------------------------------------------------


def _unknown_checks(page: PageSnapshot, domain: DomainSnapshot | None) -> tuple[Gate, ...]:
    remedy = crawl_command(page.url)
    unknown = Gate("known", False, f"it is not known: {_unlinked(page)}", remedy=remedy)
    if domain is None and page.traps:
        return unknown, trap_gate("link", "a link to it is", page.traps[0]["domain"], page.traps[0])
    return (
        unknown,
        _scope(page, domain),
        link_gate(
            page.url,
            page.domain,
            page.traps,
            has_documents=domain is None or domain.chosen.get("documents", True),
        ),
    )


def _unlinked(page: PageSnapshot) -> str:
    if not page.cut:
        return "no page that was visited links to it"
    named = " and ".join(f"{row['url']} ({things(row['links_count'], 'link')} taken)" for row in page.cut[:2])
    has = "has" if len(page.cut) == 1 else "have"
    return (
        f"no link that was taken leads to it. {named} {has} more links than crawl.max_links_per_page allows, "
        "and it may be among the rest"
    )


# Both ----------------------------------------------------------------------------------------------------------------


def _scope(page: PageSnapshot, domain: DomainSnapshot | None) -> Gate:
    if domain is None or domain.spec is None:
        return Gate("scope", None, "no run says how far to go")
    spec, run = domain.spec, domain.row["run_id"]
    if page.row is not None and page.row["is_sitemap"]:
        return Gate("scope", True, "a sitemap or feed, which may be anywhere")
    if refused := _chosen_scope(page, domain):
        return refused
    # The run includes this domain, even if its list of seeds is too long to be part of its specification.
    reach = CrawlScope.of(spec, domains={page.domain}, parents={registrable(page.domain)})
    match reach.refusal(page.url, page.domain):
        case None:
            return Gate("scope", True, f"in reach of run {run} (scope {spec.scope.value})")
        case "scope":
            sentence = f"outside the scope of run {run} ({spec.scope.value})"
        case _:
            sentence = f"left out by the patterns of run {run}"
    return Gate("scope", False, sentence, remedy=crawl_command(page.url))


def _session(page: PageSnapshot, domain: DomainSnapshot | None) -> tuple[Gate, ...]:
    """A domain with a login has links that are never followed."""
    login_url = domain.row["login_url"] if domain is not None else None
    if login_url is None:
        return ()
    if is_logout_url(page.url):
        return (Gate("session", False, "it would end the session of its domain's login: it is never visited"),)
    if is_same_page(page.url, login_url):
        return (Gate("session", False, "it is the page of its domain's login: it is no content"),)
    return (Gate("session", True, f"visited with the login at {login_url}"),)


def _chosen_scope(page: PageSnapshot, domain: DomainSnapshot) -> Gate | None:
    """Returns the gate of a page that the crawl settings of its domain leave out; seeds are always in scope."""
    settings = CrawlSettings.model_validate(
        {name: value for name, value in domain.chosen.items() if name in {"scope", "prefixes", "include", "exclude"}}
    )
    scope = DomainScope.of(settings)
    if scope is None:
        return None
    refusal = scope.refusal(page.url)
    is_ordered = page.row is not None and page.row["is_seed"] and not (scope.exclude and scope.exclude.match(page.url))
    if refusal is None or is_ordered:
        return None
    origin = f"profile {domain.row['profile']}" if domain.row["profile"] else "its settings"
    words = {"scope": f"outside the scope ({settings.scope.value})", "excluded": "left out by include or exclude"}
    remedy = f"forager domain {domain.row['name']} settings"
    return Gate("scope", False, f"{words[refusal]} of the domain, by {origin}", remedy=remedy)


def _robots(page: PageSnapshot, domain: DomainSnapshot | None, manners: FetchPolicy) -> Gate:
    origin = origin_of(page.url)
    copy = next((copy for copy in domain.origins if copy["origin"] == origin), None) if domain else None
    if copy is None or domain is None:
        return Gate("robots", True, f"{origin}/robots.txt was never read; it is asked for first")
    age = f"read {format_time(copy['robots_fetched_at'], domain.now)}" + (
        "" if copy["is_valid"] else ", to be asked for again"
    )
    if copy["robots_error"]:
        sentence = f"robots.txt could not be had: {copy['robots_error']} ({age})"
        if domain.override:
            return Gate("robots", True, f"{sentence}, which is overridden {domain.override}")
        return Gate("robots", not copy["is_valid"], sentence, copy["robots_expires_at"])
    agent = read_robots_agent(domain.row["user_agent"], manners.robots_agent)
    verdict = robots.parse(copy["robots_txt"] or "").rules_for(agent).verdict(page.url)
    if verdict.rule is None:
        told = "no rule of robots.txt is about it" if copy["robots_txt"] else "there is no robots.txt"
        return Gate("robots", True, f"{told} ({age})")
    sentence = f"robots.txt line {verdict.line} says {verdict.rule!r} to {verdict.group} ({age})"
    if not verdict.allowed and domain.override:
        return Gate("robots", True, f"{sentence}, which is overridden {domain.override}")
    return Gate("robots", verdict.allowed, sentence)


def _guard(page: PageSnapshot, domain: DomainSnapshot | None, manners: FetchPolicy) -> Gate:
    parts = urlsplit(page.url)
    ip = host_as_ip(parts.hostname or "")
    if ip is None:
        return Gate("address", None, "a name: its addresses are checked when it is dialled")
    guard = manners.guard.with_networks(domain.allow_networks) if domain is not None else manners.guard
    try:
        guard.check_ip(ip, parts.port or DEFAULT_PORTS[parts.scheme])
    except AddressBlockedError as refusal:
        remedy = f"{crawl_command(page.url)} --allow-network {ip}" if kind_of(ip) else None
        return Gate("address", False, str(refusal).removesuffix("."), remedy=remedy)
    return Gate("address", True, f"{ip} may be dialled")
