"""What a database is made of, as plain text: two databases with the same description have the same schema."""

from typing import Any

_PARTS = {
    "columns": """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
               a.attgenerated, a.attstorage, pg_get_expr(d.adbin, d.adrelid), col_description(c.oid, a.attnum)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
          AND a.attnum > 0 AND NOT a.attisdropped""",
    "relations": """
        SELECT relname, relkind, relpersistence, reloptions, obj_description(oid, 'pg_class')
        FROM pg_class WHERE relnamespace = 'public'::regnamespace""",
    "indexes": """
        SELECT c.relname, pg_get_indexdef(i.indexrelid), i.indisunique, i.indisprimary, i.indisvalid
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'public'::regnamespace""",
    "constraints": """
        SELECT conrelid::regclass::text, conname, contype, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace""",
    "triggers": """
        SELECT tgname, pg_get_triggerdef(t.oid), tgenabled FROM pg_trigger t WHERE NOT tgisinternal""",
    "functions": """
        SELECT proname, pg_get_functiondef(oid), obj_description(oid, 'pg_proc')
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace""",
    "types": """
        SELECT t.typname, t.typtype, array_agg(e.enumlabel ORDER BY e.enumsortorder), obj_description(t.oid, 'pg_type')
        FROM pg_type t LEFT JOIN pg_enum e ON e.enumtypid = t.oid
        WHERE t.typnamespace = 'public'::regnamespace AND t.typelem = 0 AND t.typrelid = 0 GROUP BY t.oid""",
    "sequences": "SELECT sequencename, data_type::text, increment_by, cycle FROM pg_sequences",
    "statistics": """
        SELECT stxname, pg_get_statisticsobjdef(oid) FROM pg_statistic_ext""",
}


async def describe(connection: Any) -> dict[str, list[str]]:
    """Every part of the schema, and the rows it starts with."""
    found = {part: sorted(str(tuple(row)) for row in await connection.fetch(sql)) for part, sql in _PARTS.items()}
    tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    for table in (row["tablename"] for row in tables):
        rows = await connection.fetch(f'SELECT * FROM "{table}"')
        found[f"rows of {table}"] = sorted(str(tuple(row)) for row in rows)
    return found
