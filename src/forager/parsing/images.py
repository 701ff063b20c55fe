"""Finds every image of a page as written: those named in metadata first, then the body in order. Resolves no URLs.

Of several sizes of one image, the largest is taken. Tracking pixels, icons and inline images (`data:`) are skipped.
Attributes are read column by column, and patterns run only if one of their words occurs.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from forager.parsing.head import Head
from forager.parsing.links import clean_href
from forager.parsing.models import FoundImage
from forager.parsing.structured import Item, StructuredData, Value
from forager.parsing.tree_types import Picture, Tree

MOST_IMAGES = 100
MOST_NODES = 500
"""Elements checked; limits pages that consist of spacers."""
LONGEST_ALT = 512
LONGEST_SRCSET = 16_000
LONGEST_STYLE = 2000
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
SETS = ("srcset", "data-srcset", "data-lazy-srcset", "data-original-set")
MOST_SOURCES = 32
MOST_BESIDE = 256
"""Elements of a `picture` before its `img`."""

OPEN_GRAPH = ("og:image:secure_url", "og:image", "og:image:url")
TWITTER = ("twitter:image", "twitter:image:src")
DATA_KEYS = ("primaryimageofpage", "image", "images", "photo", "thumbnailurl")
SUBJECTS = (
    ("recipe", "product", "productgroup", "howto"),
    ("article", "posting", "report", "book", "movie", "event", "course", "videoobject", "vehicle", "car", "place"),
    ("page", "creativework"),
)
ADDRESSES = ("url", "contenturl", "thumbnailurl")

SMALLEST = 3
"""Images declared at most this small are tracking pixels."""
ICON_PIXELS = 32
THUMBNAIL_PIXELS = 160
NOISE = frozenset({"favicon", "sprite", "sprites", "spacer", "icon", "icons"})
FIRST_NOISE = frozenset(
    {"blank", "transparent", "pixel", "1x1", "clear", "tracking", "beacon", "loading", "placeholder"}
)
"""Words in the last path segment; words that count only at its start."""
SMALL = ("thumb", "avatar")
SMALL_WORDS = ("small", "tiny", "mini")
SMALL_WORD = re.compile(r"[/_.-](?:small|tiny|mini)(?=[/_.?-])")
SUSPECT = (
    *("icon", "sprite", "spacer", "blank", "transparent", "pixel", "1x1", "clear", "tracking", "beacon", "loading"),
    *("placeholder", "thumb", "avatar", "small", "tiny", "mini"),
)
"""Every noise or small-image pattern contains one of these."""
NO_PICTURE = ("logo", ".svg", "avatar", "banner", "header", "badge", "placeholder")
PIXELS = re.compile(r"[ \t\n\r\f\v]*([0-9]{1,5})(?:\.[0-9]*)?[ \t\n\r\f\v]*(?:px)?[ \t\n\r\f\v]*\Z")
GAPS = re.compile(r"[ \t\n\r\f\v]+")
SIZE = re.compile(r"[0-9]+(?:\.[0-9]+)?[wx]\Z")
LONGEST_SIZE = 10
BACKGROUND = re.compile(r"background(?:-image)?\s*:[^;]{0,200}?url\(\s*['\"]?([^'\")]+)", re.IGNORECASE)


def find_images(tree: Tree, head: Head, data: StructuredData, *, has_styles: bool = True) -> list[FoundImage]:
    """Returns the images of the head, or of the structured data if the head has none, then those of the body.
    `has_styles`: whether the page contains `url(`."""
    found = _named(head, data)
    has_primary = bool(found)
    shown: list[tuple[int, FoundImage]] = []
    for number, image in _in_body(tree, has_styles=has_styles):
        before = found.get(image.src)
        if before is not None:
            if not (before.alt and before.width and before.height):
                found[image.src] = before.merge_missing(image)
            continue
        found[image.src] = image
        shown.append((number, image))
        if len(found) >= MOST_IMAGES:
            break
    if not has_primary and (first := _first_of(tree, shown)) is not None:
        found[first.src] = first._replace(image_type="primary")
    return list(found.values())[:MOST_IMAGES]


def _first_of(tree: Tree, shown: list[tuple[int, FoundImage]]) -> FoundImage | None:
    """Returns the first image that is neither small nor a logo; prefers one in the article to one above it."""
    large = [(number, image) for number, image in shown if image.image_type == "gallery"]
    articles = tree.tags("article", "main")[:1] if len(large) > 1 else []
    inside = [image for number, image in large for article in articles if article < number < tree.end(article)]
    for image in (*inside, *(image for _, image in large)):
        said = f"{image.src} {image.alt}".lower()
        if not any(word in said for word in NO_PICTURE):
            return image
    return large[0][1] if large else None


# named ----------------------------------------------------------------------------------------------------------------


def _named(head: Head, data: StructuredData) -> dict[str, FoundImage]:
    """Returns images named in metadata; the first is the page's main image.

    If an item stands for the page (a recipe, a product) and has exactly one image, that image is preferred to the crop
    made for social networks, unless OpenGraph and Twitter name the same one.
    """
    graph, twitter = _contents(head, OPEN_GRAPH), _contents(head, TWITTER)
    named = [("og", src) for src in graph]
    if not graph:
        named = [("jsonld", src) for src in _in_data(data.items, SUBJECTS)]
    elif graph[0] not in twitter:
        pictures = _in_data(data.items, SUBJECTS[:1])
        if len(pictures) == 1 and pictures[0] != graph[0]:
            named.insert(0, ("jsonld", pictures[0]))
    named += [("twitter", src) for src in twitter] + [("link", src) for src in _linked(head)]
    found: dict[str, FoundImage] = {}
    for how, src in named[:MOST_IMAGES]:
        if src not in found:
            found[src] = FoundImage(src, how, "gallery" if found else "primary", "")
    if graph and ("og:image:alt" in head.metas or "og:image:width" in head.metas):
        alt, width, height = (head.meta(f"og:image:{name}") for name in ("alt", "width", "height"))
        found[graph[0]] = found[graph[0]]._replace(
            alt=_words(alt) if alt else "", width=_parse_size(width), height=_parse_size(height)
        )
    return found


def _contents(head: Head, names: tuple[str, ...]) -> list[str]:
    metas = head.metas
    given = [content for name in names if name in metas for content in metas[name][:MOST_IMAGES]]
    return [src for content in given if (src := clean_href(content)) and not is_icon_or_pixel(src)]


def _linked(head: Head) -> Iterator[str]:
    for attributes in head.links:
        if attributes.get("rel") == "image_src" and (src := clean_href(attributes.get("href") or "")):
            yield src


def _in_data(items: list[Item], subjects: tuple[tuple[str, ...], ...]) -> list[str]:
    """Returns images of the first item that has any: the page's subject, articles, then the page as a whole."""
    for kinds in subjects:
        for item in items:
            if _is_one_of(item.types, kinds) and (sources := _images_of(item)):
                return sources
    return []


