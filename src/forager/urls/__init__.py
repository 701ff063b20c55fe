"""What a URL is, which spelling of it counts, and which domain it belongs to. Pure; no network, no database."""

from forager.urls.domain import domain_of, is_address, origin_of, registrable
from forager.urls.normalize import normalize, url_key
from forager.urls.policy import DEFAULT_POLICY, UrlPolicy
from forager.urls.resolve import resolve_link, resolve_links, why_dropped

__all__ = [
    "DEFAULT_POLICY",
    "UrlPolicy",
    "domain_of",
    "is_address",
    "normalize",
    "origin_of",
    "registrable",
    "resolve_link",
    "resolve_links",
    "url_key",
    "why_dropped",
]
