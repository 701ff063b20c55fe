-- Determines the schema of a database. All other statements live with the owner of their table.

-- name: lock_schema
-- Lets one caller at a time create or migrate a schema, until its transaction ends.
SELECT pg_advisory_xact_lock($1);

-- name: has_table
-- Returns whether a table of this name exists. Does not use to_regclass: it caches a table's absence for the whole
-- transaction, although another process created the table while this one waited for the lock.
SELECT EXISTS (
    SELECT FROM pg_class WHERE relname = $1::text AND relnamespace = to_regnamespace(current_schema()::text)
);

-- name: create_revisions
-- Creates the table of the schema's revisions: the last row is the current one.
CREATE TABLE IF NOT EXISTS schema_revisions (
    revision   text        PRIMARY KEY,
    checksum   text,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- name: list_revisions
-- Returns the revisions that were applied to a schema, with the checksums of their scripts; the checksum is unknown for
-- a first revision that a later Forager created.
SELECT revision, checksum FROM schema_revisions;

-- name: add_revision
-- Marks a revision as reached.
INSERT INTO schema_revisions (revision, checksum) VALUES ($1, $2);

-- name: delete_revision
-- Marks a revision as reverted.
DELETE FROM schema_revisions WHERE revision = $1;

-- name: watch_client
-- Has the server end a statement whose client is gone, within a second.
SET client_connection_check_interval = '1s';

-- name: read_window
-- Returns the oldest revision whose Forager may work on this schema.
SELECT oldest FROM schema_window;

-- name: find_foreign_table
-- Returns the first table in the current schema, where Forager's tables would be created, that belongs to no extension.
SELECT min(c.relname::text)
FROM pg_class c
WHERE c.relnamespace = to_regnamespace(current_schema()::text)
  AND c.relkind IN ('r', 'p')
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e');

-- name: was_used_since
-- Returns whether the instance was used after a moment, apart from the restore that created it.
SELECT EXISTS (SELECT FROM runs WHERE started_at > $1) OR EXISTS (SELECT FROM workers WHERE heartbeat_at > $1)
    OR EXISTS (SELECT FROM audit_log WHERE at > $1 AND action <> 'backup.restore');

-- name: drop_everything
-- Drops everything of Forager's in the schema, but nothing that belongs to an extension: the remains of a killed
-- restore.
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
-- Writes one row unchanged: fails if the database accepts no writes.
UPDATE schema_window SET oldest = oldest;
