"""Pages as a reader sees them. HTML and the list of its links grow together in one `PageBuilder`, so they agree.

Knows nothing of HTTP, and nothing of any single site.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

STYLE = (
    "body{font:16px/1.55 system-ui,sans-serif;margin:0;color:#222;background:#fafaf7}"
    "header,footer{background:var(--c);color:#fff;padding:.7rem 1.2rem}header a,footer a{color:#fff;margin-right:1rem}"
    ".brand{font-weight:700;text-decoration:none}main,.crumbs{max-width:48rem;margin:1rem auto;padding:0 1.2rem}"
    ".crumbs{font-size:.85rem;color:#666}a{color:var(--c)}img{max-width:100%;border-radius:6px}"
    "ul{padding-left:1.2rem}.price{font-size:1.3rem;font-weight:700}pre{background:#eee;padding:.7rem;overflow:auto}"
    ".cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(11rem,1fr));gap:1rem;list-style:none;padding:0}"
)


def picture(src: str, alt: str, width: int, height: int) -> str:
    return f'<img src="{src}" alt="{escape(alt)}" width="{width}" height="{height}" loading="lazy">'


class Link(NamedTuple):
    href: str
    is_nofollow: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    language: str
    """What the text is written in."""
    declared_language: str | None
    """What the `lang` attribute says; a few pages leave it out or lie."""
    links: tuple[Link, ...]
    html: str


@dataclass(frozen=True, slots=True)
class Frame:
    """What all pages of a site share."""

    name: str
    colour: str
    menu: tuple[tuple[str, str], ...]
    """(href, text)"""
    small_print: str


class PageBuilder:
    """One page while it is being written."""

    def __init__(self, frame: Frame, heading: str, language: str = "en", declares: str | None = "") -> None:
        self.frame = frame
        self.heading = heading
        self.language = language
        self.declared_language = language if declares == "" else declares
        self.title = f"{heading} · {frame.name}"
        self.description = ""
        self.robots = ""
        self.is_followed = True
        """False when the answer's headers say `nofollow`; the meta tag speaks for itself."""
        self._head: list[str] = []
        self._main: list[str] = []
        self._crumbs: list[str] = []
        self._links: list[Link] = []
        self._header = self._write_header()

    def link(self, href: str, text: str, rel: str = "") -> str:
        self._links.append(Link(href, "nofollow" in rel.split()))
        attribute = f' rel="{rel}"' if rel else ""
        return f'<a href="{escape(href)}"{attribute}>{escape(text)}</a>'

    def add(self, *html: str) -> None:
        self._main.extend(html)

    def add_text(self, *paragraphs: str) -> None:
        self._main.extend(f"<p>{escape(text)}</p>" for text in paragraphs)

    def add_links(self, links: Iterable[tuple[str, str]], css_class: str = "") -> None:
        """A list of (href, text)."""
        items = "".join(f"<li>{self.link(href, text)}</li>" for href, text in links)
        self.add(f'<ul class="{css_class}">{items}</ul>' if css_class else f"<ul>{items}</ul>")

    def crumb(self, href: str, text: str) -> None:
        self._crumbs.append(self.link(href, text))

    def add_head(self, tag: str) -> None:
        self._head.append(tag)

    def point(self, rel: str, href: str, language: str = "") -> None:
        """A `<link>` that crawlers follow: canonical, alternate, next, prev."""
        self._links.append(Link(href))
        hreflang = f' hreflang="{language}"' if language else ""
        self._head.append(f'<link rel="{rel}"{hreflang} href="{escape(href)}">')

    def finish(self) -> Page:
        html = self._render()
        links = tuple(self._links)
        if "nofollow" in self.robots or not self.is_followed:
            links = tuple(Link(link.href, is_nofollow=True) for link in links)
        return Page(self.title, self.language, self.declared_language, links, html)

    def _write_header(self) -> str:
        self._links.append(Link("/"))
        menu = "".join(self.link(href, text) for href, text in self.frame.menu)
        return f'<header><a class="brand" href="/">{escape(self.frame.name)}</a>{menu}</header>'

    def _render(self) -> str:
        lang = f' lang="{self.declared_language}"' if self.declared_language else ""
        crumbs = f'<nav class="crumbs">{" › ".join([*self._crumbs, escape(self.heading)])}</nav>'
        return (
            f'<!doctype html>\n<html{lang}>\n<head><meta charset="utf-8"><title>{escape(self.title)}</title>\n'
            f'<meta name="viewport" content="width=device-width,initial-scale=1">{self._render_meta()}\n'
            f"<style>:root{{--c:{self.frame.colour}}}{STYLE}</style>{''.join(self._head)}</head>\n<body>{self._header}\n"
            f"{crumbs}\n<main><h1>{escape(self.heading)}</h1>\n" + "\n".join(self._main) + "\n</main>\n"
            f"<footer><small>{escape(self.frame.small_print)}</small></footer></body></html>\n"
        )

    def _render_meta(self) -> str:
        description = f'<meta name="description" content="{escape(self.description)}">' if self.description else ""
        return description + (f'<meta name="robots" content="{self.robots}">' if self.robots else "")
