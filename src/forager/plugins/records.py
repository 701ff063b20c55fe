"""Calls the hook `extract_records` and turns what plug-ins return into records."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import orjson

from forager.parsing.extractors.select import AUTO
from forager.parsing.structured.items import sanitize_text
from forager.plugins import registry
from forager.plugins.page import Page
from forager.records.models import FoundRecord

MOST_RECORDS = 1000
"""Records of one plug-in per page."""
MOST_BYTES = 262_144
"""Size of the fields of one record as JSON."""
LONGEST_NAME, LONGEST_KEY = 100, 500
RESERVED = frozenset({"fields", "kind", "key", "evidence"})
DEEPEST = 20


def extract_records(page: Page, wanted: Sequence[str]) -> tuple[tuple[FoundRecord, ...], tuple[str, ...]]:
    """Returns the records that plug-ins find on a page, and the names of those that did not fail: records of theirs
    that are missing are not on the page any more."""
    plugins = registry.current()
    found: list[FoundRecord] = []
    tried: list[str] = []
    for each in plugins.implementations("extract_records"):
        if AUTO not in wanted and each.plugin not in wanted:
            continue
        records = plugins.call(each, {"page": page}, partial(_read_all, each.plugin), url=page.url)
        if records is not None:
            found += records
            tried.append(each.plugin)
    return tuple(found), tuple(tried)


def _read_all(plugin: str, result: Iterable[FoundRecord | Mapping[str, Any]] | None) -> list[FoundRecord]:
    if result is None:
        return []
    if isinstance(result, str | bytes | Mapping):
        raise TypeError(f"extract_records returned a {type(result).__name__}; it returns a list of dicts")
    records: list[FoundRecord] = []
    for each in result:
        if len(records) == MOST_RECORDS:
            raise ValueError(f"more than {MOST_RECORDS} records on one page")
        records.append(read_record(plugin, each))
    return records


def read_record(plugin: str, found: FoundRecord | Mapping[str, Any]) -> FoundRecord:
    """Returns a record as it may be stored; raises TypeError or ValueError for one that cannot be."""
    if isinstance(found, FoundRecord):
        given: Mapping[str, Any] = {
            "kind": found.kind,
            "key": found.key,
            "fields": found.fields,
            "evidence": found.evidence,
        }
        problems = tuple(_text(each, LONGEST_NAME) for each in found.problems)
    elif isinstance(found, Mapping):
        given = found if "fields" in found and RESERVED.issuperset(found) else {"fields": found}
        problems = ()
    else:
        raise TypeError(f"a record is a {type(found).__name__}; it must be a dict")
    if not isinstance(given["fields"], Mapping):
        raise TypeError(f"`fields` is a {type(given['fields']).__name__}; it must be a dict")
    fields = _plain(given["fields"])
    if len(orjson.dumps(fields)) > MOST_BYTES:
        raise ValueError(f"a record has more than {MOST_BYTES // 1024} KiB")
    key = given.get("key")
    return FoundRecord(
        extractor=plugin,
        kind=_text(given.get("kind") or plugin, LONGEST_NAME),
        key=None if key is None else _text(key, LONGEST_KEY),
        fields=fields,
        evidence={
            _text(name, LONGEST_NAME): _text(text, LONGEST_KEY) for name, text in (given.get("evidence") or {}).items()
        },
        problems=problems,
    )


def _text(value: object, longest: int) -> str:
    return sanitize_text(str(value))[:longest]


def _plain(value: Any, depth: int = 0) -> Any:
    """Returns a value as JSON holds it: dates in ISO 8601, decimals as text, so that no digit is lost."""
    if depth > DEEPEST:
        raise ValueError(f"values are nested more than {DEEPEST} deep")
    match value:
        case None | bool():
            return value
        case int():
            return int(value) if -(2**53) < value < 2**53 else str(value)
        case float():
            return float(value) if math.isfinite(value) else None
        case str():
            return sanitize_text(str(value))
        case Decimal() | datetime() | date():
            return str(value) if isinstance(value, Decimal) else value.isoformat()
        case Mapping():
            return {sanitize_text(str(name)): _plain(each, depth + 1) for name, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(each, depth + 1) for each in value]
    raise TypeError(f"a value is a {type(value).__name__}; records hold text, numbers, dates, lists and dicts")
