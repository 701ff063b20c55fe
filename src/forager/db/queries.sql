-- Which schema a database has. Everything else lives with the owner of its table.

-- name: lock_schema
-- Lets one caller at a time create or migrate a schema, until its transaction ends.
SELECT pg_advisory_xact_lock($1);

-- name: has_table
-- Whether a table of this name exists. Not by to_regclass: it remembers a table's absence for the whole transaction,
-- although another process created it while we waited for the lock.
SELECT EXISTS (
    SELECT FROM pg_class WHERE relname = $1::text AND relnamespace = to_regnamespace(current_schema()::text)
);

-- name: create_revisions
-- The table of the schema's revisions: the last one is the one it has.
CREATE TABLE IF NOT EXISTS schema_revisions (
    revision   text        PRIMARY KEY,
    checksum   text,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- name: list_revisions
-- The revisions that a schema went through, with the checksums of their scripts; none is known of a first revision that
-- a later Forager made.
SELECT revision, checksum FROM schema_revisions;

-- name: add_revision
-- Marks a revision as reached.
INSERT INTO schema_revisions (revision, checksum) VALUES ($1, $2);

-- name: delete_revision
-- Marks a revision as taken back.
DELETE FROM schema_revisions WHERE revision = $1;

-- name: watch_client
-- Has the server end a statement whose client is gone, within a second.
SET client_connection_check_interval = '1s';

-- name: read_window
-- The oldest revision whose Forager may work on this schema.
SELECT oldest FROM schema_window;

-- name: find_foreign_table
-- The first table where Forager's would go that belongs to no extension.
SELECT min(c.relname::text)
FROM pg_class c
WHERE c.relnamespace = to_regnamespace(current_schema()::text)
  AND c.relkind IN ('r', 'p')
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
