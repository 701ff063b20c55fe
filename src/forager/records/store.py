"""Stores the records of a batch of visits. Opens no transactions: the caller does, under its leases.

Recording the same visit twice changes nothing: a record that is as it was costs one small update, and no history.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from isal import isal_zlib

from forager.db import statements
from forager.db.query import BulkCommand, BulkQuery, Query
from forager.db.types import Connection
from forager.frontier.models import Outcome, OutcomeKind
from forager.records.models import FoundRecord
from forager.records.rows import DayColumns, LostRecord, RecordColumns, SeenColumns

SQL = statements.load("forager.records")
SEE_RECORDS = BulkQuery(SQL["see_records"], SeenColumns, int)
WRITE_RECORDS = BulkCommand(SQL["write_records"], RecordColumns)
LOSE_RECORDS = Query(SQL["lose_records"], LostRecord)
COUNT_DAYS = BulkCommand(SQL["count_days"], DayColumns)
NOT_MODIFIED = 304
BETWEEN = "\x1f"
LONGEST_NAME = 100
LONGEST_KEY = 500
LONGEST_ERROR = 300
MOST_RECORDS = 1_000
LARGEST_FIELDS = 262_144
"""Bytes of a record's fields; a larger one, which only a plug-in could send, is not stored."""
WHOLE = ""
"""The field under which records as a whole are counted."""


@dataclass(frozen=True, slots=True)
class RecordVisit:
    """The records that one visit saw on one page."""

    domain_id: int
    page_id: int
    task_id: int
    records: Sequence[FoundRecord] = ()
    tried: Sequence[str] = ()
    """Extractors whose other records are not on the page."""
    problems: Sequence[str] = ()
    """`NAME: why` of each extractor that failed."""
    seen_at: datetime | None = None
    """When the page was visited; None: the time of this transaction, on the database's clock."""
    is_revisit: bool = False
    is_unchanged: bool = False
    """The server reported the page as not modified and sent no body."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One record, ready to be written."""

    visit: RecordVisit
    record: FoundRecord
    key_hash: bytes
    fields: bytes
    content_hash: bytes


def get_record_visits(outcomes: Iterable[Outcome]) -> list[RecordVisit]:
    """Returns visits that saw records, or might have missed some."""
    visits: list[RecordVisit] = []
    for outcome in outcomes:
        target, reading = outcome.target, outcome.reading
        if outcome.kind is not OutcomeKind.SUCCESS:
            continue
        if reading is None:
            if outcome.status_code == NOT_MODIFIED and target.past is not None:
                visits.append(RecordVisit(target.domain_id, target.page_id, target.task_id, is_unchanged=True))
        elif reading.records or reading.extractor_problems or (reading.extractors and target.past is not None):
            visits.append(
                RecordVisit(
                    target.domain_id,
                    target.page_id,
                    target.task_id,
                    reading.records[:MOST_RECORDS],
                    reading.extractors,
                    reading.extractor_problems,
                    is_revisit=target.past is not None,
                )
            )
    return visits


async def store(conn: Connection, visits: Sequence[RecordVisit]) -> None:
    """Stores records, their history and the counters of extractors; costs nothing without visits."""
    rows = [row for visit in visits for row in _rows_of(visit)]
    if rows:
        unchanged = {position - 1 for position in await SEE_RECORDS.fetch(conn, _seen_columns(rows))}
        if fresh := [row for at, row in enumerate(rows) if at not in unchanged]:
            await WRITE_RECORDS.execute(conn, _record_columns(fresh))
    lost = await _lose(conn, [visit for visit in visits if visit.is_revisit and visit.tried], rows)
    if unmodified := [visit for visit in visits if visit.is_unchanged]:
        keys = zip(*((visit.domain_id, visit.page_id, visit.task_id) for visit in unmodified), strict=True)
        await conn.execute(SQL["see_unchanged"], *map(list, keys))
    if days := _count(visits, rows, lost):
        await COUNT_DAYS.execute(conn, days)


def _rows_of(visit: RecordVisit) -> list[_Row]:
    """Returns the rows of one page; of two records with one key the first counts."""
    found: dict[tuple[str, bytes], _Row] = {}
    for position, record in enumerate(visit.records):
        named = record.key if record.key is not None else f"#{position}"
        key_hash = hashlib.sha256(named.encode("utf-8", "replace")).digest()[:16]
        fields = _dump(record.fields)
        if fields is None:
            continue
        content = _dump([record.kind, record.fields, list(record.problems)]) or b""
        row = _Row(visit, record, key_hash, fields, hashlib.sha256(content).digest()[:16])
        found.setdefault((record.extractor, key_hash), row)
    return list(found.values())


