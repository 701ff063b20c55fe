"""The crawl settings of a domain: reads its layers, resolves them, and changes those chosen for it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import with_config

from forager.config.cipher import PasswordCipher
from forager.config.crawl_layers import dump_layer, open_layer
from forager.config.crawl_settings import (
    DEFAULT,
    LOGINS,
    REVISITS,
    SCOPES,
    CrawlSettings,
    Resolved,
    canonical_name,
    changed_names,
    check_authentication,
    describe_changes,
    read_layer,
    resolve,
    restore_hidden,
    show_value,
)
from forager.db import statements
from forager.db.query import Query
from forager.db.rows import RECORD
from forager.db.types import Connection
from forager.domains import admin as domains
from forager.domains.admin import LockedDomain
from forager.errors import UsageError
from forager.frontier import admin as pages
from forager.images.models import ImagePolicy
from forager.runs.models import ReplacedSetting, Scope
from forager.urls.domain import domain_of

SQL = statements.load("forager.domains", "settings.sql")
WIDTH = {scope: width for width, scope in enumerate((Scope.PAGE, Scope.PREFIX, Scope.HOST, Scope.DOMAIN, Scope.ANY))}
"""How far each scope reaches, compared with the others."""


class StoredLayers(NamedTuple):
    """The layers of one domain as they are stored."""

    domain_id: int
    name: str
    profile: str | None
    profile_settings: str | None
    settings: str


class DomainScope(NamedTuple):
    domain_id: int
    name: str
    is_crawled: bool
    scope: str
    has_scope: bool
    """Whether a scope was chosen for it or its profile."""
    has_implied_scope: bool
    """Whether its scope is that of orders for single pages, which nobody chose."""
    prefixes: list[str]


NOT_ADDED = 0
"""The id of a domain that a profile names and that is not known yet."""
READ_SETTINGS = Query(SQL["read_settings"], StoredLayers)
READ_SCOPES = Query(SQL["read_scopes"], DomainScope)


class ReplacedValue(NamedTuple):
    domain: str
    setting: str
    before: str


REPLACED = Query(SQL["replaced_settings"], ReplacedValue)


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of one domain, with their secrets decrypted."""

    domain_id: int
    name: str
    profile: str | None
    profile_settings: Mapping[str, Any] = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)

    def resolve(self, defaults: CrawlSettings) -> Resolved:
        return resolve(defaults, self.profile_settings, self.settings, profile_name=self.profile)

    @property
    def effective(self) -> dict[str, Any]:
        return {**self.profile_settings, **self.settings}


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Configured:
    name: str
    changes: Mapping[str, Any]
    """Name → new value as it is written in a file; None: the profile's value, or the default, is in force again."""
    planned: int = 0
    """Next visits that were scheduled or moved."""
    dropped: int = 0
    """Scheduled visits that were removed."""
    is_new: bool = False
    """The domain was not known before; it was added without pages."""


async def read_layers(conn: Connection, name: str, cipher: PasswordCipher) -> Layers:
    """Returns the layers of a known domain."""
    stored = await READ_SETTINGS.one(conn, name)
    profile = json.loads(stored.profile_settings or "{}")
    return Layers(
        stored.domain_id,
        stored.name,
        stored.profile,
        open_layer(profile, cipher, f"profile {stored.profile}"),
        open_layer(json.loads(stored.settings), cipher, stored.name),
    )


async def read_future_layers(conn: Connection, name: str, cipher: PasswordCipher) -> Layers | None:
    """Returns the layers that a domain will have when it is added, or None if no profile names it."""
    row = await conn.fetchrow(SQL["find_future_profile"], name)
    if row is None:
        return None
    profile = open_layer(json.loads(row["settings"]), cipher, f"profile {row['name']}")
    return Layers(NOT_ADDED, name, row["name"], profile, {})


class Changes(NamedTuple):
    """Changes of the settings chosen for a domain or profile."""

    chosen: dict[str, Any]
    cleared: frozenset[str]
    """Settings that are taken back: the profile's value or the default is in force again."""

    def apply_to(self, layer: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in {**layer, **self.chosen}.items() if name not in self.cleared}

    @property
    def names(self) -> frozenset[str]:
        return self.cleared | self.chosen.keys()

    def describe(self) -> str:
        """Returns `delay 2s, revisit_every default`."""
        parts = [describe_changes(self.chosen), *(f"{name} default" for name in sorted(self.cleared))]
        return ", ".join(filter(None, parts))

    def shown(self) -> dict[str, Any]:
        """Returns name → value as written in a file, without secrets; None for what is taken back."""
        shown = {name: show_value(name, value) for name, value in self.chosen.items()}
        return shown | dict.fromkeys(sorted(self.cleared))


