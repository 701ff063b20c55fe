"""Every link a page has, as it wrote it, in the order of the document. Resolves nothing and judges nothing."""

import re
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.records import FoundLink

MOST_LINKS = 20_000
LONGEST_ANCHOR = 200
LONGEST_HREF = 8192

C0_AND_SPACE = "".join(map(chr, range(0x21)))
TAB_OR_NEWLINE = re.compile(r"[\t\n\r]")
LEADS_NOWHERE = ("#", "javascript:", "mailto:", "tel:", "data:", "sms:", "whatsapp:", "about:", "blob:")
PLAIN_STARTS = "/?.h"
"""Most links begin so, and nothing that leads nowhere does."""
REFRESH = re.compile(r"""\s*[\d.]+\s*[;,\s]\s*(?:url\s*=)?\s*(?:"([^"]*)"?|'([^']*)'?|(.*))""", re.IGNORECASE | re.S)
PAGE_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})
LINK_RELS = ("canonical", "alternate", "next")


def find_links(tree: LexborHTMLParser) -> list[FoundLink]:
    """Those of the body: `a`, `area`, `iframe`, `frame`."""
    has_others = _has_others(tree)
    # Only pages with the rarer elements pay for the order among them: a selector costs twice as much as a name.
    nodes = tree.css("a[href], area[href], iframe[src], frame[src]") if has_others else tree.tags("a")
    links: list[FoundLink] = []
    new = tuple.__new__  # a third of the cost of calling the class
    for node in nodes:
        attributes = node.attributes
        href = attributes.get("href") or attributes.get("src")
        if not href:
            continue
        # What has nothing to trim is told by a look: most links, at a quarter of the cost of a pattern.
        if href[0] not in PLAIN_STARTS or href[-1] == " " or len(href) > LONGEST_HREF or not href.isprintable():
            href = clean_href(href)
            if not href:
                continue
        kind, anchor = _name_other(node, attributes) if has_others and node.tag != "a" else ("a", node.text())
        if "rel" in attributes and "nofollow" in (attributes["rel"] or "").lower():
            kind += " nofollow"
        links.append(new(FoundLink, (href, " ".join(anchor.split())[:LONGEST_ANCHOR], kind)))
    return links[:MOST_LINKS]


def _has_others(tree: LexborHTMLParser) -> bool:
    """Frames are the body of their page, so where there is a body there are none: one walk of the tree less."""
    return bool(tree.tags("iframe") or tree.tags("area") or (tree.body is None and tree.tags("frame")))


def _name_other(node: LexborNode, attributes: dict[str, str | None]) -> tuple[str, str]:
    kind = "area" if node.tag == "area" else "iframe"
    return kind, attributes.get("alt") or attributes.get("title") or ""


def clean_href(href: str) -> str:
    """Trimmed as WHATWG does; empty when it leads to no other page."""
    if not href.isprintable():
        href = TAB_OR_NEWLINE.sub("", href)
    href = href.strip(C0_AND_SPACE)
    if href[:11].lower().startswith(LEADS_NOWHERE) or len(href) > LONGEST_HREF:
        return ""
    return href


def find_head_links(links: Iterable[dict[str, str | None]], refreshes: Iterable[str]) -> Iterator[FoundLink]:
    """Those of `<link>` and `<meta http-equiv=refresh>`."""
    for attributes in links:
        rels = (attributes.get("rel") or "").lower().split()
        kind = next((rel for rel in LINK_RELS if rel in rels), None)
        if kind is None or (kind == "alternate" and not _is_page(attributes)):
            continue
        if href := clean_href(attributes.get("href") or ""):
            yield FoundLink(href, "", kind)
    for content in refreshes:
        if (match := REFRESH.match(content[:LONGEST_HREF])) and (
            href := clean_href(match[1] or match[2] or match[3] or "")
        ):
            yield FoundLink(href, "", "refresh")


def _is_page(attributes: dict[str, str | None]) -> bool:
    """Feeds, oEmbed and JSON are alternates too, but no pages; a style sheet may call itself one."""
    kind = (attributes.get("type") or "").partition(";")[0].strip().lower()
    return kind in PAGE_TYPES and "stylesheet" not in (attributes.get("rel") or "").lower()
