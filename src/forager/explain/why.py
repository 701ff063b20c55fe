"""`forager why`: explains whether a page or domain is fetched now, when it will be, or why not. Lists each gate, from
one snapshot.

Uses the crawl's own logic: `claim_conditions` in the database, the scope of the run, the robots.txt rules, the address
guard. Changes nothing.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from forager.db import statements
from forager.db.query import fetch_one
from forager.db.types import Connection
from forager.domains.denied import DeniedDomain, find_denial
from forager.domains.sitemaps import sitemaps_naming
from forager.domains.traps import SUBDOMAINS
from forager.domains.url_lookup import locate_url
from forager.errors import BadUrlError, UsageError
from forager.explain import why_domain, why_page
from forager.explain.conditions import FetchPolicy, Gate, Prediction, crawl_command, never
from forager.explain.why_domain import DomainSnapshot
from forager.explain.why_page import PageSnapshot
from forager.links.scope import claim_depth, claim_patterns
from forager.runs.guard import guard_of_workers
from forager.runs.models import RunSpec
from forager.stats.store import spec_from_json
from forager.urls.domain import domain_of, registrable
from forager.urls.normalize import normalize, show, url_key

SQL = statements.load("forager.explain", "why.sql")
ANY_DEPTH = 32_767
NO_PATTERNS = (None, None, None)


@dataclass(frozen=True, slots=True)
class ExplainResult:
    asked: str
    url: str | None
    """The normalised URL; None if the query was for a domain."""
    domain: str
    asked_at: datetime
    page_checks: tuple[Gate, ...]
    domain_checks: tuple[Gate, ...]
    outlook: Prediction


class ParsedTarget(NamedTuple):
    """Possible meanings of the query, most likely first: one with a scheme, two without."""

    urls: tuple[str, ...]
    """As written, with a scheme."""
    is_page: bool


async def explain(connection: Connection, text: str, manners: FetchPolicy) -> ExplainResult:
    """Explains a URL or domain. The caller opens the one read-only snapshot that makes the result consistent."""
    asked = parse_query(text)
    manners = replace(manners, guard=await guard_of_workers(connection, manners.guard))
    domain, url = await _find(connection, asked, manners)
    name = domain.row["name"] if domain else domain_of(url)
    denial = None if domain else await find_denial(connection, name)
    gates = why_domain.list_checks(domain, manners) if domain else (_unknown_domain(url, denial),)
    outlook = await _predict_domain(connection, gates, domain)
    now = domain.now if domain else await connection.fetchval(SQL["clock"])
    if not asked.is_page:
        return ExplainResult(text, None, name, now, (), gates, outlook)
    page = await _read_page(connection, url, domain)
    page_checks = why_page.list_checks(page, domain, manners)
    if domain is not None:
        delay_s, _ = why_domain.resolve_delay(domain, manners)
        outlook = why_page.predict(page, page_checks, outlook, domain, delay_s)
    elif denial is None and (stuck := why_page.find_blocking(page_checks)):
        outlook = never(stuck)
    return ExplainResult(text, url, name, now, page_checks, gates, outlook)


def parse_query(text: str) -> ParsedTarget:
    """Parses a URL or the name of a domain, with or without scheme. Rejects anything else."""
    word = text.strip()
    if "://" not in word and "@" in word:
        raise UsageError(
            f"{show(word)} is neither a URL nor a domain; write it like shop.example or https://shop.example/x."
        )
    try:
        if "://" in word:
            normalize(word)
            return ParsedTarget((word,), is_page=True)
        urls = tuple(f"{scheme}://{word}" for scheme in ("https", "http"))
        for url in urls:
            normalize(url)
    except BadUrlError as error:
        raise UsageError(str(error)) from None
    return ParsedTarget(urls, is_page=any(mark in word for mark in "/?#"))


async def _find(connection: Connection, asked: ParsedTarget, manners: FetchPolicy) -> tuple[DomainSnapshot | None, str]:
    """Returns the meaning whose page is known, else the one whose domain is known, else the first."""
    found: list[tuple[DomainSnapshot, str]] = []
    for written in asked.urls:
        url, name = await locate_url(connection, written)
        domain = await _read_domain(connection, name, manners)
        if domain is None:
            continue
        found.append((domain, url))
        if asked.is_page and await connection.fetchrow(SQL["page"], domain.row["id"], url_key(url)):
            return domain, url
    return found[0] if found else (None, normalize(asked.urls[0]))


async def _read_domain(connection: Connection, name: str, manners: FetchPolicy) -> DomainSnapshot | None:
    row = await connection.fetchrow(SQL["domain"], name, manners.dead_after_s)
    if row is None:
        return None
    spec = spec_from_json(row["run_spec"]) if row["run_spec"] else None
    gates = await connection.fetch(SQL["gates"], row["id"])
    return DomainSnapshot(
        row=row,
        gates={gate["gate"]: (gate["is_open"], gate["opens_at"]) for gate in gates},
        frontier=await connection.fetchrow(SQL["frontier"], row["id"], *_reach(spec)),
        origins=await connection.fetch(SQL["robots"], row["id"]),
        spec=spec,
    )


async def _read_page(connection: Connection, url: str, domain: DomainSnapshot | None) -> PageSnapshot:
    name = domain.row["name"] if domain else domain_of(url)
    if domain is None:
        return PageSnapshot(url, name, None, traps=await connection.fetch(SQL["crowd"], registrable(name), SUBDOMAINS))
    row = await connection.fetchrow(SQL["page"], domain.row["id"], url_key(url))
    traps = await connection.fetch(SQL["traps"], domain.row["id"])
    if row is None:
        cut = await connection.fetch(SQL["cut_pages"], domain.row["id"])
        return PageSnapshot(url, name, None, traps=traps, cut=cut)
    place = await fetch_one(connection, SQL["place"], row["id"], *_reach(domain.spec))
    listed_in = await sitemaps_naming(connection, row["id"])
    return PageSnapshot(
        url, name, row, under_way=place["under_way"], before=place["before"], traps=traps, listed_in=listed_in
    )


async def _predict_domain(connection: Connection, gates: tuple[Gate, ...], domain: DomainSnapshot | None) -> Prediction:
    if domain is None:
        return never(gates[0])
    outlook = why_domain.predict(gates, domain)
    if outlook.kind != "at" or domain.row["maintenance_start"] is None:
        return outlook
    window = (domain.row["maintenance_start"], domain.row["maintenance_end"], domain.row["time_zone"])
    return Prediction("at", outlook.because, await connection.fetchval(SQL["after_window"], outlook.at, *window))


def _unknown_domain(url: str, denial: DeniedDomain | None) -> Gate:
    if denial is not None:
        sentence = f"its domain is on the deny list since {denial.denied_at:%Y-%m-%d} ({denial.reason})"
        return Gate("known", False, sentence, remedy=f"forager domains allow {denial.name}")
    return Gate("known", False, "the domain is not known", remedy=crawl_command(url))


def _reach(spec: RunSpec | None) -> tuple[Any, ...]:
    return (claim_depth(spec), *claim_patterns(spec)) if spec else (ANY_DEPTH, *NO_PATTERNS)