def read_changes(changes: Mapping[str, Any]) -> Changes:
    """Validates changes as a person writes them; None or `default` takes a value back."""
    if not changes:
        raise UsageError("Nothing to set.")
    cleared = {word for word, value in changes.items() if value is None or value == DEFAULT}
    chosen = read_layer({word: value for word, value in changes.items() if word not in cleared})
    if "parser" in chosen:
        _check_parser(chosen["parser"])
    return Changes(chosen, frozenset(map(canonical_name, cleared)))


def _check_parser(name: str) -> None:
    from forager.parsing.sites import AUTO, parsers

    if name not in (known := [AUTO, *parsers()]):
        raise UsageError(f"There is no parser {name!r}; there are {', '.join(known)}.", field="parser")


async def configure(
    conn: Connection,
    held: LockedDomain,
    changes: Mapping[str, Any],
    *,
    by: str,
    cipher: PasswordCipher,
    refresh_every_s: float | None,
    reason: str | None = None,
) -> Configured:
    """Changes settings of a domain whose row is locked. A new frequency reschedules the next visits at once; a wider
    scope has the start pages read again."""
    before = await read_layers(conn, held.name, cipher)
    given = read_changes(restore_hidden(changes, before.effective))
    after = given.apply_to(before.settings)
    _check_login_site(held.name, given.chosen.get("login_url"))
    if "allow_networks" in given.cleared:
        await domains.forget_networks(conn, held.id)
    if (budget := after.get("max_pages")) is not None:
        await domains.count_run_pages(conn, held.id, budget=budget)
    await conn.execute(SQL["save_settings"], held.id, dump_layer(after, cipher), by, "scope" in given.names)
    await domains.note(conn, held.id, by=by, reason=given.describe() + (f": {reason}" if reason else ""))
    if given.chosen.get("obey_robots") is False:
        await conn.execute(SQL["explain_override"], held.id, reason, by)
    effective = {**before.profile_settings, **after}
    check_authentication(effective)
    planned, dropped = await follow_up(conn, held, before.effective, effective, by=by, refresh_every_s=refresh_every_s)
    return Configured(held.name, given.shown(), planned, dropped)


def _check_login_site(name: str, login_url: str | None) -> None:
    """Secrets are sent to the domain they were set for and to no other, so no other can log in."""
    if login_url and (site := domain_of(login_url)) != name:
        raise UsageError(
            f"login_url is a page of {site}, and a login through another site is not supported: log in with your "
            "browser, and set the cookies that it has then (the setting `cookies`).",
            field="login_url",
        )


async def follow_up(
    conn: Connection,
    held: LockedDomain,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    by: str,
    refresh_every_s: float | None,
) -> tuple[int, int]:
    """Does what a change of effective settings requires. Returns how many visits were scheduled and removed."""
    changed = set(changed_names(before, after))
    if before.get("images") == ImagePolicy.NONE != after.get("images") and "images" in changed:
        await pages.clear_validators(conn, held.id)
    if changed & SCOPES:
        await _change_scope(conn, held, before, after, by=by)
    if not changed & REVISITS:
        return 0, 0
    return await plan_revisits(conn, held, by=by, refresh_every_s=refresh_every_s)


async def _change_scope(
    conn: Connection, held: LockedDomain, before: Mapping[str, Any], after: Mapping[str, Any], *, by: str
) -> None:
    """Makes pages claimable that are in scope now."""
    if _is_wider(before, after):
        await read_again(conn, held.id, by=by)
    await domains.reopen(conn, held.id)


async def read_again(conn: Connection, domain_id: int, *, by: str) -> None:
    """Has all pages that were read visited again, completely: their links that were out of scope were not stored."""
    await pages.clear_validators(conn, domain_id)
    await pages.revisit_domain(conn, domain_id, by=by)


