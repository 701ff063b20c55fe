-- What a server counted of a database.

-- name: read_load
-- Transactions that were committed, rows that were written, and the length of the write-ahead log, of the whole server.
SELECT s.xact_commit, s.tup_inserted + s.tup_updated + s.tup_deleted, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint
FROM pg_stat_database s WHERE s.datname = current_database();
