-- Increments of exports. Read only.

-- name: settled_boundary
-- Returns which database this is, and the id below which all transactions have ended, as this snapshot sees it.
SELECT (SELECT system_identifier FROM pg_control_system())::text || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())::text AS database,
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xid;

-- name: ages
-- Returns the ages of two transaction ids in this transaction, as they are compared with those of rows.
SELECT age(($1::bigint % 4294967296)::text::xid) AS newest,
       CASE WHEN $2::bigint IS NOT NULL THEN age(($2::bigint % 4294967296)::text::xid) END AS oldest;

-- name: hold_target
-- Returns whether this connection is the only one that exports to a target; the lock ends with the connection.
SELECT pg_try_advisory_lock(hashtext('forager export'), hashtext($1));
