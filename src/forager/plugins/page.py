"""The page that a plug-in reads."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from ada_url import join_url

from forager.parsing.charset import to_text
from forager.parsing.links import find_links
from forager.parsing.text import take_content

if TYPE_CHECKING:
    import turbohtml

    from forager.parsing.products.view import View

WEB = ("http://", "https://")


class PageLink(NamedTuple):
    """A link to a web address."""

    url: str
    """Absolute, otherwise as the page wrote it."""
    anchor: str
    rel: str


class Page:
    """One HTML page, read-only. Whatever takes time is done when it is first asked for."""

    def __init__(self, view: "View", *, language: str | None = None, text: str | None = None) -> None:
        self.view = view
        """The view that the parsers inside Forager work with; it may change with every version."""
        self._language = language
        self._text = text

    @property
    def url(self) -> str:
        """The address of the page, normalised."""
        return self.view.fetched.url

    @property
    def canonical(self) -> str | None:
        """The address that the page names as its own, normalised."""
        return self.view.canonical

    @property
    def body(self) -> bytes:
        """The body as it came, without content encoding."""
        return self.view.fetched.body

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the response; names are in lower case."""
        return self.view.fetched.headers

    @property
    def title(self) -> str | None:
        return self.view.head.title

    @property
    def language(self) -> str | None:
        """BCP-47: found in the text for `extract_records`, as the page declares it for `find_product`."""
        return self._language or self.view.language

    @cached_property
    def html(self) -> str:
        """The body as text."""
        return to_text(self.body, self.view.fetched.content_type)[0]

    @cached_property
    def text(self) -> str:
        """The main text."""
        return self._text if self._text is not None else take_content(self.view.tree).text

    @cached_property
    def document(self) -> "turbohtml.Document":
        """The parsed page, with `select`, `select_one` and `xpath`."""
        return self.view.document

    @cached_property
    def links(self) -> Sequence[PageLink]:
        """Links to web addresses in page order."""
        found = ((self._absolute(link.href), link.anchor, link.rel) for link in find_links(self.view.tree))
        return tuple(PageLink(url, anchor, rel) for url, anchor, rel in found if url is not None)

    @cached_property
    def structured_data(self) -> list[dict[str, Any]]:
        """All JSON-LD, microdata, RDFa and OpenGraph items: `syntax`, `types`, `properties`."""
        packed = self.view.structured.to_json()
        items: list[dict[str, Any]] = orjson.loads(packed) if packed else []
        return items

    def _absolute(self, href: str) -> str | None:
        try:
            url: str = join_url(self.view.base_url, href)
        except ValueError:
            return None
        return url if url.startswith(WEB) else None
