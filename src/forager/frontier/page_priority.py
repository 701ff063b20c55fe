"""Computes the priority of a page within its domain: 1 is highest, 10 lowest. Pure."""

import re

SEED, HIGH, MEDIUM, LOW, IMAGE = 1, 2, 5, 8, 9
SHALLOW = 2
DEEP = 6

_PAGINATION = re.compile(
    r"[?&](?:page|p|offset|start|sort|order|filter)=|/page/\d|/(?:archives?|tags?|calendar)(?:/|$)", re.IGNORECASE
)


def priority_of(url: str, depth: int, *, is_seed: bool = False, is_image: bool = False) -> int:
    """Returns the priority: seeds, then shallow pages, then content, then pagination, archives and deep pages, then
    images."""
    if is_image:
        return IMAGE
    if is_seed:
        return SEED
    if depth >= DEEP or _PAGINATION.search(url):
        return LOW
    if depth <= SHALLOW:
        return HIGH
    return MEDIUM
