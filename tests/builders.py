"""Small records for tests: each names only what the test is about."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date
from decimal import Decimal
from typing import Any, get_type_hints

from forager.config.crawl_settings import FIELDS, CrawlSettings
from forager.domains.store import Keeping
from forager.engine.config import SettingsResolver, WorkerConfig
from forager.engine.domain_queue import DomainQueue
from forager.engine.domain_queues import DomainQueues
from forager.fetch.models import Fetched
from forager.frontier.models import DomainFailure, Lease, Outcome, OutcomeKind, Target
from forager.links.models import Discovery, Selection
from forager.parsing.models import FoundLink, Reading
from forager.politeness.breaker import Breaker
from forager.politeness.throttle import Throttle
from forager.runs.models import RunSpec
from forager.urls.domain import domain_of
from forager.urls.normalize import url_key

HOME = "http://a.example/"
ITEMS = b'[{"syntax":"json-ld","types":["Product"],"properties":{"name":"A lamp","offers":{"price":"49.90"}}}]'
COOLDOWN_S = 7 * 86400.0
SETTINGS = {
    "delay_s": "delay",
    "crawl_delay_s": "delay",
    "max_concurrent_requests": "concurrency",
    "max_pages_per_run": "max_pages",
    "max_pages_per_template": "max_pages_per_template",
    "revisit_every_s": "revisit_every",
    "is_adaptive": "adaptive",
    "refresh_every_s": "refresh_every",
    "content_policy": "content",
    "images_policy": "images",
    "rendering": "rendering",
    "stores_links": "store_links",
    "history_retention_s": "history_retention",
    "image_retention_s": "image_retention",
    "parser_name": "parser",
    "verifies_tls": "verify_tls",
    "worker_label": "worker_label",
}
"""Columns of domains that are copies of crawl settings, and other words for these."""


def take_settings(more: dict[str, Any]) -> dict[str, Any]:
    """Removes crawl settings, given by their names or columns, and returns them by name."""
    names = [name for name in more if name in FIELDS or name in SETTINGS]
    chosen = {SETTINGS.get(name, name): more.pop(name) for name in names}
    return {name: value for name, value in chosen.items() if value is not None}


def a_spec(*seeds: str, **order: Any) -> RunSpec:
    return RunSpec(seeds or (HOME,), **order)


def a_lease(domain_id: int = 1, version: int = 1, **more: Any) -> Lease:
    """Settings are given by their names; everything else is a field of the lease."""
    settings = CrawlSettings.model_validate(take_settings(more))
    given: dict[str, Any] = {"domain": f"d{domain_id}.example", "wait_s": 0.0, "settings": settings}
    return Lease(domain_id=domain_id, version=version, **given | more)


def a_target(
    url: str = HOME, *, task: int = 1, page: int = 1, domain: int = 1, version: int = 1, **more: Any
) -> Target:
    given: dict[str, Any] = {"depth": 0, "redirects": 0, "retry_count": 0} | more
    return Target(task_id=task, page_id=page, domain_id=domain, lease_version=version, url=url, **given)


def a_link(href: str, rel: str = "a", anchor: str = "") -> FoundLink:
    return FoundLink(href, anchor, rel)


def a_reading(*hrefs: str, **more: Any) -> Reading:
    given: dict[str, Any] = {
        "title": "A title",
        "description": None,
        "canonical": None,
        "language": "en",
        "headings": "",
        "text": "some words",
        "content_hash": bytes(16),
        "links": [a_link(href) for href in hrefs],
        "base_url": HOME,
    }
    return Reading(**given | more)


def a_detailed_reading(**more: Any) -> Reading:
    """With everything that pages say beyond their signals."""
    given: dict[str, Any] = {
        "headline": "A lamp",
        "site_name": "Lumen",
        "section": "Lights",
        "tags": ("lamp", "brass, polished"),
        "rating": Decimal("4.5"),
        "rating_count": 12,
        "published_on": date(2026, 1, 2),
        "modified_on": date(2026, 1, 3),
        "structured_data": ITEMS,
    }
    return a_reading(**given | more)


def a_fetched(status_code: int = 200, body: bytes = b"", url: str = HOME, **headers: str) -> Fetched:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fetched(url, status_code, named, body, wire_bytes=len(body), response_time_ms=1)


def a_discovery(url: str, depth: int = 1, *, redirects: int = 0, rel: str = "a") -> Discovery:
    return Discovery(url, url_key(url), domain_of(url), depth, redirects, "", rel)


def a_success(target: Target, *urls: str, **more: Any) -> Outcome:
    """A page that was read and links to these URLs."""
    links = [a_discovery(url, target.depth + 1) for url in urls]
    given: dict[str, Any] = {"reading": a_reading(), "selection": Selection(links), "wire_bytes": 100}
    return Outcome(target, OutcomeKind.SUCCESS, 200, **given | more)


def an_order(run: int = 1, spec: RunSpec | None = None, **more: Any) -> WorkerConfig:
    """As in production, but hasty: short leases and heartbeats, small batches, no pace, breakers that do not wait. Only
    what a test serves is asked for: sitemaps and feeds are not looked for, unless it says so."""
    everywhere: Callable[[str], bool] = lambda _domain: True  # noqa: E731
    given: dict[str, Any] = {
        "workers": 1,
        "robots_agent": "Forager",
        "unpaced_concurrency": 8,
        "is_unpaced": everywhere,
        "max_requests_in_flight": 64,
        "max_domains": 100,
        "max_retries": 3,
        "robots_ttl_s": 3600.0,
        "longest_wait_s": 5.0,
        "lease_s": 60.0,
        "heartbeat_s": 20.0,
        "dead_after_s": 60.0,
        "batch_pages": 20,
        "batch_interval_s": 0.02,
        "known_urls": 1000,
        "keeping": Keeping(),
        "lease_pages": None,
        "adaptive_pace": True,
        "max_requests_per_ip": None,
        "delay_per_ip_s": 0.0,
        "breaker_failures": 5,
        "breaker_reset_s": 0.0,
        "buffer_pages": 2000,
        "buffer_bytes": 64 * 1024 * 1024,
        "max_near_duplicates": 50,
        "max_calendar_pages": 200,
        "max_subdomains": 1000,
        "max_domain_errors": 10,
        "max_unreachable": 5,
        "cooldowns": dict.fromkeys(DomainFailure, COOLDOWN_S),
        "robots_cooldown_s": 90 * 86400.0,
        "run": run,
        "spec": spec or a_spec(),
    }
    quiet = {"delay": 0.0, "sitemaps": False, "feeds": False}
    defaults = CrawlSettings.model_validate(quiet | take_settings(more))
    records = {name: record(**_fields_of(record, given | more)) for name, record in RECORDS.items()}
    return WorkerConfig(**records, settings=SettingsResolver(defaults))


RECORDS: dict[str, Any] = {name: kind for name, kind in get_type_hints(WorkerConfig).items() if name != "settings"}
"""Field of the configuration → the record it holds. No two records have a field of the same name."""


def _fields_of(record: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    return {each.name: given[each.name] for each in fields(record) if each.name in given}


def a_lane(
    domain_id: int = 1,
    *,
    delay_s: float = 0.0,
    max_in_flight: int = 5,
    budget: int | None = None,
    breaker_reset_s: float = 0.0,
    **lease: Any,
) -> DomainQueue:
    pace = Throttle(delay_s=delay_s, max_in_flight=max_in_flight, now=0.0)
    leased = a_lease(domain_id, **lease)
    breaker = Breaker(most_failures=5, reset_s=breaker_reset_s)
    return DomainQueue(leased, pace, breaker, is_unpaced=not delay_s, lease_until=float("inf"), budget=budget)


def queues_of(worker: int = 1, *queues: DomainQueue) -> DomainQueues:
    """What a worker of this id holds."""
    held = DomainQueues(worker)
    for queue in queues:
        held.add(queue)
    return held
