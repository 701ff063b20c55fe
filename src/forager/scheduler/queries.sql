-- Periodic jobs: when each ran and runs next. Owner of the table jobs.

-- name: register_jobs
-- Adds jobs that have no row yet: due at once, or at their time of day. Does not wait for rows that are locked by a running job.
INSERT INTO jobs (name, every_s, next_at)
SELECT n.name, n.every_s, COALESCE(next_time(now(), n.at::time, n.weekday), now())
FROM unnest($1::text[], $2::float8[], $3::text[], $4::int[]) AS n (name, every_s, at, weekday)
ON CONFLICT (name) DO NOTHING;

-- name: lock_due
-- Returns the one of these jobs that has been due for the longest and is not running; its row stays locked while it runs.
SELECT name FROM jobs WHERE name = ANY ($1::text[]) AND next_at <= now()
ORDER BY next_at, name LIMIT 1
FOR NO KEY UPDATE SKIP LOCKED;

-- name: lock_named
-- Returns a job, due or not, unless it is running; its row stays locked while it runs.
SELECT name FROM jobs WHERE name = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- name: record_run
-- After a job, in the transaction that locked its row: result or error, and when it is due again. Missed runs are not repeated.
UPDATE jobs
SET every_s = $2,
    next_at = COALESCE(next_time(clock_timestamp(), $5::text::time, $6::int), clock_timestamp() + make_interval(secs => $2)), started_at = now(), ended_at = clock_timestamp(),
    result = $3, error = $4, times = times + 1
WHERE name = $1
RETURNING EXTRACT(EPOCH FROM ended_at - started_at)::float8 AS took_s;

-- name: set_lock_timeout
-- Bounds how long a job waits for a lock: it would delay the other jobs of its loop.
SELECT set_config('lock_timeout', $1, false);

-- name: seconds_until_due
-- Returns the seconds until the next of these jobs is due.
SELECT GREATEST(0, EXTRACT(EPOCH FROM min(next_at) - clock_timestamp()))::float8 FROM jobs WHERE name = ANY ($1::text[]);

-- name: list_jobs
-- Returns every job with its last run and its next one.
SELECT name, every_s, started_at, ended_at, EXTRACT(EPOCH FROM ended_at - started_at)::float8 AS took_s, result, error, next_at, times
FROM jobs ORDER BY name;

-- name: list_overdue
-- Returns how late each of these jobs is and whether it is running. The process that runs a job holds the lock of its row, which the row shows as
-- its xmax for as long as that transaction lives.
WITH living AS MATERIALIZED (SELECT l.transactionid FROM pg_locks l WHERE l.locktype = 'transactionid' AND l.granted)
SELECT d.name, EXTRACT(EPOCH FROM now() - d.next_at)::float8 AS late_s, d.ended_at IS NOT NULL AS was_done, d.error IS NOT NULL AS has_failed,
       EXISTS (SELECT FROM living v WHERE v.transactionid = d.xmax) AS is_running
FROM jobs d WHERE d.name = ANY ($1::text[])
ORDER BY d.next_at, d.name;

-- name: trigger_job
-- Makes a job due now, also one that was never registered; not one that is running.
WITH free AS (
    SELECT name FROM jobs WHERE name = $1 FOR NO KEY UPDATE SKIP LOCKED
), moved AS (
    UPDATE jobs SET next_at = now() FROM free WHERE jobs.name = free.name RETURNING jobs.name
), added AS (
    INSERT INTO jobs (name, every_s) SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM jobs WHERE name = $1)
    ON CONFLICT (name) DO NOTHING RETURNING name
)
SELECT name FROM moved UNION ALL SELECT name FROM added;
