# ruff: noqa: E501
"""What stands around the content of real pages: it makes nine tenths of their bytes, and nothing of it is content.

Made by arithmetic, so that a page is the same in each run. The shares are those of real pages: of 125 KB (the median)
a sixth to a half is script, up to a third style, a tenth drawings, and there are 150 `div` and 120 links.
"""

import json
import re
from collections.abc import Iterator
from itertools import count

from tests.quality.reading.languages import Words

SMALLEST, LARGEST = 50_000, 500_000
HEAD_END = re.compile(r"</head>", re.IGNORECASE)
BODY_START = re.compile(r"<body\b[^>]*>", re.IGNORECASE)
BODY_END = re.compile(r"</body>", re.IGNORECASE)
PROPERTIES = ("margin", "padding", "border-radius", "max-width", "line-height", "letter-spacing", "flex-basis")
PARTS = (
    "header",
    "card",
    "grid",
    "teaser",
    "button",
    "modal",
    "slider",
    "badge",
    "menu",
    "price",
    "article",
    "comment",
)


def size_of(number: int) -> int:
    """From 50 to 500 KB, half of the pages below 130."""
    share = (number * 37 % 101) / 100
    return int(SMALLEST * (LARGEST / SMALLEST) ** (share**1.25))


def surround(html: str, words: Words, number: int) -> str:
    """The same page as large as real ones are."""
    room = max(size_of(number) - len(html.encode()), 0)
    links = 20 + number * 13 % 90
    head = "".join(
        [
            *_preloads(number),
            _jsonld(words),
            f"<style>{_until(_css(number), room * (10 + number % 4 * 6) // 100)}</style>",
            *_tags(number),
        ]
    )
    before = f'{_wrappers(number)}<div class="site-top"><nav class="mega-menu" aria-label="Main">{_mega_menu(words, links)}</nav></div>'
    after = (
        f'<aside class="recommended related-content"><div class="grid">{_cards(words, links // 3)}</div></aside>'
        f'<footer class="site-footer-links">{_mega_menu(words, links // 2)}</footer>{_close_wrappers(number)}'
    )
    drawings = f'<div hidden aria-hidden="true">{_until(_drawings(number), room // 12)}</div>'
    rest = room - len((head + before + after + drawings).encode())
    scripts = f"{_state(words, rest * 6 // 10, number)}<script>{_until(_code(number), rest * 4 // 10)}</script>"
    html = HEAD_END.sub(lambda end: head + end[0], html, count=1)
    html = BODY_START.sub(lambda start: start[0] + before, html, count=1)
    return BODY_END.sub(lambda end: after + drawings + scripts + end[0], html, count=1)


def _until(parts: Iterator[str], size: int) -> str:
    found, length = [], 0
    while length < size:
        found.append(next(parts))
        length += len(found[-1])
    return "".join(found)


def _wrappers(number: int) -> str:
    """Nesting of pages made by builders: up to 24 levels that mean nothing."""
    return "".join(f'<div class="wrap-{level} l-{number}-{level}">' for level in range(4 + number % 5 * 5))


def _close_wrappers(number: int) -> str:
    return "</div>" * (4 + number % 5 * 5)


def _preloads(number: int) -> Iterator[str]:
    for n in range(12):
        yield f'<link rel="preload" as="script" href="https://cdn.example/assets/{number}/chunk-{n * 7919 % 997:03x}.js">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="theme-color" content="#ffffff">'


def _jsonld(words: Words) -> str:
    """Who publishes, and where the page stands: neither author nor date nor headline."""
    crumbs = [
        {"@type": "ListItem", "position": n + 1, "name": name, "item": f"https://site.example/{n}"}
        for n, name in enumerate(words.menu[:3])
    ]
    items = [
        {"@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": crumbs},
        {
            "@context": "https://schema.org",
            "@type": "WebSite",
            "url": "https://site.example/",
            "potentialAction": {"@type": "SearchAction", "target": "https://site.example/?s={q}"},
        },
    ]
    return "".join(f'<script type="application/ld+json">{json.dumps(item)}</script>' for item in items)


def _css(number: int) -> Iterator[str]:
    for n in count(number):
        part, name = PARTS[n % len(PARTS)], PROPERTIES[n % len(PROPERTIES)]
        yield f".{part}__item-{n}:not(.is-{part})>a:hover,.{part}--{n % 17}{{{name}:{n * 31 % 97}px;color:#{n * 7919 % 4096:03x}}}"
        if n % 40 == 0:
            yield f"@media (max-width:{n * 13 % 1400}px){{.{part}{{background:url(/img/{part}-{n}.png) no-repeat}}}}"


def _tags(number: int) -> Iterator[str]:
    """Tag managers, with markup in strings as they have it."""
    for n in range(6 + number % 20):
        yield (
            f'<script async data-id="t{n}">(function(w,d,s,l,i){{w[l]=w[l]||[];w[l].push({{"start":{n * 7919},"event":"js"}});'
            f"var j=d.createElement(s);j.innerHTML='<div class=\"ad\"><p>tag {n}<\\/p><\\/div>';}})(window,document,'script','layer','X-{n}');</script>"
        )


def _mega_menu(words: Words, links: int) -> str:
    columns = []
    for column in range(0, links, 12):
        items = "".join(
            f'<li class="menu__item"><a class="menu__link" href="/{n % 9}/{n}" data-track="nav-{n}"><span>{words.menu[n % len(words.menu)]}</span></a></li>'
            for n in range(column, min(column + 12, links))
        )
        columns.append(f'<div class="menu__column"><div class="menu__inner"><ul>{items}</ul></div></div>')
    return "".join(columns)


def _cards(words: Words, cards: int) -> str:
    return "".join(
        f'<div class="card"><div class="card__media"><a href="/stories/{n}"><img loading="lazy" width="320" height="180" alt="" src="/img/{n}-320.jpg" '
        f'srcset="/img/{n}-320.jpg 320w, /img/{n}-640.jpg 640w, /img/{n}-1280.jpg 1280w"></a></div>'
        f'<div class="card__body"><a class="card__link" href="/stories/{n}">{words.related[n % len(words.related)]}</a></div></div>'
        for n in range(cards)
    )


def _drawings(number: int) -> Iterator[str]:
    for n in count(number):
        path = " ".join(
            f"{'MLCQ'[i % 4]}{(n * i * 31) % 480 / 20:.2f} {(n + i * 17) % 480 / 20:.2f}" for i in range(24)
        )
        yield f'<svg class="icon icon-{n}" viewBox="0 0 24 24"><title>icon {n}</title><path d="{path}z"/></svg>'


def _state(words: Words, size: int, number: int) -> str:
    """What the page's own program is given: JSON with words, prices and addresses that the page does not show."""
    entry = '{{"id":{n},"slug":"story-{n}","title":{title},"price":{{"amount":"{n}.99","currency":"EUR"}},"url":"https:\\u002F\\u002Fsite.example\\u002F{n}"}}'
    titles = [json.dumps(title) for title in words.related]
    entries = (entry.format(n=n, title=titles[n % len(titles)]) + "," for n in count(number))
    return f'<script id="app-state" type="application/json">{{"items":[{_until(entries, size)}null]}}</script>'


def _code(number: int) -> Iterator[str]:
    for n in count(number):
        yield (
            f'!function(e,t){{"use strict";var n=e.m{n}||(e.m{n}={{}});n.render=function(r){{return r<{n % 90}&&t(r)>0?'
            f'"<span class=\\"x{n}\\">"+r+"<\\/span>":null}}}}(window,function(a){{return a*{n * 31 % 997}}});\n'
        )
