"""Every image a page shows, as it wrote it: what it names for others first, then the body in order. Resolves nothing.

Of several sizes of one image the largest is taken. Tracking pixels, icons, and what is in the page itself (`data:`) are
left out. Attributes are read column by column, and patterns only asked where a word of theirs is there at all.
"""

import re
from collections.abc import Iterator

from forager.extract.head import Head
from forager.extract.links import clean_href
from forager.extract.structured import Item, StructuredData, Value
from forager.extract.tree import Tree
from forager.records import FoundImage

MOST_IMAGES = 100
MOST_NODES = 2000
"""Looked at; a page of nothing but spacers ends here."""
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
LAZY_SETS = ("data-srcset", "data-lazy-srcset", "data-original-set")
HINTS = frozenset({"srcset", *LAZY, *LAZY_SETS})
COLUMNS = ("src", "alt", "title", "width", "height", "srcset", *LAZY, *LAZY_SETS)
MOST_SOURCES = 32

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
"""Declared so small, it counts visits."""
ICON_PIXELS = 32
THUMBNAIL_PIXELS = 160
NOISE = re.compile(
    r"(?:[/_.-](?:favicon|sprites?|spacer|icons?)|/(?:blank|transparent|pixel|1x1|clear|tracking|beacon|loading|placeholder))"
    r"(?:[_.-][^/?]{0,60})?(?:\?|$)",
    re.IGNORECASE,
)
SMALL = re.compile(r"thumb|avatar|[/_.-](?:small|tiny|mini|sm|xs)(?=[/_.?-])", re.IGNORECASE)
NOISE_WORDS = (
    "icon",
    "sprite",
    "spacer",
    "blank",
    "transparent",
    "pixel",
    "1x1",
    "clear",
    "tracking",
    "beacon",
    "loading",
    "placeholder",
)
SMALL_WORDS = ("thumb", "avatar", "small", "tiny", "mini", "sm", "xs")
"""One of them is in whatever the patterns find."""
PLAIN_STARTS = "/h"
LOGO = re.compile(r"logo|\.svg(?:\?|\s|$)|avatar|banner|header|placeholder|badge", re.IGNORECASE)
PIXELS = re.compile(r"\s*([0-9]{1,5})(?:\.[0-9]*)?\s*(?:px)?\s*\Z")
BACKGROUND = re.compile(r"background(?:-image)?\s*:[^;]{0,200}?url\(\s*['\"]?([^'\")]+)", re.IGNORECASE)


def find_images(tree: Tree, head: Head, data: StructuredData, *, has_styles: bool = True) -> list[FoundImage]:
    """Those of the head, or where it names none of the structured data, then of the body. `has_styles`: whether the
    page holds `url(` at all."""
    found = {image.src: image for image in _named(head, data)}
    has_primary = bool(found)
    shown: list[tuple[int, FoundImage]] = []
    for number, image in _in_body(tree, has_styles=has_styles):
        before = found.get(image.src)
        if before is not None:
            found[image.src] = before.filled_from(image)
            continue
        found[image.src] = image
        shown.append((number, image))
        if len(found) >= MOST_IMAGES:
            break
    if not has_primary and (first := _first_of(tree, shown)) is not None:
        found[first.src] = first._replace(image_type="primary")
    return list(found.values())[:MOST_IMAGES]


def _first_of(tree: Tree, shown: list[tuple[int, FoundImage]]) -> FoundImage | None:
    """The first that is not small and no logo; better one of the article than one above it."""
    large = [(number, image) for number, image in shown if image.image_type == "gallery"]
    pictures = [(number, image) for number, image in large if not LOGO.search(f"{image.src} {image.alt[:100]}")]
    articles = tree.tags("article", "main")[:1] if len(pictures) > 1 else []
    for article in articles:
        end = tree.end(article)
        pictures.sort(key=lambda entry: not article < entry[0] < end)
    return next((image for _, image in pictures or large), None)


# named ----------------------------------------------------------------------------------------------------------------


def _named(head: Head, data: StructuredData) -> list[FoundImage]:
    """The first is what the page itself calls its picture.

    Of what stands for the page (a recipe, a product) it is rather the one picture that the item has than the cut-out
    made for social networks, unless all of these are given the same.
    """
    metas = list(_in_metas(head))
    if not metas or metas[0].discovery_type != "og":
        metas = [FoundImage(src, "jsonld", "gallery", "") for src in _in_data(data.items, SUBJECTS)] + metas
    elif not _repeats(head, metas[0].src):
        pictures = _in_data(data.items, SUBJECTS[:1])
        if len(pictures) == 1 and pictures[0] != metas[0].src:
            metas.insert(0, FoundImage(pictures[0], "jsonld", "gallery", ""))
    once = list({image.src: image for image in reversed(metas)}.values())[::-1][:MOST_IMAGES]
    return [image._replace(image_type="primary") if at == 0 else image for at, image in enumerate(once)]


def _repeats(head: Head, src: str) -> bool:
    return any(clean_href(content) == src for name in TWITTER for content in head.metas.get(name, ()))


def _in_metas(head: Head) -> Iterator[FoundImage]:
    is_first = True
    for how, content in _contents(head):
        src = clean_href(content)
        if not src or NOISE.search(src):
            continue
        alt, width, height = "", None, None
        if how == "og" and is_first:
            alt = head.meta("og:image:alt") or ""
            width, height = _pixels(head.meta("og:image:width")), _pixels(head.meta("og:image:height"))
        yield FoundImage(src, how, "gallery", _words(alt), width, height)
        is_first = False


