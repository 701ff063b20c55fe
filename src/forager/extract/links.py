"""Every link a page has, as it wrote it, in the order of the document. Resolves nothing and judges nothing."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import compress

from forager.extract.tree import Tree
from forager.records import FoundLink, LinkColumns

MOST_LINKS = 20_000
LONGEST_ANCHOR = 200
LONGEST_HREF = 8192
LONGEST_HREFLANG = 35

C0_AND_SPACE = "".join(map(chr, range(0x21)))
TAB_OR_NEWLINE = re.compile(r"[\t\n\r]")
LEADS_NOWHERE = ("#", "javascript:", "mailto:", "tel:", "data:", "sms:", "whatsapp:", "about:", "blob:")
PLAIN_STARTS = "/?.h"
"""Most links begin so, and nothing that leads nowhere does."""
REFRESH = re.compile(r"""\s*[\d.]+\s*[;,\s]\s*(?:url\s*=)?\s*(?:"([^"]*)"?|'([^']*)'?|(.*))""", re.IGNORECASE | re.S)
PAGE_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})
LINK_RELS = ("canonical", "alternate", "next", "prev")


def find_links(tree: Tree) -> LinkColumns:
    """Those of the body: `a`, `area`, `iframe`, `frame`."""
    numbers = tree.tags("a")
    if others := tree.tags("area", "iframe", "frame"):
        numbers = sorted(numbers + others)
    # What has nothing to trim is told by a look: most links, at a quarter of the cost.
    hrefs = [
        href
        if href and href[0] in PLAIN_STARTS and href.isprintable() and href[-1] != " " and len(href) <= LONGEST_HREF
        else clean_href(href or "")
        for href in tree.column(numbers, "href")
    ]
    kinds = ["a" if rel is None else _name_anchor(rel) for rel in tree.column(numbers, "rel")]
    if others:
        _read_others(tree, numbers, others, hrefs, kinds)
    if "" in hrefs:
        numbers, kinds = list(compress(numbers, hrefs)), list(compress(kinds, hrefs))
        hrefs = list(filter(None, hrefs))
    numbers = numbers[:MOST_LINKS]
    anchors = tree.texts(numbers, LONGEST_ANCHOR)
    if others:
        _name_others(tree, numbers, set(others), anchors)
    return LinkColumns(hrefs[:MOST_LINKS], anchors, kinds[:MOST_LINKS])


def _name_anchor(rel: str) -> str:
    return "a nofollow" if "nofollow" in rel.lower() else "a"


def _read_others(tree: Tree, numbers: list[int], others: list[int], hrefs: list[str], kinds: list[str]) -> None:
    for number in others:
        place, tag = bisect_left(numbers, number), tree.tag(number)
        if tag != "area":
            hrefs[place] = clean_href(tree.get(number, "src") or "")
        kinds[place] = ("area" if tag == "area" else "iframe") + kinds[place][1:]


def _name_others(tree: Tree, numbers: list[int], others: set[int], anchors: list[str]) -> None:
    for place, number in enumerate(numbers):
        if number in others:
            text = tree.get(number, "alt") or tree.get(number, "title") or ""
            anchors[place] = " ".join(text.split())[:LONGEST_ANCHOR]


def clean_href(href: str) -> str:
    """Trimmed as WHATWG does; empty when it leads to no other page."""
    if not href.isprintable():
        href = TAB_OR_NEWLINE.sub("", href)
    href = href.strip(C0_AND_SPACE)
    if href[:11].lower().startswith(LEADS_NOWHERE) or len(href) > LONGEST_HREF:
        return ""
    return href


def join_links(first: list[FoundLink], others: LinkColumns) -> LinkColumns:
    """Those of the head before those of the body."""
    if not first:
        return others
    columns = zip(LinkColumns.of(first).columns, others.columns, strict=True)
    return LinkColumns(*([*above, *below][:MOST_LINKS] for above, below in columns))


def find_head_links(links: Iterable[dict[str, str]], refreshes: Iterable[str]) -> Iterator[FoundLink]:
    """Those of `<link>` and `<meta http-equiv=refresh>`. The anchor of an alternate is its hreflang."""
    for attributes in links:
        rels = (attributes.get("rel") or "").lower().split()
        kind = next((rel for rel in LINK_RELS if rel in rels), None)
        if kind is None or (kind == "alternate" and not _is_page(attributes)):
            continue
        if href := clean_href(attributes.get("href") or ""):
            hreflang = (attributes.get("hreflang") or "").strip()[:LONGEST_HREFLANG] if kind == "alternate" else ""
            yield FoundLink(href, hreflang, kind)
    for content in refreshes:
        if (match := REFRESH.match(content[:LONGEST_HREF])) and (
            href := clean_href(match[1] or match[2] or match[3] or "")
        ):
            yield FoundLink(href, "", "refresh")


def _is_page(attributes: dict[str, str]) -> bool:
    """Feeds, oEmbed and JSON are alternates too, but no pages; a style sheet may call itself one."""
    kind = (attributes.get("type") or "").partition(";")[0].strip().lower()
    return kind in PAGE_TYPES and "stylesheet" not in (attributes.get("rel") or "").lower()
