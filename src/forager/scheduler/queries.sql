-- The timetable. Owner of duties.

-- name: post_duties
-- Duties met for the first time are due at once, or when the time of day comes that they have. A row that is locked by who does the duty
-- is not waited for.
INSERT INTO duties (name, every_s, next_at)
SELECT n.name, n.every_s, COALESCE(next_time(now(), n.at::time, n.weekday), now())
FROM unnest($1::text[], $2::float8[], $3::text[], $4::int[]) AS n (name, every_s, at, weekday)
ON CONFLICT (name) DO NOTHING;

-- name: take_due
-- Of these duties, the one that has been due for the longest and that nobody does; its row stays locked while it is done.
SELECT name FROM duties WHERE name = ANY ($1::text[]) AND next_at <= now()
ORDER BY next_at, name LIMIT 1
FOR NO KEY UPDATE SKIP LOCKED;

-- name: take_named
-- A duty, due or not, unless somebody does it; its row stays locked while it is done.
SELECT name FROM duties WHERE name = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- name: end_duty
-- After a duty, in the transaction that took it: how it went, and when it is due again. What was missed is not made up for.
UPDATE duties
SET every_s = $2,
    next_at = COALESCE(next_time(clock_timestamp(), $5::text::time, $6::int), clock_timestamp() + make_interval(secs => $2)), started_at = now(), ended_at = clock_timestamp(),
    result = $3, error = $4, times = times + 1
WHERE name = $1
RETURNING EXTRACT(EPOCH FROM ended_at - started_at)::float8 AS took_s;

-- name: limit_waits
-- A duty does not wait for a lock for ever: it would keep the others waiting.
SELECT set_config('lock_timeout', $1, false);

-- name: next_due
-- In how many seconds the next of these duties is due.
SELECT GREATEST(0, EXTRACT(EPOCH FROM min(next_at) - clock_timestamp()))::float8 FROM duties WHERE name = ANY ($1::text[]);

-- name: read_duties
-- The timetable, for people.
SELECT name, every_s, started_at, ended_at, EXTRACT(EPOCH FROM ended_at - started_at)::float8 AS took_s, result, error, next_at, times
FROM duties ORDER BY name;

-- name: duties_now
-- Of these duties: how late each is, and whether somebody is doing it. Who does one holds its row's lock, which the row shows as its xmax for as
-- long as that transaction lives.
WITH living AS MATERIALIZED (SELECT l.transactionid FROM pg_locks l WHERE l.locktype = 'transactionid' AND l.granted)
SELECT d.name, EXTRACT(EPOCH FROM now() - d.next_at)::float8 AS late_s, d.ended_at IS NOT NULL AS was_done, d.error IS NOT NULL AS has_failed,
       EXISTS (SELECT FROM living v WHERE v.transactionid = d.xmax) AS is_under_way
FROM duties d WHERE d.name = ANY ($1::text[])
ORDER BY d.next_at, d.name;
