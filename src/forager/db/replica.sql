-- How far the database has written, and how far a replica has come. Positions in the log are numbers of bytes.

-- name: read_primary
-- Where the log is, and which database this is.
SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS position, s.system_identifier::text || '/' || d.oid AS identity,
       (SELECT max(revision) FROM schema_revisions) AS revision
FROM pg_control_system() s, pg_database d
WHERE d.datname = current_database();

-- name: read_replica
-- How far it has come, of which database it is a copy, and whether the primary keeps rows for its readers.
SELECT pg_is_in_recovery() AS is_replica, COALESCE(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0)::bigint AS position,
       s.system_identifier::text || '/' || d.oid AS identity, (SELECT max(revision) FROM schema_revisions) AS revision,
       current_setting('hot_standby_feedback')::boolean AS keeps_rows
FROM pg_control_system() s, pg_database d
WHERE d.datname = current_database();

-- name: read_replayed
-- How far it has come; none where it is no replica.
SELECT CASE WHEN pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint END;

-- name: read_written
-- A position behind everything that was committed: that of writing would not do, where commits are not waited for.
SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint;
