"""Finds the headline of a page: its title without the site name.

A page provides it up to four times: in `<title>`, `og:title`, `twitter:title`, and visibly in an `<h1>`. An `<h1>` that
is part of a title is the headline. Otherwise the site name is removed from the title.
"""

import re

from forager.parsing.clean import collapse
from forager.parsing.head import LONGEST_TITLE, Head
from forager.parsing.tree_types import Tree

MOST_HEADINGS = 8
LONGEST_HEADLINE = 500
LONGEST_SITE_NAME = 5
"""Words in the last part of a title that counts as the site name if the page does not provide one."""
LONGEST_SUFFIX = 4
"""The `.com` of a name."""
SEPARATOR = re.compile(r"\s*[|｜丨¦«»•·✩_]+\s*|\s+[-–—:~/\\>]+\s+|\s+::\s+|\s*—\s*")
WORD = re.compile(r"[^\W_]+")
MARKS = re.compile(r"[\s¶#§]+$")


def find_headline(tree: Tree, head: Head, site_name: str | None) -> str | None:
    """Returns the headline; None if the page has neither a title nor a heading."""
    shared = collapse(head.meta("og:title", "twitter:title", "dc.title"), LONGEST_TITLE)
    titles = [title for title in (shared, head.title) if title]
    site = _normalize(site_name or "")
    texts = tree.texts(tree.tags("h1")[:MOST_HEADINGS], LONGEST_HEADLINE)
    headings = [heading for text in texts if (heading := MARKS.sub("", text))]
    found = _pick_heading(headings, [_normalize(title) for title in titles], site)
    if found is None and shared:
        found = _without_site(shared, site, is_guessing=False)
    if found is None and head.title:
        found = _without_site(head.title, site, is_guessing=not site)
    return found or next(iter([*titles, *headings]), None)


def _pick_heading(headings: list[str], titles: list[str], site: str) -> str | None:
    """Returns the longest heading that is part of a title and does not name the site; preferably the start of a
    title."""
    best: str | None = None
    best_rank = (False, 0)
    for heading in headings:
        words = _normalize(heading)
        if not words or _names_site(words, site) or not _is_part(words, titles, site):
            continue
        rank = any(title.startswith(words) for title in titles), len(words)
        if rank > best_rank:
            best, best_rank = heading, rank
    return best


def _is_part(words: str, titles: list[str], site: str) -> bool:
    """Whether a heading is part of a title; not if it follows the headline in it, as in `How to boil water | Acme`, or
    appears beside it."""
    holding = [title for title in titles if _has_words(title, words)]
    if not holding:
        return False
    before = [title[: title.index(words)].strip() for title in holding if title.endswith(words)]
    if len(before) == len(holding) and all(len(words) < len(part) and not _names_site(part, site) for part in before):
        return False
    shared, title = titles[0], titles[-1]
    return _has_words(shared, words) or not _has_words(title.replace(words, "\0", 1), shared)


def _has_words(title: str, words: str) -> bool:
    """Whether the title contains the words, as whole words except in scripts without spaces."""
    return f" {words} " in f" {title} " or (not words.isascii() and " " not in words and words in title)


def _without_site(title: str, site: str, *, is_guessing: bool) -> str | None:
    """Removes the site name from a title; None if nothing else remains."""
    start, end = 0, len(title)
    separators = list(SEPARATOR.finditer(title))
    while separators and _names_site(_normalize(title[separators[-1].end() : end]), site):
        end = separators.pop().start()
    while separators and _names_site(_normalize(title[start : separators[0].start()]), site):
        start = separators.pop(0).end()
    if is_guessing and separators:
        last, rest = title[separators[-1].end() : end], title[start : separators[-1].start()]
        if len(WORD.findall(last)) <= LONGEST_SITE_NAME and len(last) < len(rest):
            end = separators[-1].start()
    found = title[start:end].strip()
    return found if found and not _names_site(_normalize(found), site) else None


def _names_site(words: str, site: str) -> bool:
    """Whether the words name the site: `Acme`, `acme.com` and `Acme Tools` for `Acme Tools - everything you need`."""
    squeezed, name = words.replace(" ", ""), site.replace(" ", "")
    if not squeezed or not name:
        return False
    is_its_beginning = f"{site} ".startswith(f"{words} ") or squeezed == name
    return is_its_beginning or (squeezed.startswith(name) and len(squeezed) <= len(name) + LONGEST_SUFFIX)


def _normalize(text: str) -> str:
    """Returns only the words, in lower case."""
    return " ".join(WORD.findall(text.casefold()))