def _contents(head: Head) -> Iterator[tuple[str, str]]:
    metas = head.metas
    for names, how in ((OPEN_GRAPH, "og"), (TWITTER, "twitter")):
        for name in names:
            for content in metas.get(name, ())[:MOST_IMAGES]:
                yield how, content
    for attributes in head.links:
        if "image_src" in (attributes.get("rel") or "").lower():
            yield "link", attributes.get("href") or ""


def _in_data(items: list[Item], subjects: tuple[tuple[str, ...], ...]) -> list[str]:
    """Those of the first thing that has any: what the page is about, articles, then the page as a whole."""
    for kinds in subjects:
        for item in items:
            if any(kind.endswith(kinds) for kind in item.types) and (sources := _sources(item)):
                return sources
    return []


def _sources(item: Item) -> list[str]:
    values = (value for name in DATA_KEYS for value in item.properties.get(name, ())[:MOST_IMAGES])
    sources = (clean_href(_address(value)) for value in values)
    return list(dict.fromkeys(src for src in sources if src and not NOISE.search(src)))


def _address(value: Value) -> str:
    if isinstance(value, Item):
        urls = (url for name in ADDRESSES for url in value.properties.get(name, ()))
        value = next((url for url in urls if isinstance(url, str)), value.id or "")
    return value if isinstance(value, str) else ""


# body ---------------------------------------------------------------------------------------------------------------


def _in_body(tree: Tree, *, has_styles: bool) -> Iterator[tuple[int, FoundImage]]:
    if numbers := tree.tags("img")[:MOST_NODES]:
        yield from _Pictures(tree, numbers).read()
    styled = tree.find(("style",), ("url(",))[:MOST_NODES] if has_styles else []
    for number, style in zip(styled, tree.column(styled, "style"), strict=True):
        match = BACKGROUND.search((style or "")[:LONGEST_STYLE])
        src = clean_href(match[1]) if match else ""
        if src and not NOISE.search(src):
            yield number, FoundImage(src, "background", "thumbnail" if SMALL.search(src) else "gallery", "")


class _Pictures:
    """The elements `img`."""

    def __init__(self, tree: Tree, numbers: list[int]) -> None:
        self.tree, self.numbers = tree, numbers
        self.columns = {name: column for name in COLUMNS if any(column := tree.column(numbers, name))}
        self.sources: dict[int, list[int]] = {}
        """Element → the sources right inside of it."""
        for number in tree.tags("source"):
            self.sources.setdefault(tree.parent(number), []).append(number)

    def read(self) -> Iterator[tuple[int, FoundImage]]:
        chosen = self._choose_all()
        joined = "\n".join(src for _how, src in chosen).lower()
        noise = [word for word in NOISE_WORDS if word in joined]
        small = [word for word in SMALL_WORDS if word in joined]
        nothing: list[str | None] = [None] * len(chosen)
        alts, titles, widths, heights = (
            self.columns.get(name, nothing) for name in ("alt", "title", "width", "height")
        )
        rows = zip(self.numbers, chosen, alts, titles, widths, heights, strict=True)
        for number, (how, src), alt, title, wide, high in rows:
            if not src or (noise and _holds(src, noise) and NOISE.search(src)):
                continue
            width, height = _pixels(wide), _pixels(high)
            if width is None or height is None:
                is_small = bool(small and _holds(src, small) and SMALL.search(src))
            elif min(width, height) <= SMALLEST or max(width, height) <= ICON_PIXELS:
                continue
            else:
                is_small = max(width, height) <= THUMBNAIL_PIXELS
            text = alt or title
            kind = "thumbnail" if is_small else "gallery"
            yield number, FoundImage(src, how, kind, _words(text) if text else "", width, height)

    def _choose_all(self) -> list[tuple[str, str]]:
        """Of each how it was found, and where it is; empty where it is nowhere."""
        plain = self.columns.get("src") or [None] * len(self.numbers)
        if not self.sources and HINTS.isdisjoint(self.columns):
            return [("img", _clean(src)) for src in plain]
        hints = [(name, column) for name, column in self.columns.items() if name in HINTS]
        found = []
        for at, src in enumerate(plain):
            given = {name: value for name, column in hints if (value := column[at])}
            parent = self.tree.parent(self.numbers[at]) if self.sources else -1
            how, best = "img", src or ""
            if given or parent in self.sources:
                how, best = self._choose(given, best, self.sources.get(parent, []))
            found.append((how, _clean(best)))
        return found

    def _choose(self, given: dict[str, str], src: str, sources: list[int]) -> tuple[str, str]:
        """Of all the page offers for one picture: the widest, and of equals what it names first."""
        best, most = ("img", src), 0.0
        lazy = next((value for name in LAZY if (value := given.get(name)) and clean_href(value)), None)
        if lazy:
            best = ("lazy", lazy)
        sets = [("srcset", given.get("srcset")), *(("lazy", given.get(name)) for name in LAZY_SETS)]
        sets += [
            ("picture", self.tree.get(number, "srcset") or self.tree.get(number, "data-srcset"))
            for number in sources[:MOST_SOURCES]
        ]
        for how, srcset in sets:
            if (
                srcset
                and (widest := widest_of(srcset))
                and (widest[0] > most)
                and (how != "picture" or widest[0] > 1 or not best[1])
            ):
                most, best = widest[0], (how, widest[1])
        return best


def _clean(src: str | None) -> str:
    """Most have nothing to trim, which a look tells."""
    if not src:
        return ""
    return (
        src if src[0] in PLAIN_STARTS and src.isprintable() and src[-1] != " " and len(src) < 2000 else clean_href(src)
    )


def _holds(src: str, words: list[str]) -> bool:
    lowered = src.lower()
    return any(word in lowered for word in words)


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
