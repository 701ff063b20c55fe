"""Runs extractors on a page that was read: the records of each, with evidence and problems."""

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import orjson

from forager.errors import DecodeError
from forager.fetch.models import Fetched
from forager.parsing.extractors.definition import Extractor
from forager.parsing.extractors.find import NOTHING, Found, find_field, list_scopes
from forager.parsing.extractors.view import PageView
from forager.parsing.models import Reading
from forager.records.models import FoundRecord

EXTRACTOR_CPU_S = 0.3
"""Processor time of one extractor on one page. Real ones take 10 ms."""
PAGE_CPU_S = 1.5
"""Processor time of all extractors of a page; less than what a parser process gives to the page."""
LONGEST_KEY = 500
LARGEST_RECORD = 65_536
TOO_SLOW, TOO_LARGE, FAILED, INVALID, MISSING = "too_slow", "too_large", "failed", "invalid", "missing"


class Extraction(NamedTuple):
    """What extractors found on one page."""

    records: tuple[FoundRecord, ...] = ()
    tried: tuple[str, ...] = ()
    """The extractors of its domain: records of theirs that are not here are not on the page."""
    problems: tuple[str, ...] = ()
    """`NAME: why` of each extractor that did not come to its end."""


class _TimeIsOverError(Exception):
    """The extractors of a page took more time than they may."""


def extract(fetched: Fetched, reading: Reading, extractors: Sequence[Extractor]) -> Extraction:
    """Returns the records of all extractors that match; one that fails costs its own records only."""
    page = PageView(fetched, reading)
    tried = [each for each in extractors if each.is_for_domain(page.domain)]
    wanted = [each for each in tried if each.is_for_url(page.url)]
    if not wanted:
        return Extraction(tried=tuple(each.name for each in tried))
    records: list[FoundRecord] = []
    problems: dict[str, str] = {}
    ends_at = time.process_time() + PAGE_CPU_S
    for each in wanted:
        left_s = min(EXTRACTOR_CPU_S, ends_at - time.process_time())
        try:
            if left_s <= 0:
                raise _TimeIsOverError
            with _time_limit(left_s):
                records += run(each, page)
        except _TimeIsOverError:
            problems[each.name] = f"{TOO_SLOW}: it took more than {max(left_s, 0):.1g} s"
        except (DecodeError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
            problems[each.name] = f"{type(error).__name__}: {error}"[:200]
    finished = tuple(each.name for each in tried if each.name not in problems)
    return Extraction(tuple(records), finished, tuple(f"{name}: {why}" for name, why in problems.items()))


def run(extractor: Extractor, page: PageView) -> list[FoundRecord]:
    """Returns the records of one extractor; none if the page is not what it is for."""
    match = extractor.match
    if match.page not in {"any", page.kind}:
        return []
    if match.selector is not None and not page.document.select(match.selector):
        return []
    found: dict[str, FoundRecord] = {}
    for position, scope in enumerate(list_scopes(page, extractor.record.each)):
        record = _read(extractor, page, scope)
        if record is not None:
            # Of two records with one key the first counts: a second could never be told from it.
            found.setdefault(record.key if record.key is not None else f"#{position}", record)
    return list(found.values())


def _read(extractor: Extractor, page: PageView, scope: Any) -> FoundRecord | None:
    """Returns None where no field was found: the page, or this element, has no such record."""
    found = {name: _find(page, extractor, name, scope) for name in extractor.fields}
    if all(each.value is None for each, _ in found.values()):
        return None
    problems: list[str] = []
    fields: dict[str, Any] = {}
    for name, spec in extractor.fields.items():
        (value, _, is_invalid), problem = found[name]
        if value is None and problem is None and spec.default is not None:
            value = spec.default
        if problem is not None or is_invalid:
            problems.append(f"{problem or INVALID}:{name}")
        elif value is None and spec.required:
            problems.append(f"{MISSING}:{name}")
        fields[name] = value
    if len(orjson.dumps(fields, default=str)) > LARGEST_RECORD:
        return FoundRecord(extractor.name, extractor.record.kind, None, {}, {}, (TOO_LARGE,))
    evidence = {name: each.evidence for name, (each, _) in found.items() if each.evidence}
    return FoundRecord(
        extractor.name, extractor.record.kind, _key_of(extractor, fields), fields, evidence, tuple(problems)
    )


def _find(page: PageView, extractor: Extractor, name: str, scope: Any) -> tuple[Found, str | None]:
    try:
        return find_field(page, extractor.fields[name], scope), None
    except (ValueError, RecursionError, TypeError, AttributeError, ArithmeticError):
        return NOTHING, FAILED


def _key_of(extractor: Extractor, fields: dict[str, Any]) -> str | None:
    values = [fields[name] for name in extractor.keys]
    if not values or all(value is None for value in values):
        return None
    texts = [value if isinstance(value, str) else orjson.dumps(value).decode() for value in values]
    return " | ".join(texts)[:LONGEST_KEY]


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupts Python, and a regex while it matches, after this much processor time. Only the main thread receives
    signals: elsewhere, as in a script's own thread, there is no limit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: object) -> None:
        raise _TimeIsOverError

    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