@lru_cache(1024)
def _is_one_of(types: tuple[str, ...], kinds: tuple[str, ...]) -> bool:
    return any(kind.endswith(kinds) for kind in types)


def _images_of(item: Item) -> list[str]:
    values = (value for name in DATA_KEYS for value in item.get(name)[:MOST_IMAGES])
    sources = (clean_href(_address(value)) for value in values)
    return list(dict.fromkeys(src for src in sources if src and not is_icon_or_pixel(src)))


def _address(value: Value) -> str:
    if isinstance(value, Item):
        urls = (url for name in ADDRESSES for url in value.get(name))
        value = next((url for url in urls if isinstance(url, str)), value.id or "")
    return value if isinstance(value, str) else ""


# body ---------------------------------------------------------------------------------------------------------------


def _in_body(tree: Tree, *, has_styles: bool) -> Iterator[tuple[int, FoundImage]]:
    """Yields images in document order, backgrounds last."""
    styled: list[tuple[int, str]] = []
    new_tuple = tuple.__new__
    pictures = tree.pictures(SETS, LAZY, SUSPECT, clean_href, MOST_NODES, has_styles)
    for number, how, src, is_suspect, alt, width, height in pictures:
        kind = "gallery"
        if is_suspect:
            if how == "background":
                styled.append((number, src))
                continue
            if is_icon_or_pixel(src):
                continue
            if is_small(src):
                kind = "thumbnail"
        if width is not None and height is not None:
            if width <= SMALLEST or height <= SMALLEST or (width <= ICON_PIXELS and height <= ICON_PIXELS):
                continue
            kind = "thumbnail" if width <= THUMBNAIL_PIXELS and height <= THUMBNAIL_PIXELS else "gallery"
        # `tuple.__new__` takes half the time of a named tuple's constructor.
        yield number, new_tuple(FoundImage, (src, how, kind, _words(alt) if alt else "", width, height))
    for number, style in styled[:MOST_NODES]:
        match = BACKGROUND.search(style[:LONGEST_STYLE])
        src = clean_href(match[1]) if match else ""
        if src and not is_icon_or_pixel(src):
            yield number, FoundImage(src, "background", "thumbnail" if is_small(src) else "gallery", "")


