"""Every link a page has, as it wrote it, in the order of the document. Resolves nothing and judges nothing."""

import re
from collections.abc import Iterable, Iterator
from itertools import compress

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.extract import compiled
from forager.records import FoundLink, LinkColumns

MOST_LINKS = 20_000
LONGEST_ANCHOR = 200
LONGEST_LOOKED_AT = 20 * LONGEST_ANCHOR
MOST_ANCHOR_TEXT = 16 * 1024 * 1024
"""Characters of all links of a page; more than a page can hold, unless they are counted several times."""
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


def find_links(tree: LexborHTMLParser) -> LinkColumns:
    """Those of the body: `a`, `area`, `iframe`, `frame`."""
    if compiled.trees is not None and (root := tree.root) is not None:
        found = compiled.trees.links(root, tree.body is not None, clean_href)
        if found is not None:
            return LinkColumns(*found)
    return find_links_in_python(tree)


def find_links_in_python(tree: LexborHTMLParser) -> LinkColumns:
    """List by list: a loop over the nodes takes a third more."""
    has_others = _has_others(tree)
    # Only pages with the rarer elements pay for the order among them: a selector costs twice as much as a name.
    nodes = tree.css("a[href], area[href], iframe[src], frame[src]") if has_others else tree.tags("a")
    attributes = [node.attributes for node in nodes]
    # What has nothing to trim is told by a look: most links, at a quarter of the cost of a pattern.
    hrefs = [
        href
        if (href := given.get("href") or given.get("src"))
        and href[0] in PLAIN_STARTS
        and href.isprintable()
        and href[-1] != " "
        and len(href) <= LONGEST_HREF
        else clean_href(href or "")
        for given in attributes
    ]
    # Only where there is a link, and not without end: where links lie in each other, each has the text of all inside.
    room = MOST_ANCHOR_TEXT
    anchors = [
        " ".join(text[:LONGEST_LOOKED_AT].split())[:LONGEST_ANCHOR]
        if href and room > 0 and (text := node.text_lexbor()) and (room := room - len(text)) is not None
        else ""
        for node, href in zip(nodes, hrefs, strict=True)
    ]
    kinds = ["a" if "rel" not in given else _name_anchor(given["rel"]) for given in attributes]
    if has_others:
        for index, node in enumerate(nodes):
            if node.tag != "a":
                anchors[index], kinds[index] = _name_other(node, attributes[index])
    if "" in hrefs:
        anchors, kinds = list(compress(anchors, hrefs)), list(compress(kinds, hrefs))
        hrefs = list(filter(None, hrefs))
    return LinkColumns(hrefs[:MOST_LINKS], anchors[:MOST_LINKS], kinds[:MOST_LINKS])


def _has_others(tree: LexborHTMLParser) -> bool:
    """Frames are the body of their page, so where there is a body there are none: one walk of the tree less."""
    return bool(tree.tags("iframe") or tree.tags("area") or (tree.body is None and tree.tags("frame")))


def _name_anchor(rel: str | None) -> str:
    return "a nofollow" if rel and "nofollow" in rel.lower() else "a"


def _name_other(node: LexborNode, attributes: dict[str, str | None]) -> tuple[str, str]:
    text = attributes.get("alt") or attributes.get("title") or ""
    kind = "area" if node.tag == "area" else "iframe"
    return " ".join(text.split())[:LONGEST_ANCHOR], kind + _name_anchor(attributes.get("rel"))[1:]


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


def find_head_links(links: Iterable[dict[str, str | None]], refreshes: Iterable[str]) -> Iterator[FoundLink]:
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


def _is_page(attributes: dict[str, str | None]) -> bool:
    """Feeds, oEmbed and JSON are alternates too, but no pages; a style sheet may call itself one."""
    kind = (attributes.get("type") or "").partition(";")[0].strip().lower()
    return kind in PAGE_TYPES and "stylesheet" not in (attributes.get("rel") or "").lower()
