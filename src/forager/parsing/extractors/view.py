"""A page as extractors see it. Everything is made on first use: most extractors need the elements alone."""

import re
from functools import cached_property
from itertools import islice
from typing import Any

import orjson
import turbohtml

from forager.errors import BadUrlError, DecodeError
from forager.fetch.models import Fetched
from forager.parsing.charset import to_utf8
from forager.parsing.extractors.definition import PageKind
from forager.parsing.extractors.values import Context
from forager.parsing.models import Reading
from forager.parsing.products.currency import get_locale
from forager.parsing.products.embedded import find_assigned
from forager.parsing.tree import bounded
from forager.urls.domain import domain_of

MOST_SCRIPTS = 60
MOST_JSON = 4_000_000
"""Characters of JSON in scripts that are decoded."""
ARTICLES = frozenset(
    {"article", "newsarticle", "blogposting", "reportagenewsarticle", "technicalarticle", "techarticle", "report"}
)
NOT_SHOWN = re.compile(r"<(script|style|template|noscript)\b[^>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)


class PageView:
    """One page."""

    def __init__(self, fetched: Fetched, reading: Reading) -> None:
        self._fetched = fetched
        self.reading = reading
        self.url = fetched.url
        self.domain = _domain(fetched.url)

    @cached_property
    def html(self) -> str:
        return to_utf8(self._fetched.body, self._fetched.content_type)[0].decode("utf-8", "replace")

    @cached_property
    def document(self) -> Any:
        """Returns the elements, parsed a second time: our own tree has no selectors."""
        try:
            return turbohtml.parse(bounded(self.html), positions=False, allow_declarative_shadow_roots=False)
        except (ValueError, RuntimeError, RecursionError) as error:
            raise DecodeError(f"the page cannot be parsed: {error}") from error

    @cached_property
    def text(self) -> str:
        """Returns all visible text."""
        return text_of_element(self.document.find("body") or self.document)

    @cached_property
    def context(self) -> Context:
        return Context(self.reading.base_url, get_locale(self.url, self.reading.language))

    @cached_property
    def metas(self) -> dict[str, list[str]]:
        """Returns the contents of meta elements by name, property or itemprop, in lower case."""
        found: dict[str, list[str]] = {}
        for element in islice(self.document.select("meta[content]"), 1_000):
            for attribute in ("name", "property", "itemprop", "http-equiv"):
                if name := element.attr(attribute):
                    found.setdefault(name.strip().lower(), []).append(element.attr("content") or "")
        return found

    @cached_property
    def items(self) -> list[dict[str, Any]]:
        """Returns the items of structured data in one form, with `@type` and `@syntax` beside their properties."""
        entries = orjson.loads(self.reading.structured_data) if self.reading.structured_data else []
        return [
            {"@type": _single(entry["types"]), "@syntax": entry["syntax"], **_unwrap(entry["properties"])}
            for entry in entries
        ]

    @cached_property
    def documents(self) -> list[Any]:
        """Returns what JSONPath looks at: items of structured data, then JSON that the page gives to its scripts."""
        return [*self.items, *self._embedded()]

    @property
    def kind(self) -> PageKind:
        reading = self.reading
        if reading.product is not None:
            return "product"
        if reading.listed:
            return "listing"
        types = {str(each).lower() for item in self.items for each in _listed(item["@type"])}
        return "article" if types & ARTICLES else "any"

    def _embedded(self) -> list[Any]:
        found: list[Any] = []
        left = MOST_JSON
        for script in islice(self.document.select("script:not([src])"), MOST_SCRIPTS):
            kind = (script.attr("type") or "").partition(";")[0].strip().lower()
            text = script.text
            left -= len(text)
            if left < 0:
                break
            if kind.endswith("/json"):
                found += _decoded(text)
            elif kind in {"", "text/javascript", "application/javascript", "module"}:
                found += [each.content for each in find_assigned(text) if isinstance(each.content, dict | list)]
        return found


def _domain(url: str) -> str:
    try:
        return domain_of(url)
    except BadUrlError:  # a saved page may have any address
        return ""


def text_of_element(element: Any) -> str:
    """Returns the visible text of an element, as it is laid out."""
    return str(element.to_text())


def text_of_html(html: str) -> str:
    """Returns HTML without scripts and styles."""
    return NOT_SHOWN.sub(" ", html)


def _decoded(text: str) -> list[Any]:
    try:
        return [orjson.loads(text.strip())]
    except ValueError:
        return []


def _single(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _unwrap(properties: dict[str, Any]) -> dict[str, Any]:
    """Gives microdata and RDFa, whose values are lists and items, the form of JSON-LD."""
    return {name: _plain(value) for name, value in properties.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return _single([_plain(each) for each in value])
    if isinstance(value, dict):
        if value.keys() == {"types", "properties"}:
            return {"@type": _single(value["types"]), **_unwrap(value["properties"])}
        return {name: _plain(each) for name, each in value.items()}
    return value
