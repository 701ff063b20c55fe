"""Registers arrays of PostgreSQL's built-in types with the driver, so that it need not look them up.

asyncpg knows only arrays of text. At the first statement with another array it queries the server for the type, with a
recursive query that costs more than most of our statements (4 ms, a few times on every connection), although the result
is the same in every PostgreSQL: the OIDs of built-in types never change. asyncpg still looks up our own types.

A tsvector is sent in the server's binary format, which costs a sixth of its text. It is returned as text.
"""

from struct import unpack_from
from typing import Any

TSVECTOR = 3614
ARRAYS = {
    "bool": (1000, 16),
    "bytea": (1001, 17),
    "int2": (1005, 21),
    "int4": (1007, 23),
    "int8": (1016, 20),
    "float8": (1022, 701),
    "date": (1182, 1082),
    "time": (1183, 1083),
    "timestamptz": (1185, 1184),
    "numeric": (1231, 1700),
    "tsquery": (3645, 3615),
    "tsvector": (3643, TSVECTOR),
}
"""Element type → OID of its array type and of itself, as in `pg_type`."""


def register_types(connection: Any) -> None:
    """Registers the types that the driver would look up, without a round trip."""
    settings = connection._protocol.get_settings()  # noqa: SLF001 (asyncpg has no public door to it)
    settings.add_python_codec(TSVECTOR, "tsvector", "pg_catalog", [], "scalar", bytes, decode_tsvector, "binary")
    settings.register_data_types(ROWS)


def decode_tsvector(sent: bytes) -> str:
    """Returns a tsvector in PostgreSQL's text format: `'kettl':1A,7 'tea':2`."""
    (count,) = unpack_from(">I", sent)
    at, spelled = 4, []
    for _ in range(count):
        end = sent.index(b"\0", at)
        lexeme = sent[at:end].decode().replace("\\", "\\\\").replace("'", "''")
        (places,) = unpack_from(">H", sent, end + 1)
        found = [
            f"{place & 0x3FFF}{' CBA'[place >> 14].strip()}" for place in unpack_from(f">{places}H", sent, end + 3)
        ]
        spelled.append(f"'{lexeme}'" + ":" * bool(found) + ",".join(found))
        at = end + 3 + 2 * places
    return " ".join(spelled)


def _row(name: str, array: int, element: int) -> dict[str, Any]:
    """Returns a row like those of asyncpg's own query, without the columns that are only informative."""
    return {
        "oid": array,
        "ns": "pg_catalog",
        "name": f"_{name}",
        "kind": b"b",
        "basetype": None,
        "elemtype": element,
        "elemdelim": b",",
        "range_subtype": None,
        "attrtypoids": None,
        "attrnames": None,
        "depth": 0,
        "basetype_name": None,
        "elemtype_name": name,
        "range_subtype_name": None,
    }


ROWS = [_row(name, *numbers) for name, numbers in ARRAYS.items()]