def _is_wider(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Returns whether links that were dropped before may be in scope now."""
    scopes = [Scope(layer.get("scope", Scope.HOST)) for layer in (before, after)]
    return (
        WIDTH[scopes[1]] > WIDTH[scopes[0]]
        or bool(set(after.get("prefixes", ())) - set(before.get("prefixes", ())))
        or after.get("include", []) != before.get("include", [])
        or after.get("exclude", []) != before.get("exclude", [])
    )


async def plan_revisits(
    conn: Connection, held: LockedDomain, *, page_id: int | None = None, by: str, refresh_every_s: float | None
) -> tuple[int, int]:
    """Schedules the next visits by the frequency in force. Returns how many were scheduled and removed."""
    planned = await pages.plan_revisits(conn, held.id, page_id=page_id, by=by)
    dropped = await pages.drop_revisits(conn, held.id, page_id=page_id)
    await domains.set_cooldown(conn, held.id, refresh_every_s=refresh_every_s)
    return planned, dropped


async def find_crawled(conn: Connection, names: Sequence[str]) -> frozenset[str]:
    """Returns those of these domains that were crawled, or are to be, by an earlier order. Locks their rows."""
    return frozenset(domain.name for domain in await READ_SCOPES.fetch(conn, list(names)) if domain.is_crawled)


async def remember_order(conn: Connection, order: "Order", names: Sequence[str], *, by: str) -> None:
    """Stores the flags of an order as settings of its domains, so that every later run does the same. An explicit scope
    widens that of a domain which was crawled before and never narrows it: other orders still hold. An order without a
    scope is for the site."""
    if order.scope is None:
        await drop_implied_scopes(conn, names, by=by)
        if not order.settings:
            return
    groups: dict[str, list[int]] = {}
    for domain in await READ_SCOPES.fetch(conn, list(names)):
        scope = order.scope_after(domain)
        if values := {**order.settings, **scope}:
            groups.setdefault(json.dumps(values, sort_keys=True), []).append(domain.domain_id)
        if scope and scope != {"scope": domain.scope} and domain.name in order.crawled:
            await read_again(conn, domain.domain_id, by=by)
    for text, ids in groups.items():
        await conn.execute(SQL["merge_settings"], ids, text, by, order.is_for_pages)


async def drop_implied_scopes(conn: Connection, names: Sequence[str], *, by: str) -> None:
    """Opens sites of which only single pages were ordered so far, for an order of the whole site. The scope `page`
    stays where an operator chose it."""
    for row in await conn.fetch(SQL["drop_implied_scopes"], list(names), by):
        await read_again(conn, row["domain_id"], by=by)


async def find_replaced(
    conn: Connection, names: Sequence[str], settings: Mapping[str, Any]
) -> list[tuple[str, ReplacedSetting]]:
    """Returns the values that settings of an order take the place of: domain → setting with both values as written in a
    file."""
    if not settings:
        return []
    rows = await REPLACED.fetch(conn, list(names), json.dumps(dict(settings)))
    return [
        (
            row.domain,
            ReplacedSetting(
                row.setting,
                show_value(row.setting, json.loads(row.before)),
                show_value(row.setting, settings[row.setting]),
            ),
        )
        for row in rows
    ]


class Order(NamedTuple):
    """What an order says about the domains of its URLs."""

    scope: Scope | None
    """None: the settings of each domain decide."""
    prefixes: Mapping[str, Sequence[str]]
    """Domain → folders of its URLs."""
    settings: Mapping[str, Any]
    """Crawl settings that were given with it."""
    crawled: frozenset[str]
    """Domains that were crawled by an earlier order."""
    is_default: bool = False
    """The scope is only meant for domains that have none."""
    is_for_pages: bool = False
    """It is for single pages and not for their sites: its scope gives way to an order for the site."""

    def scope_after(self, domain: DomainScope) -> dict[str, Any]:
        """Returns the scope settings of a domain after this order; none if they stay."""
        if self.scope is None or (self.is_default and domain.has_scope):
            return {}
        is_first_choice = domain.has_implied_scope and not self.is_for_pages
        before, is_new = Scope(domain.scope), domain.name not in self.crawled or is_first_choice
        after = self.scope if is_new or WIDTH[self.scope] > WIDTH[before] else before
        values: dict[str, Any] = {}
        if after is not before or is_first_choice:
            values["scope"] = after.value
        if self.scope is Scope.PREFIX and after is Scope.PREFIX:
            kept = [] if is_new else domain.prefixes
            if added := sorted(set(self.prefixes.get(domain.name, ())) - set(kept)):
                values["prefixes"] = [*kept, *added]
        return values


async def inherit_settings(conn: Connection, sources: Mapping[str, str]) -> None:
    """Gives new domains the settings of the domains that link to them: name → name of the source."""
    await conn.execute(SQL["inherit_settings"], list(sources), list(sources.values()), sorted(LOGINS))
