-- Purges and the storage report. Owner of purges.

-- name: begin_purge
-- A purge is on record before the first row goes.
INSERT INTO purges (purged_by, reason, what, subject) VALUES ($1, $2, $3, $4) RETURNING id;

-- name: count_purge
-- What went, in the transaction that took it; closed tasks also by themselves.
UPDATE purges p
SET tasks = p.tasks + $3,
    counts = (SELECT jsonb_object_agg(k.name, COALESCE((p.counts ->> k.name)::bigint, 0) + COALESCE(($2::jsonb ->> k.name)::bigint, 0))
              FROM (SELECT jsonb_object_keys(p.counts || $2::jsonb) AS name) k)
WHERE p.id = $1;

-- name: end_purge
-- All of it is gone.
UPDATE purges SET ended_at = clock_timestamp() WHERE id = $1;

-- name: read_purges
-- What was ever purged, the newest first; $1: what came before this one.
SELECT id, purged_at, ended_at, purged_by, reason, what, subject, counts::text AS counts, tasks FROM purges
WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2;

-- name: yesterday
-- When yesterday began (UTC): days from then on are still rolled up.
SELECT (date_trunc('day', now() AT TIME ZONE 'UTC') - interval '1 day') AT TIME ZONE 'UTC';

-- name: purged_months
-- Months whose cold files were deleted for good.
SELECT DISTINCT subject AS month FROM purges WHERE what = 'cold';
