"""Arrays that the driver is told of: as the server knows them, and so that it need not ask."""

import asyncio
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import asyncpg
import pytest

from forager.db import core_types
from forager.db.statements import all_statements

VALUES: dict[str, Any] = {
    "bool": [True, None, False],
    "bytea": [b"\x00\xff", b""],
    "int2": [-1, 32_767],
    "int4": [-1, 2**31 - 1],
    "int8": [-1, 2**63 - 1, None],
    "float8": [0.5, -1e300],
    "date": [date(2024, 2, 29)],
    "time": [time(23, 59)],
    "timestamptz": [datetime(2024, 2, 29, 12, tzinfo=UTC), None],
    "numeric": [Decimal("1.50")],
    "tsquery": ["'a' & 'b'"],
    "tsvector": [b"\0\0\0\1a\0\0\0", None],
}
COME_BACK: dict[str, Any] = {"tsvector": ["'a'", None]}
"""Where they are not what was sent."""
VECTORS = ["", "'a'", "'a':1A,2B,3C,4 'b':16383", "'\\\\':2 'it''s':1 'tea':3A '東':4", "' ':1"]


WHOLE_ROWS = {"frontier/history.sql: read_old", "frontier/history.sql: read_old_pages"}
"""Statements that read whole rows, with columns of our own types."""


@pytest.mark.both_servers
async def test_the_server_says_the_same_of_them(conn: asyncpg.Connection) -> None:
    rows = await conn.fetch(
        "SELECT t.oid, t.typname, t.typtype, t.typelem, e.typname AS element, e.typdelim FROM pg_type t"
        " JOIN pg_type e ON e.oid = t.typelem WHERE t.oid = ANY ($1::oid[])",
        [row["oid"] for row in core_types.ROWS],
    )
    said = {(r["oid"], r["typname"], r["typtype"], r["typelem"], r["element"], r["typdelim"]) for r in rows}
    fields = ("oid", "name", "kind", "elemtype", "elemtype_name", "elemdelim")
    assert said == {tuple(row[field] for field in fields) for row in core_types.ROWS}


@pytest.mark.both_servers
async def test_values_come_back(conn: asyncpg.Connection) -> None:
    assert VALUES.keys() == core_types.ARRAYS.keys()
    for name, values in VALUES.items():
        assert await conn.fetchval(f"SELECT $1::{name}[]", values) == COME_BACK.get(name, values)


@pytest.mark.both_servers
async def test_a_vector_comes_as_its_text_and_goes_as_its_bytes(conn: asyncpg.Connection) -> None:
    for text in VECTORS:
        assert await conn.fetchval("SELECT $1::text::tsvector", text) == text
        sent = await conn.fetchval("SELECT tsvectorsend($1::text::tsvector)", text)
        assert await conn.fetchval("SELECT $1::tsvector::text", sent) == text


async def test_no_statement_but_those_of_whole_rows_has_the_driver_ask_for_a_type(conn: asyncpg.Connection) -> None:
    asking: set[str] = set()
    asked: list[Any] = []
    with conn.query_logger(asked.append):
        for statement in all_statements():
            asked.clear()
            await conn.reload_schema_state()  # else a type is asked for by the first statement alone
            core_types.register_types(conn)
            await conn.prepare(statement.sql)
            await asyncio.sleep(0)  # it is told after the fact
            asking |= {f"{statement.file}: {statement.name}"} if asked else set()
    assert asking == WHOLE_ROWS
