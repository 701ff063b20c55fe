-- Which schema a database has. Everything else lives with the owner of its table.

-- name: lock_schema
-- Lets one caller at a time create or migrate a schema, until its transaction ends.
SELECT pg_advisory_xact_lock($1);

-- name: has_versions
-- Whether the table that holds the schema's revision exists. Not by to_regclass: it remembers a table's absence for the
-- whole transaction, although somebody else made it while we waited for the lock.
SELECT EXISTS (
    SELECT FROM pg_class WHERE relname = 'alembic_version' AND relnamespace = to_regnamespace(current_schema()::text)
);

-- name: read_version
-- The schema's revision; none after everything was downgraded.
SELECT max(version_num) FROM alembic_version;

-- name: has_window
-- Whether the schema says who may work on it; those before 0023 do not.
SELECT EXISTS (
    SELECT FROM pg_class WHERE relname = 'schema_window' AND relnamespace = to_regnamespace(current_schema()::text)
);

-- name: read_window
-- The oldest revision whose Forager may work on this schema.
SELECT oldest FROM schema_window;

-- name: make_versions
-- The same table that Alembic makes.
CREATE TABLE IF NOT EXISTS alembic_version (
    version_num varchar(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

-- name: write_version
-- Marks a schema that was created without migrations.
INSERT INTO alembic_version (version_num) VALUES ($1);

-- name: find_foreign_table
-- The first table where Forager's would go that belongs to neither Forager nor an extension.
SELECT min(c.relname::text)
FROM pg_class c
WHERE c.relnamespace = to_regnamespace(current_schema()::text)
  AND c.relkind IN ('r', 'p')
  AND c.relname <> 'alembic_version'
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e');

-- name: was_used_since
-- Whether an instance did anything after a moment, but for the restore that brought it.
SELECT EXISTS (SELECT FROM runs WHERE started_at > $1) OR EXISTS (SELECT FROM workers WHERE heartbeat_at > $1)
    OR EXISTS (SELECT FROM audit_log WHERE at > $1 AND action <> 'backup.restore');

-- name: drop_everything
-- Everything of Forager's in the schema, but nothing that belongs to an extension: what a killed restore left.
DO $$
DECLARE
    each record;
BEGIN
    FOR each IN
        SELECT format('DROP %s IF EXISTS %I CASCADE', CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.relname) AS statement,
               CASE c.relkind WHEN 'S' THEN 3 ELSE 2 END AS step
        FROM pg_class c
        WHERE c.relnamespace = to_regnamespace(current_schema()::text) AND c.relkind IN ('r', 'p', 'v', 'S')
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
        UNION ALL
        SELECT format('DROP FUNCTION IF EXISTS %s CASCADE', f.oid::regprocedure), 1 FROM pg_proc f
        WHERE f.pronamespace = to_regnamespace(current_schema()::text)
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = f.oid AND d.deptype = 'e')
        UNION ALL
        SELECT format('DROP TYPE IF EXISTS %I CASCADE', t.typname), 3 FROM pg_type t
        WHERE t.typnamespace = to_regnamespace(current_schema()::text) AND t.typtype = 'e'
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = t.oid AND d.deptype = 'e')
        ORDER BY step -- all are named before the first goes: a table takes functions along
    LOOP
        EXECUTE each.statement;
    END LOOP;
END $$;

-- name: probe_write
-- Writes one row as it is: fails where the database takes no writes.
UPDATE schema_window SET oldest = oldest;
