-- Purges and the storage report. Owner of purges.

-- name: begin_purge
-- Records a purge before its first row is deleted.
INSERT INTO purges (purged_by, reason, what, subject) VALUES ($1, $2, $3, $4) RETURNING id;

-- name: count_purge
-- Counts deleted rows, in the transaction that deleted them; closed tasks also separately.
UPDATE purges p
SET tasks = p.tasks + $3,
    counts = (SELECT jsonb_object_agg(k.name, COALESCE((p.counts ->> k.name)::bigint, 0) + COALESCE(($2::jsonb ->> k.name)::bigint, 0))
              FROM (SELECT jsonb_object_keys(p.counts || $2::jsonb) AS name) k)
WHERE p.id = $1;

-- name: end_purge
-- Records that a purge is complete.
UPDATE purges SET ended_at = clock_timestamp() WHERE id = $1;

-- name: read_purges
-- Returns all purges, newest first; $1: only those before this one.
SELECT id, purged_at, ended_at, purged_by, reason, what, subject, counts::text AS counts, tasks FROM purges
WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2;

-- name: yesterday
-- Returns when yesterday began (UTC): days from then on are still rolled up.
SELECT (date_trunc('day', now() AT TIME ZONE 'UTC') - interval '1 day') AT TIME ZONE 'UTC';

-- name: purged_months
-- Returns months whose archive files were purged.
SELECT DISTINCT subject AS month FROM purges WHERE what = 'cold';
