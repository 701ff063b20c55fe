"""What a URL is, which spelling of it counts, and which domain it belongs to. Pure; no network, no database."""

from forager.urls.domain import (
    LONGEST_ORIGIN,
    domain_of,
    domain_of_origin,
    is_address,
    is_canonical_origin,
    origin_of,
    registrable,
)
from forager.urls.normalize import normalize, url_key
from forager.urls.policy import DEFAULT_POLICY, UrlPolicy
from forager.urls.resolve import resolve_link, resolve_links, why_dropped

__all__ = [
    "DEFAULT_POLICY",
    "LONGEST_ORIGIN",
    "UrlPolicy",
    "domain_of",
    "domain_of_origin",
    "is_address",
    "is_canonical_origin",
    "normalize",
    "origin_of",
    "registrable",
    "resolve_link",
    "resolve_links",
    "url_key",
    "why_dropped",
]
