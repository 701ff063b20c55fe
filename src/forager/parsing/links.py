"""Finds every link of a page as written, in document order. Resolves and filters nothing."""

import re
from collections.abc import Iterable, Iterator

from forager.parsing.link_columns import LinkColumns
from forager.parsing.models import FoundLink
from forager.parsing.tree_types import Tree

MOST_LINKS = 20_000
LONGEST_ANCHOR = 200
LONGEST_HREF = 8192
LONGEST_HREFLANG = 35

C0_AND_SPACE = "".join(map(chr, range(0x21)))
TAB_OR_NEWLINE = re.compile(r"[\t\n\r]")
LEADS_NOWHERE = ("#", "javascript:", "mailto:", "tel:", "data:", "sms:", "whatsapp:", "about:", "blob:")
NAMED = {"a": "a", "area": "area", "iframe": "iframe", "frame": "iframe"}
"""Elements that contain links, and the `rel` of their links."""
REFRESH = re.compile(r"""\s*[\d.]+\s*[;,\s]\s*(?:url\s*=)?\s*(?:"([^"]*)"?|'([^']*)'?|(.*))""", re.IGNORECASE | re.S)
PAGE_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})
FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"})
MOST_FEEDS = 10
"""Feeds taken from one page; some announce one for each of their comments."""
LINK_RELS = ("canonical", "alternate", "next", "prev")


def find_links(tree: Tree) -> LinkColumns:
    """Returns the links of the body: `a`, `area`, `iframe`, `frame`."""
    return LinkColumns(*tree.links(clean_href, clean_anchor, LONGEST_ANCHOR, MOST_LINKS))


def links_in_python(tree: Tree, longest: int, most: int) -> tuple[list[str], list[str], list[str]]:
    """Python version of `c/anchors.h`."""
    hrefs: list[str] = []
    anchors: list[str] = []
    rels: list[str] = []
    for number in tree.tags(*NAMED):
        if len(hrefs) >= most:
            break
        name = NAMED[tree.tag(number)]
        if href := clean_href(tree.get(number, "src" if name == "iframe" else "href") or ""):
            hrefs.append(href)
            said = tree.texts([number], longest)[0] if name == "a" else _image_text(tree, number)
            anchors.append(said)
            is_followed = "nofollow" not in (tree.get(number, "rel") or "").lower()
            rels.append(name if is_followed else f"{name} nofollow")
    return hrefs, anchors, rels


def _image_text(tree: Tree, number: int) -> str:
    return clean_anchor(tree.get(number, "alt") or tree.get(number, "title") or "")


def clean_anchor(text: str) -> str:
    return " ".join(text.split())[:LONGEST_ANCHOR]


def clean_href(href: str) -> str:
    """Trims an href as WHATWG defines; empty when it leads to no other page."""
    if not href.isprintable():
        href = TAB_OR_NEWLINE.sub("", href)
    href = href.strip(C0_AND_SPACE)
    if href[:11].lower().startswith(LEADS_NOWHERE) or len(href) > LONGEST_HREF:
        return ""
    return href


def join_links(first: list[FoundLink], others: LinkColumns) -> LinkColumns:
    """Returns the links of the head, then those of the body."""
    if not first:
        return others
    columns = zip(LinkColumns.of(first).columns, others.columns, strict=True)
    return LinkColumns(*([*above, *below][:MOST_LINKS] for above, below in columns))


def find_head_links(links: Iterable[dict[str, str]], refreshes: Iterable[str]) -> Iterator[FoundLink]:
    """Yields links of `<link>` and `<meta http-equiv=refresh>`. The anchor of an alternate is its hreflang, that of a
    feed its title."""
    feeds = 0
    for attributes in links:
        rels = (attributes.get("rel") or "").lower().split()
        kind = next((rel for rel in LINK_RELS if rel in rels), None)
        if kind == "alternate" and feeds < MOST_FEEDS and _type_of(attributes) in FEED_TYPES:
            if href := clean_href(attributes.get("href") or ""):
                feeds += 1
                yield FoundLink(href, clean_anchor(attributes.get("title") or ""), "feed_file")
            continue
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
    """Whether a `<link>` leads to a page. Feeds, oEmbed and JSON are alternates too, but not pages; so may be a style
    sheet."""
    return _type_of(attributes) in PAGE_TYPES and "stylesheet" not in (attributes.get("rel") or "").lower()


def _type_of(attributes: dict[str, str]) -> str:
    return (attributes.get("type") or "").partition(";")[0].strip().lower()
