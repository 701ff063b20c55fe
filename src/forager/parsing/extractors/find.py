"""Finds the values of a field: by its sources in order, within the page or one element of it."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from forager.parsing.extractors import jsonpath
from forager.parsing.extractors.definition import FieldSpec, Source, how_of
from forager.parsing.extractors.patterns import compile_pattern, split_pseudo
from forager.parsing.extractors.values import convert, text_of
from forager.parsing.extractors.view import PageView, text_of_element

MOST_VALUES = 500
MOST_RECORDS = 1_000
LONGEST_SEARCHED = 500_000
"""Characters of text or HTML that a regex is matched against."""
LONGEST_SNIPPET = 200
ATTRIBUTES = {
    "url": ("href", "src", "content", "data-href"),
    "image": ("src", "data-src", "data-lazy-src", "srcset", "content", "href"),
    "date": ("datetime", "content"),
}
"""Where elements have values of these types; their text is the last resort."""
MACHINE_READ = frozenset({"meta", "data", "time", "input"})
"""Elements whose value is in an attribute, whatever the type."""
TEXTS = frozenset({"text", "list"})
"""Any text is one of these: where none is left, nothing was found."""
LAZY = ("data:", "about:")


class Found(NamedTuple):
    """The value of a field with its evidence. No value: nothing was found, or it is not of the field's type."""

    value: Any
    evidence: str
    is_invalid: bool = False


NOTHING = Found(None, "")


def list_scopes(page: PageView, each: str | None) -> list[Any]:
    """Returns what one record is read from: the page (None), or each element or object that repeats."""
    if each is None:
        return [None]
    match how_of(each):
        case "jsonpath":
            found = [value for document in page.documents for value in jsonpath.find(each, document)]
            found = [inner for value in found for inner in (value if isinstance(value, list) else [value])]
        case "xpath":
            found = _as_list(page.document.xpath(each))
        case _:
            found = page.document.select(each)
    return found[:MOST_RECORDS]


def find_field(page: PageView, spec: FieldSpec, scope: Any) -> Found:
    """Returns the value that the first source with a valid one gives."""
    invalid = NOTHING
    for source in spec.all_sources:
        raw = [value for each in _find_raw(page, source, spec.type, scope) if (value := _clean(each, spec)) != ""]
        if not raw:
            continue
        values = _convert(page, spec, raw)
        told = f"{source.how} {source.expression}: {text_of(raw[0])}"[:LONGEST_SNIPPET]
        if values:
            return Found(values if spec.many or spec.type == "list" else values[0], told)
        if spec.type not in TEXTS:
            invalid = Found(None, told, is_invalid=True)
    return invalid


def _convert(page: PageView, spec: FieldSpec, raw: list[Any]) -> list[Any]:
    is_list = spec.many or spec.type == "list"
    values: list[Any] = []
    for each in raw[:MOST_VALUES]:
        value = convert(spec.type, each, page.context)
        if value is not None and value not in values:
            values.append(value)
            if not is_list:
                break
    return values


def _clean(raw: Any, spec: FieldSpec) -> Any:
    """Removes what `strip` matches, and replaces as `replace` says; objects of structured data stay as they are."""
    if not isinstance(raw, str):
        return "" if raw is None or raw in ([], {}) else raw
    text = raw[:LONGEST_SEARCHED]
    if spec.strip is not None:
        text = compile_pattern(spec.strip).sub("", text)
    for pattern, replacement in spec.replace:
        text = compile_pattern(pattern).sub(replacement, text)
    return text.strip()


def _find_raw(page: PageView, source: Source, kind: str, scope: Any) -> list[Any]:
    is_object = scope is not None and not hasattr(scope, "select")
    if is_object and source.how in {"css", "xpath"}:
        return []
    match source.how:
        case "css":
            css, pseudo = split_pseudo(source.expression)
            root = page.document if scope is None else scope
            elements = [root] if css == ":scope" else root.select(css)
            attribute = source.attribute if source.attribute is not None else pseudo
            return [value for each in elements[:MOST_VALUES] for value in _values_of(each, kind, attribute)]
        case "xpath":
            found = _as_list((page.document if scope is None else scope).xpath(source.expression))
            return [value for each in found[:MOST_VALUES] for value in _values_of(each, kind, source.attribute)]
        case "meta":
            return list(page.metas.get(source.expression.lower(), ()))
        case "regex":
            return list(_match(source, _searched(page, source, scope)))
        case _:
            return list(_find_in_json(page, source, scope if is_object else None))


def _as_list(found: Any) -> list[Any]:
    """XPath returns elements, texts, or one number, text or boolean."""
    return list(found) if isinstance(found, list | tuple) else [] if found in ("", False) else [found]


def _values_of(element: Any, kind: str, attribute: str | None) -> Iterator[Any]:
    if not hasattr(element, "attr"):
        yield element if isinstance(element, bool) else str(element)
        return
    if attribute:
        if (value := element.attr(attribute)) is not None:
            yield value
        return
    if attribute is None:
        names = ATTRIBUTES.get(kind, ("content", "value", "datetime") if element.tag in MACHINE_READ else ())
        for name in names:
            if (value := element.attr(name)) and not value.startswith(LAZY):
                yield value.split(",")[-1].split()[0] if name == "srcset" and value.split(",")[-1].split() else value
                return
    if kind == "flag":
        yield text_of_element(element) or True
        return
    items = element.select(":scope > li") if kind == "list" and element.tag in {"ul", "ol"} else ()
    for each in items or (element,):
        yield text_of_element(each)


def _searched(page: PageView, source: Source, scope: Any) -> str:
    if scope is None:
        return (page.html if source.is_html else page.text)[:LONGEST_SEARCHED]
    if not hasattr(scope, "select"):
        return text_of(scope)
    return (str(scope.html) if source.is_html else text_of_element(scope))[:LONGEST_SEARCHED]


def _match(source: Source, text: str) -> Iterator[str]:
    """Yields the first group of each match, the whole match where the pattern has no group."""
    for count, found in enumerate(compile_pattern(source.expression).finditer(text)):
        if count >= MOST_VALUES:
            return
        yield (found[1] if found.re.groups else found[0]) or ""


def _find_in_json(page: PageView, source: Source, scope: Any) -> Iterator[Any]:
    path = source.expression
    if scope is not None:
        documents = [scope]
    else:
        # `$[…]` selects among all of them, `$.name` is looked for in each.
        documents = [page.documents] if re.match(r"\$\s*\[\s*[?*\d:-]", path) else page.documents
    for document in documents:
        found = jsonpath.find(path, document)
        values = [inner for value in found for inner in (value if isinstance(value, list) else [value])]
        if values:
            yield from values[:MOST_VALUES]
            return
