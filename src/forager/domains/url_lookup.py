"""Finds the page that a typed URL means: by the URL rules of its domain, and as it was known before these rules or the
origin of its site."""

from typing import NamedTuple

from forager.db import statements
from forager.db.types import Connection
from forager.domains.url_rules import load_rules
from forager.urls.domain import domain_of
from forager.urls.normalize import normalize, url_key
from forager.urls.policy import AS_WRITTEN
from forager.urls.rules import names_above
from forager.urls.twins import under_origin

SQL = statements.load("forager.domains", "url_lookup.sql")


class LocatedUrl(NamedTuple):
    url: str
    """Normalised; as the page is known, if it is."""
    domain: str
    """The name of the domain that it belongs to."""

    @property
    def key(self) -> bytes:
        return url_key(self.url)


async def locate_url(conn: Connection, url: str) -> LocatedUrl:
    """Returns the page that a URL means; raises BadUrlError. A page that is known exactly as the rules spell it comes
    first, then one known as the default spells it, as it is written, and under the origin of its site."""
    normal = (await load_rules(conn)).normalize(url)
    name = domain_of(normal)
    row = await conn.fetchrow(SQL["domain_of_host"], name, list(names_above(name)))
    if row is None:
        return LocatedUrl(normal, name)
    spellings = [normal, normalize(url), normalize(url, AS_WRITTEN), under_origin(normal, row["site_origin"])]
    spellings = list(dict.fromkeys(spellings))
    position = await conn.fetchval(SQL["first_known"], row["id"], [url_key(spelling) for spelling in spellings])
    return LocatedUrl(spellings[position - 1] if position else normal, row["name"])
