"""Every image a page shows, as it wrote it: what it names for others first, then the body in order. Resolves nothing.

Of several sizes of one image the largest is taken. Tracking pixels, icons, and what is in the page itself (`data:`) are
left out. A page without images pays a walk of its tree and a look for `url(`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forager.extract.head import Head
from forager.extract.links import clean_href
from forager.records import FoundImage

MOST_IMAGES = 100
MOST_NODES = 2000
"""Looked at; a page of nothing but spacers ends here."""
LONGEST_ALT = 512
LONGEST_SRCSET = 16_000
LONGEST_STYLE = 2000
MOST_SCRIPTS = 20
LONGEST_SCRIPT = 200_000
DEEPEST_DATA = 6
MOST_DATA = 2000

LAZY = (
    *("data-src", "data-original", "data-lazy-src", "data-lazy", "data-url", "data-image", "data-hi-res-src"),
    *(
        "data-full-src",
        "data-large-src",
        "data-original-src",
        "data-img-src",
        "data-echo",
        "data-full",
        "data-zoom-image",
    ),
)
LAZY_SETS = ("data-srcset", "data-lazy-srcset", "data-original-set")
HINTS = frozenset({"srcset", *LAZY, *LAZY_SETS})

OPEN_GRAPH = ("og:image:secure_url", "og:image", "og:image:url")
TWITTER = ("twitter:image", "twitter:image:src")
DATA_KEYS = frozenset({"image", "images", "primaryImageOfPage", "photo", "thumbnailUrl"})
NESTED_KEYS = ("@graph", "mainEntity", "mainEntityOfPage", "itemListElement", "item", "hasVariant")

SMALLEST = 3
"""Declared so small, it counts visits."""
ICON_PIXELS = 32
THUMBNAIL_PIXELS = 160
NOISE = re.compile(
    r"[/_.-](?:favicon|sprites?|spacer|blank|transparent|pixel|1x1|clear|tracking|beacon|icons?)(?:[_.-][^/?]{0,60})?(?:\?|$)",
    re.IGNORECASE,
)
SMALL = re.compile(r"thumb|avatar|[/_.-](?:small|tiny|mini|sm|xs)(?=[/_.?-])", re.IGNORECASE)
PIXELS = re.compile(r"\s*([0-9]{1,5})(?:\.[0-9]*)?\s*(?:px)?\s*\Z")
BACKGROUND = re.compile(r"background(?:-image)?\s*:[^;]{0,200}?url\(\s*['\"]?([^'\")]+)", re.IGNORECASE)


def find_images(tree: LexborHTMLParser, head: Head, *, has_styles: bool = True) -> list[FoundImage]:
    """Those of the head, or where it names none of the structured data, then of the body. `has_styles`: whether the
    page holds `url(` at all."""
    found = {image.src: image for image in _in_head(head)}
    nodes = tree.tags("img")
    if nodes and not found:
        for src in islice(_in_data(tree), MOST_IMAGES):
            found.setdefault(src, FoundImage(src, "jsonld", "gallery" if found else "primary", ""))
    has_primary = bool(found)
    for image in _in_body(tree, nodes, has_styles=has_styles):
        before = found.get(image.src)
        if before is not None:
            found[image.src] = before.filled_from(image)
            continue
        is_primary = image.image_type == "gallery" and not has_primary
        has_primary |= is_primary
        found[image.src] = image._replace(image_type="primary") if is_primary else image
        if len(found) >= MOST_IMAGES:
            break
    return list(found.values())[:MOST_IMAGES]


# head ---------------------------------------------------------------------------------------------------------------


def _in_head(head: Head) -> Iterator[FoundImage]:
    """The first is what the page itself calls its picture."""
    is_first = True
    for how, content in _named(head):
        src = clean_href(content)
        if not src or NOISE.search(src):
            continue
        alt, width, height = "", None, None
        if how == "og" and is_first:
            alt = head.meta("og:image:alt") or ""
            width, height = _pixels(head.meta("og:image:width")), _pixels(head.meta("og:image:height"))
        yield FoundImage(src, how, "primary" if is_first else "gallery", _words(alt), width, height)
        is_first = False


def _named(head: Head) -> Iterator[tuple[str, str]]:
    metas = head.metas
    for names, how in ((OPEN_GRAPH, "og"), (TWITTER, "twitter")):
        for name in names:
            for content in metas.get(name, ())[:MOST_IMAGES]:
                yield how, content
    for attributes in head.links:
        if "image_src" in (attributes.get("rel") or "").lower():
            yield "link", attributes.get("href") or ""


def _in_data(tree: LexborHTMLParser) -> Iterator[str]:
    scripts = (node for node in tree.tags("script") if "ld+json" in (node.attributes.get("type") or ""))
    for node in islice(scripts, MOST_SCRIPTS):
        text = node.text()
        if '"image' not in text or len(text) > LONGEST_SCRIPT:
            continue
        try:
            document = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
        for value in islice(_values(document, DEEPEST_DATA), MOST_DATA):
            src = clean_href(value)
            if src and not NOISE.search(src):
                yield src


def _values(node: Any, depth: int) -> Iterator[str]:
    """Image URLs of things, and of things inside them where people nest them."""
    if depth <= 0:
        return
    if isinstance(node, list):
        for each in node[:MOST_IMAGES]:
            yield from _values(each, depth - 1)
    elif isinstance(node, dict):
        for key in DATA_KEYS & node.keys():
            yield from _urls(node[key], depth - 1)
        for key in NESTED_KEYS:
            if key in node:
                yield from _values(node[key], depth - 1)


def _urls(value: Any, depth: int) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list() if depth > 0:
            for each in value[:MOST_IMAGES]:
                yield from _urls(each, depth - 1)
        case dict():
            url = value.get("url") or value.get("contentUrl") or value.get("@id")
            if isinstance(url, str):
                yield url


# body ---------------------------------------------------------------------------------------------------------------


def _in_body(tree: LexborHTMLParser, nodes: list[LexborNode], *, has_styles: bool) -> Iterator[FoundImage]:
    if nodes:
        has_sources = bool(tree.tags("source"))
        for node in islice(nodes, MOST_NODES):
            image = _read_img(node, has_sources=has_sources)
            if image is not None:
                yield image
    for node in islice(tree.css('[style*="url("]') if has_styles else (), MOST_NODES):
        match = BACKGROUND.search((node.attributes.get("style") or "")[:LONGEST_STYLE])
        src = clean_href(match[1]) if match else ""
        if src and not NOISE.search(src):
            yield FoundImage(src, "background", "thumbnail" if SMALL.search(src) else "gallery", "")


def _read_img(node: LexborNode, *, has_sources: bool) -> FoundImage | None:
    given = node.attributes
    width, height = _pixels(given.get("width")), _pixels(given.get("height"))
    if (
        width is not None
        and height is not None
        and (min(width, height) <= SMALLEST or max(width, height) <= ICON_PIXELS)
    ):
        return None
    how, src = "img", given.get("src") or ""
    if has_sources or not HINTS.isdisjoint(given):
        how, src = _choose(node, given, src, has_sources=has_sources)
    src = clean_href(src)
    if not src or NOISE.search(src):
        return None
    if width is not None and height is not None:
        is_small = max(width, height) <= THUMBNAIL_PIXELS
    else:
        is_small = SMALL.search(src) is not None
    kind = "thumbnail" if is_small else "gallery"
    return FoundImage(src, how, kind, _words(given.get("alt") or given.get("title")), width, height)


def _choose(node: LexborNode, given: Mapping[str, str | None], src: str, *, has_sources: bool) -> tuple[str, str]:
    """Of all the page offers for one picture: the widest, and of equals what it names first."""
    best, most = ("img", src), 0.0
    lazy = next((value for name in LAZY if (value := given.get(name)) and clean_href(value)), None)
    if lazy:
        best = ("lazy", lazy)
    sets = [("srcset", given.get("srcset")), *(("lazy", given.get(name)) for name in LAZY_SETS)]
    if has_sources and (parent := node.parent) is not None and parent.tag == "picture":
        sources = (child.attributes for child in islice(parent.iter(), 32) if child.tag == "source")
        sets += [("picture", source.get("srcset") or source.get("data-srcset")) for source in sources]
    for how, srcset in sets:
        if (
            srcset
            and (widest := widest_of(srcset))
            and (widest[0] > most)
            and (how != "picture" or widest[0] > 1 or not best[1])
        ):
            most, best = widest[0], (how, widest[1])
    return best


def widest_of(srcset: str) -> tuple[float, str] | None:
    """The largest candidate of a `srcset`, with its width or density; 1 where it says neither."""
    best: tuple[float, str] | None = None
    url, size = "", 1.0
    for token in [*srcset[:LONGEST_SRCSET].split(), ","]:
        if not url:
            start = token.lstrip(",")
            url, size, rest = start.rstrip(","), 1.0, ""
            is_whole = start != url
        else:
            word, comma, rest = token.partition(",")
            size, is_whole = max(size, _size(word)), bool(comma)
        if not (is_whole and url):
            continue
        if (best is None or size > best[0]) and clean_href(url):
            best = (size, url)
        url, size = rest.rstrip(","), 1.0
    return best


def _size(word: str) -> float:
    """`640w` or `2x`."""
    try:
        return float(word[:-1]) if word[-1:] in {"w", "x"} and len(word) < 10 else 1.0
    except ValueError:
        return 1.0


def _pixels(text: str | None) -> int | None:
    if not text:
        return None
    if text.isdecimal() and text.isascii() and len(text) < 6:
        return int(text)
    match = PIXELS.match(text)
    return int(match[1]) if match else None


def _words(text: str | None) -> str:
    return " ".join(text[: 4 * LONGEST_ALT].split())[:LONGEST_ALT] if text else ""
