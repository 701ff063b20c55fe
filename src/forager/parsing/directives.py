"""Robots directives of a page, from meta tags and X-Robots-Tag. Only noindex and nofollow are evaluated."""

from collections.abc import Iterable
from typing import NamedTuple

# Directives with a value, which would otherwise look like a user agent name.
VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


class Directives(NamedTuple):
    is_noindex: bool
    is_nofollow: bool


def combine(metas: Iterable[str], x_robots_tag: str, agent: str) -> Directives:
    """Combines the directives. `metas` are the contents of the meta tags that apply to us."""
    words = {word for content in metas for word in _words(content)}
    if x_robots_tag:
        words.update(_words_for(agent.lower(), x_robots_tag))
    return Directives("noindex" in words or "none" in words, "nofollow" in words or "none" in words)


def _words(content: str) -> list[str]:
    return [word.strip().lower() for word in content.split(",")]


def _words_for(agent: str, header: str) -> list[str]:
    """Returns the directives for an agent. A name before a colon applies to all that follows, up to the next name."""
    words = []
    is_for_us = True
    for part in _words(header):
        name, colon, rest = part.partition(":")
        word = part
        if colon and name.strip() not in VALUED:
            is_for_us = name.strip() == agent
            word = rest.strip()
        if is_for_us:
            words.append(word)
    return words
