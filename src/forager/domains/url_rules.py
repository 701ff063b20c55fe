"""URL rules of domains as they are stored: loaded once, and again when they changed."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection
from forager.urls.policy import DEFAULT_POLICY, UrlPolicy
from forager.urls.rules import NO_RULES, UrlRules

SQL = statements.load("forager.domains")
NO_STATE = "0"
"""The state of a database in which no domain has rules."""


class RuledDomain(NamedTuple):
    state: str
    name: str | None
    """None: no domain has rules."""
    url_rules: str | None
    strips_subdomains: bool | None


class SiteOrigin(NamedTuple):
    name: str
    site_origin: str


URL_RULES = Query(SQL["url_rules"], RuledDomain)
SITE_ORIGINS = Query(SQL["site_origins"], SiteOrigin)


class StoredRules:
    """The rules that were last loaded. Without any, a refresh reads an empty index."""

    def __init__(self) -> None:
        self.rules = NO_RULES
        self._state = NO_STATE

    async def refresh(self, conn: Connection) -> UrlRules:
        """Returns the current rules; reads all of them only if they changed."""
        rows = await URL_RULES.fetch(conn, self._state)
        if rows:
            self.rules, self._state = build_rules(rows), rows[0].state
        return self.rules


async def find_site_origins(conn: Connection, names: Iterable[str]) -> dict[str, str]:
    """Returns the origin of each site of which it is known."""
    return dict(await SITE_ORIGINS.fetch(conn, list(names)))


async def set_site_origins(conn: Connection, origins: Mapping[int, str]) -> None:
    """Stores the origins of sites, by domain. Only the worker that holds their leases may call it."""
    if origins:
        await conn.execute(SQL["set_site_origins"], list(origins), list(origins.values()))


async def load_rules(conn: Connection) -> UrlRules:
    return await StoredRules().refresh(conn)


def build_rules(rows: list[RuledDomain]) -> UrlRules:
    policies = {row.name: build_policy(json.loads(row.url_rules)) for row in rows if row.name and row.url_rules}
    return UrlRules(
        {name: policy for name, policy in policies.items() if policy != DEFAULT_POLICY},
        frozenset(row.name for row in rows if row.name and row.strips_subdomains),
    )


def build_policy(values: Mapping[str, Any]) -> UrlPolicy:
    """Returns the policy of the URL rules that a domain's crawl settings name; the others are the default."""
    return UrlPolicy(
        strip_trailing_slash=values.get("trailing_slash", "keep") == "strip",
        strip_params=tuple(values.get("strip_params") or ()),
        keep_params=tuple(values.get("keep_params") or ()),
        strip_session_ids=values.get("strip_session_ids", True),
    )
