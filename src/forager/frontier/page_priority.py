"""Computes the priority of a page within its domain: 1 is highest, 10 lowest. Pure."""

import re

SEED, HIGH, IMAGE, MEDIUM, LOW = 1, 2, 4, 5, 8
URGENT = 2
"""A task that a person orders with this priority or a better one is urgent: it lifts its domain in the claim."""
SHALLOW = 2
DEEP = 6

_HOME = re.compile(r"https?://[^/?#]*/?(?:(?:index|default|home)\.[a-z]{3,5})?", re.IGNORECASE)
_PAGINATION = re.compile(
    r"[?&](?:page|paged|offset|start|sort|order|orderby|filter)=|/page/\d|/(?:archives?|tags?|calendar)(?:/|$)",
    re.IGNORECASE,
)
"""`?p=123` is not among them: it is the address of a post in WordPress, and no page of a list."""
_SITE_PAGE = re.compile(
    r"/(?:about|contact|imprint|impressum|kontakt)(?:[-_]?us)?(?:\.[a-z]{3,5})?/?(?:[?#]|$)", re.IGNORECASE
)


def priority_of(url: str, depth: int, *, is_seed: bool = False, is_image: bool = False) -> int:
    """Returns the priority: seeds, then home pages and shallow pages, then images of the pages that were read, then
    content, then pagination, archives and deep pages. A home page, and a page about the site, ranks the same however
    far from a seed it was found."""
    if is_image:
        return IMAGE
    if is_seed:
        return SEED
    if is_home(url):
        return HIGH
    if _PAGINATION.search(url):
        return LOW
    if depth <= SHALLOW:
        return HIGH
    if depth >= DEEP and not _SITE_PAGE.search(url):
        return LOW
    return MEDIUM


def is_home(url: str) -> bool:
    """Returns whether the URL is the start page of its host."""
    return _HOME.fullmatch(url) is not None