def _dump(value: object) -> bytes | None:
    """Returns JSON that the database accepts, with sorted keys; None if it is too large or cannot be written."""
    try:
        written = orjson.dumps(value, default=str, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    except (TypeError, RecursionError):
        return None
    if b"\\u0000" in written:
        written = written.replace(b"\\u0000", b"")
    return written if len(written) <= LARGEST_FIELDS else None


def _seen_columns(rows: Sequence[_Row]) -> SeenColumns:
    return SeenColumns(
        domain_id=[row.visit.domain_id for row in rows],
        page_id=[row.visit.page_id for row in rows],
        task_id=[row.visit.task_id for row in rows],
        seen_at=[row.visit.seen_at for row in rows],
        extractor=[row.record.extractor[:LONGEST_NAME] for row in rows],
        key_hash=[row.key_hash for row in rows],
        content_hash=[row.content_hash for row in rows],
    )


def _record_columns(rows: Sequence[_Row]) -> RecordColumns:
    seen = _seen_columns(rows)
    return RecordColumns(
        domain_id=seen.domain_id,
        page_id=seen.page_id,
        task_id=seen.task_id,
        seen_at=seen.seen_at,
        extractor=seen.extractor,
        kind=[row.record.kind[:LONGEST_NAME] for row in rows],
        key=[_text(row.record.key, LONGEST_KEY) for row in rows],
        key_hash=seen.key_hash,
        fields=[row.fields.decode() for row in rows],
        evidence=[pack_evidence(row.record.evidence) for row in rows],
        problems=[BETWEEN.join(_text(problem, LONGEST_ERROR) or "" for problem in row.record.problems) for row in rows],
        content_hash=seen.content_hash,
    )


def _text(text: str | None, longest: int) -> str | None:
    return None if text is None else text.replace("\0", "").replace(BETWEEN, " ")[:longest]


def pack_evidence(evidence: Mapping[str, str]) -> bytes | None:
    """Returns the evidence compressed; None if there is none."""
    written = _dump(dict(evidence)) if evidence else None
    return isal_zlib.compress(written, 0) if written else None


def unpack_evidence(packed: bytes | None) -> dict[str, str]:
    evidence: dict[str, str] = orjson.loads(isal_zlib.decompress(packed)) if packed else {}
    return evidence


async def _lose(conn: Connection, visits: Sequence[RecordVisit], rows: Sequence[_Row]) -> list[LostRecord]:
    if not visits:
        return []
    return await LOSE_RECORDS.fetch(
        conn,
        [visit.domain_id for visit in visits],
        [visit.page_id for visit in visits],
        [visit.task_id for visit in visits],
        [visit.seen_at for visit in visits],
        [BETWEEN.join(visit.tried) for visit in visits],
        [row.visit.page_id for row in rows],
        [row.record.extractor[:LONGEST_NAME] for row in rows],
        [row.key_hash for row in rows],
    )


def _count(visits: Sequence[RecordVisit], rows: Sequence[_Row], lost: Sequence[LostRecord]) -> DayColumns | None:
    """Counts fields that were found, valid and missing. A page that had a record of an extractor before and has none
    now counts as missing in each field."""
    counts: dict[tuple[int, str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    errors: dict[tuple[int, str, str], str] = {}
    for row in rows:
        _count_record(counts, row)
    giving = {(row.visit.page_id, row.record.extractor) for row in rows}
    for each in {(one.page_id, one.extractor): one for one in lost}.values():
        if (each.page_id, each.extractor) not in giving:
            for field in (WHOLE, *each.fields):
                counts[each.domain_id, each.extractor, field][2] += 1
    for visit in visits:
        for problem in visit.problems:
            name, _, why = problem.partition(": ")
            key = visit.domain_id, name[:LONGEST_NAME], WHOLE
            counts[key][3] += 1
            errors[key] = _text(why, LONGEST_ERROR) or "failed"
    if not counts:
        return None
    keys = list(counts)
    return DayColumns(
        domain_id=[domain for domain, _, _ in keys],
        extractor=[extractor for _, extractor, _ in keys],
        field=[field for _, _, field in keys],
        found=[counts[key][0] for key in keys],
        valid=[counts[key][1] for key in keys],
        missing=[counts[key][2] for key in keys],
        failed=[counts[key][3] for key in keys],
        last_error=[errors.get(key) for key in keys],
    )


def _count_record(counts: dict[tuple[int, str, str], list[int]], row: _Row) -> None:
    domain, record = row.visit.domain_id, row.record
    name = record.extractor[:LONGEST_NAME]
    whole = counts[domain, name, WHOLE]
    whole[0] += 1
    whole[1] += record.is_complete
    unread = {problem.partition(":")[2] for problem in record.problems if not problem.startswith("missing:")}
    for field, value in record.fields.items():
        of_field = counts[domain, name, field[:LONGEST_NAME]]
        is_found = value is not None or field in unread
        of_field[0] += is_found
        of_field[1] += value is not None
        of_field[2] += not is_found


async def drop_duplicates(conn: Connection, domains: Sequence[int]) -> None:
    """Deletes records of pages that will be removed for a duplicate that stays. Call it before moving pages."""
    await conn.execute(SQL["drop_of_duplicates"], domains)


async def merge_domains(conn: Connection, elder: int, others: Sequence[int]) -> None:
    """Moves records, their history and the counters to the oldest of these domains. Call it after moving their
    pages."""
    for statement in ("move_records", "move_record_changes", "move_extractor_days"):
        await conn.execute(SQL[statement], elder, others)