def is_icon_or_pixel(src: str) -> bool:
    """Whether the file name is that of a favicon or a tracking pixel."""
    name = src.partition("?")[0].rpartition("/")[2].lower()
    words = name.replace("_", "-").replace(".", "-").split("-")
    return words[0] in FIRST_NOISE or not NOISE.isdisjoint(words)


def is_small(src: str) -> bool:
    """Whether the URL indicates a small image. The pattern is slow, so it runs only if one of its words occurs."""
    src = src.lower()
    if any(word in src for word in SMALL):
        return True
    return any(word in src for word in SMALL_WORDS) and SMALL_WORD.search(src) is not None


# one picture in several sizes -----------------------------------------------------------------------------------------


def images_in_python(
    tree: Tree, sets: tuple[str, ...], lazy: tuple[str, ...], words: tuple[str, ...], most: int, *, with_styles: bool
) -> list[Picture]:
    """Python version of `c/pictures.h`."""
    found: list[Picture] = []
    for number in tree.tags("img")[:most]:
        how, src = _select_source(tree, number, sets, lazy)
        if src := clean_href(src):
            holds_word = any(word in src.lower() for word in words)
            said = tree.get(number, "alt") or tree.get(number, "title") or ""
            width, height = _parse_size(tree.get(number, "width")), _parse_size(tree.get(number, "height"))
            found.append((number, how, src, holds_word, said, width, height))
    if with_styles:
        styled = tree.find(("style",), ("url(",))
        styles = zip(styled, tree.column(styled, "style"), strict=True)
        found += [
            (number, "background", style or "", True, "", None, None)
            for number, style in styles
            if tree.tag(number) != "img"
        ]
    return sorted(found)


def _select_source(tree: Tree, number: int, sets: tuple[str, ...], lazy: tuple[str, ...]) -> tuple[str, str]:
    """Returns the widest source of an image; among equals, the first."""
    best, most = ("img", tree.get(number, "src") or ""), 0.0
    for name in lazy:
        if (value := tree.get(number, name)) and clean_href(value):
            best = ("lazy", value)
            break
    offers = [("srcset" if name == "srcset" else "lazy", tree.get(number, name)) for name in sets]
    offers += [("picture", srcset) for srcset in _sources(tree, number, sets[:2])]
    for how, srcset in offers:
        widest = select_srcset(srcset) if srcset else None
        if widest and widest[0] > most and (how != "picture" or widest[0] > 1 or not clean_href(best[1])):
            most, best = widest[0], (how, widest[1])
    return best


def _sources(tree: Tree, number: int, names: tuple[str, ...]) -> list[str]:
    """Returns the srcsets of the `source` elements before an image in a `picture`."""
    parent = tree.parent(number)
    if parent < 0 or tree.tag(parent) != "picture":
        return []
    inside = range(parent + 1, min(number, parent + MOST_BESIDE))
    sources = [each for each in inside if tree.tag(each) == "source" and tree.parent(each) == parent][:MOST_SOURCES]
    given = (next((value for name in names if (value := tree.get(each, name))), None) for each in sources)
    return [srcset for srcset in given if srcset]


def select_srcset(srcset: str) -> tuple[float, str] | None:
    """Returns the largest candidate of a `srcset`, with its width or density; 1 if it gives neither."""
    best: tuple[float, str] | None = None
    url, size = "", 1.0
    for token in [*filter(None, GAPS.split(srcset[:LONGEST_SRCSET])), ","]:
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
    """Parses `640w` or `2x`."""
    return float(word[:-1]) if len(word) < LONGEST_SIZE and SIZE.match(word) else 1.0


def _parse_size(text: str | None) -> int | None:
    if not text:
        return None
    if text.isdecimal() and text.isascii() and len(text) < 6:
        return int(text)
    match = PIXELS.match(text)
    return int(match[1]) if match else None


def _words(text: str) -> str:
    """Returns the text on one line. Most texts already are, which a quick check detects."""
    if len(text) <= LONGEST_ALT and text.isprintable() and "  " not in text and text[0] != " " and text[-1] != " ":
        return text
    return " ".join(text[: 4 * LONGEST_ALT].split())[:LONGEST_ALT]
