"""What Python declares of statements, compared with what PostgreSQL says of them."""

import importlib
import re
import types
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import asyncpg
import pytest

import forager
from forager.db.query import BulkCommand, BulkQuery, Query, array_names, check_columns
from forager.db.statements import all_statements

SOURCE = Path(forager.__file__).parent
DECLARES = re.compile(r"^\w+ = (?:Query|BulkCommand|BulkQuery)\(", re.MULTILINE)
ARRAY = re.compile(r"\$(\d+)::\w+\[\]")
MOST_POSITIONAL = 8
"""Arrays that a statement may take by position."""
SCALARS: dict[str, type] = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), int),
    **dict.fromkeys(("float4", "float8"), float),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "json", "jsonb"), str),
    **dict.fromkeys(("timestamptz", "timestamp"), datetime),
    "bool": bool,
    "bytea": bytes,
    "date": date,
    "interval": timedelta,
    "numeric": Decimal,
    "time": time,
    "tsvector": bytes,
}
Declared = Query[Any] | BulkCommand[Any]


def declared() -> Iterator[tuple[str, Declared]]:
    for path in sorted(SOURCE.rglob("*.py")):
        if DECLARES.search(path.read_text(encoding="utf-8")):
            name = ".".join(("forager", *path.relative_to(SOURCE).with_suffix("").parts))
            for variable, value in vars(importlib.import_module(name)).items():
                if isinstance(value, Query | BulkCommand):
                    yield f"{name}.{variable}", value


DECLARED = dict(declared())


def fits(hint: Any, kind: str) -> bool:
    """Whether values of a type of PostgreSQL are what an annotation says. NULLs are not known of a statement."""
    if isinstance(hint, types.UnionType):
        return any(fits(each, kind) for each in get_args(hint) if each is not types.NoneType)
    if kind.endswith("[]"):
        return get_origin(hint) in (list, tuple, Sequence) and fits(get_args(hint)[0], kind.removesuffix("[]"))
    expected = SCALARS.get(kind, str)  # others are enumerations of ours
    return isinstance(hint, type) and (hint is expected or (expected is str and issubclass(hint, Enum)))


def columns_of(row: type) -> list[tuple[str | None, Any]]:
    if hasattr(row, "_fields") or is_dataclass(row):
        return list(get_type_hints(row).items())
    return [(None, row)]


def count_required(row: type) -> int:
    if is_dataclass(row):
        return sum(field.default is MISSING and field.default_factory is MISSING for field in fields(row))
    return len(columns_of(row))


def row_troubles(row: type, attributes: Sequence[Any]) -> list[str]:
    expected = columns_of(row)
    if not count_required(row) <= len(attributes) <= len(expected):
        return [f"{len(attributes)} columns for the {len(expected)} fields of {row.__name__}"]
    return [
        f"column {found.name} {found.type.name} is {name}: {hint} in {row.__name__}"
        for found, (name, hint) in zip(attributes, expected, strict=False)
        if name not in (None, found.name) or not fits(hint, found.type.name)
    ]


def parameter_troubles(columns: type, parameters: Sequence[Any]) -> list[str]:
    return [
        f"${number} {found.name} is {name}: {hint} in {columns.__name__}"
        for number, (found, (name, hint)) in enumerate(
            zip(parameters, get_type_hints(columns).items(), strict=True), start=1
        )
        if not fits(hint, found.name)
    ]


@pytest.mark.both_servers
async def test_rows_and_columns_are_what_postgresql_says(conn: asyncpg.Connection) -> None:
    troubles: dict[str, list[str]] = {}
    for name, statement in DECLARED.items():
        prepared = await conn.prepare(statement.sql)
        found: list[str] = []
        if isinstance(statement, Query | BulkQuery):
            found += row_troubles(statement.row, prepared.get_attributes())
        if isinstance(statement, BulkCommand):
            found += parameter_troubles(statement.columns, prepared.get_parameters())
        if found:
            troubles[name] = found
    assert troubles == {}
    assert len(DECLARED) > 20


def test_statements_with_many_arrays_take_named_columns() -> None:
    named = {statement.sql for statement in DECLARED.values() if isinstance(statement, BulkCommand)}
    crowded = [each for each in all_statements() if len(set(ARRAY.findall(each.sql))) > MOST_POSITIONAL]
    assert [f"{each.file}: {each.name}" for each in crowded if each.sql not in named] == []
    assert crowded
    for each in crowded:
        assert len(array_names(each.sql)) > MOST_POSITIONAL


class Visit(NamedTuple):
    page_id: Sequence[int]
    url: Sequence[str]
    by: str


@pytest.mark.parametrize(
    ("sql", "complaint"),
    [
        ("SELECT FROM unnest($1::int[], $2::text[]) AS n (page_id, url) WHERE $3 = ''", None),
        ("SELECT FROM unnest($2::text[], $1::int[]) AS n (url, page_id) WHERE $3 = ''", None),
        (
            "SELECT FROM unnest($1::int[], $2::text[]) AS n (url, page_id) WHERE $3 = ''",
            "[$]1 is 'url' in the",
        ),
        (
            "SELECT FROM unnest($1::int[], $3::text[]) AS n (page_id, url) WHERE $2 = ''",
            "[$]3 is 'url' in the",
        ),
        ("SELECT FROM unnest($1::int[], $2::text[]) AS n (page_id, url)", "3 fields for a statement with 2 parameters"),
    ],
)
def test_a_slip_of_order_is_noticed_without_a_server(sql: str, complaint: str | None) -> None:
    if complaint is None:
        check_columns(sql, Visit)
        return
    with pytest.raises(ValueError, match=complaint):
        check_columns(sql, Visit)


class Wrong(NamedTuple):
    id: str
    name: str


async def test_a_wrong_record_is_noticed(conn: asyncpg.Connection) -> None:
    prepared = await conn.prepare("SELECT 1::int8 AS id, 'a' AS title")
    assert len(row_troubles(Wrong, prepared.get_attributes())) == 2
    assert len(row_troubles(int, prepared.get_attributes())) == 1
