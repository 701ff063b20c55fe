"""Arrays of PostgreSQL's own types, told to the driver before it asks.

asyncpg knows no array but those of text. At the first statement with another it asks the server what that is, by a
recursive query that costs more than most of our statements (4 ms, a few times on every connection), though the answer
is the same in every PostgreSQL: numbers of core types never change. Types of our own it still asks for.
"""

from typing import Any

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
}
"""Element → the numbers of its array and of itself, as `pg_type` has them."""


def introduce(connection: Any) -> None:
    """What the driver would learn by asking, without a round trip."""
    connection._protocol.get_settings().register_data_types(ROWS)  # noqa: SLF001 (asyncpg has no public door to it)


def _row(name: str, array: int, element: int) -> dict[str, Any]:
    """As asyncpg's own query answers, but for what only people read."""
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
