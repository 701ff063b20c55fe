-- Time series by the minute. Owner of series_parts, series, series_days, series_totals.

-- name: add_parts
-- Adds a worker's counters to its own rows of this minute, in the transaction that records the work.
INSERT INTO series_parts AS p (minute, worker_id, metric, label, amount)
SELECT date_trunc('minute', now()), $1, n.metric, n.label, n.amount
FROM unnest($2::text[], $3::text[], $4::float8[]) AS n (metric, label, amount)
ON CONFLICT (minute, worker_id, metric, label) DO UPDATE SET amount = p.amount + EXCLUDED.amount;

-- name: fold_parts
-- Moves completed minutes from the rows of workers to the common series and the totals: all or nothing, so that a kill
-- or a second fold changes no sum. A late part is folded the next time. Returns how many rows were folded.
WITH gone AS (
    DELETE FROM series_parts WHERE minute < date_trunc('minute', now()) - make_interval(secs => $1) RETURNING minute, metric, label, amount
), folded AS (
    INSERT INTO series AS s (minute, metric, label, amount)
    SELECT minute, metric, label, sum(amount) FROM gone GROUP BY minute, metric, label ORDER BY metric, minute, label
    ON CONFLICT (metric, minute, label) DO UPDATE SET amount = s.amount + EXCLUDED.amount
), counted AS (
    INSERT INTO series_totals AS t (metric, label, amount)
    SELECT metric, label, sum(amount) FROM gone GROUP BY metric, label ORDER BY metric, label
    ON CONFLICT (metric, label) DO UPDATE SET amount = t.amount + EXCLUDED.amount
)
SELECT count(*)::int FROM gone;

-- name: add_samples
-- Adds the current state as one more sample of this minute.
INSERT INTO series AS s (minute, metric, label, amount, samples, most)
SELECT date_trunc('minute', now()), n.metric, n.label, n.amount, 1, n.amount
FROM unnest($1::text[], $2::text[], $3::float8[]) AS n (metric, label, amount) ORDER BY n.metric, n.label
ON CONFLICT (metric, minute, label) DO UPDATE
SET amount = s.amount + EXCLUDED.amount, samples = s.samples + 1, most = GREATEST(s.most, EXCLUDED.most);

-- name: old_days
-- Days (UTC) that ended the given number of days ago or earlier and still have minutes.
SELECT DISTINCT (minute AT TIME ZONE 'UTC')::date AS day FROM series
WHERE minute < (date_trunc('day', now() AT TIME ZONE 'UTC') - make_interval(days => $1)) AT TIME ZONE 'UTC'
ORDER BY day;

-- name: minutes_of_day
-- All minutes of a day (UTC).
SELECT to_char(minute AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"') AS minute, metric, label, amount, samples, most FROM series
WHERE minute >= $1::date::timestamp AT TIME ZONE 'UTC' AND minute < ($1::date + 1)::timestamp AT TIME ZONE 'UTC'
ORDER BY series.minute, metric, label;

-- name: roll_up_days
-- Rolls minutes of days (UTC) that ended the given number of days ago up into days. The statement that adds them up
-- also deletes them, so that a kill or a second run changes no sum. Returns how many minutes were added up.
WITH gone AS (
    DELETE FROM series WHERE minute < (date_trunc('day', now() AT TIME ZONE 'UTC') - make_interval(days => $1)) AT TIME ZONE 'UTC'
    RETURNING (minute AT TIME ZONE 'UTC')::date AS day, metric, label, amount, samples, most
), added AS (
    INSERT INTO series_days AS d (day, metric, label, amount, samples, most)
    SELECT day, metric, label, sum(amount), sum(samples), max(most) FROM gone GROUP BY day, metric, label ORDER BY metric, day, label
    ON CONFLICT (metric, day, label) DO UPDATE
    SET amount = d.amount + EXCLUDED.amount, samples = d.samples + EXCLUDED.samples, most = GREATEST(d.most, EXCLUDED.most)
)
SELECT count(*)::int FROM gone;

-- name: list_rolled_days
-- Days that were created from minutes.
SELECT DISTINCT day FROM series_days ORDER BY day;

-- name: read_totals
-- Totals since the beginning.
SELECT metric, label, sum(amount)::float8 AS amount
FROM (SELECT metric, label, amount FROM series_totals UNION ALL SELECT metric, label, amount FROM series_parts) t
GROUP BY metric, label ORDER BY metric, label;

-- name: read_recent
-- What was counted in the last given seconds, in whole minutes, and how many seconds that covers.
SELECT metric, label, sum(amount)::float8 AS amount,
       EXTRACT(EPOCH FROM now() - date_trunc('minute', now() - make_interval(secs => $2)))::float8 AS seconds
FROM (SELECT metric, label, amount, minute, samples FROM series
      UNION ALL SELECT metric, label, amount, minute, 0 FROM series_parts) s
WHERE s.metric = ANY ($1::text[]) AND s.samples = 0 AND s.minute >= date_trunc('minute', now() - make_interval(secs => $2))
GROUP BY metric, label ORDER BY metric, label;

-- name: read_series
-- Metrics over time, in steps of the given seconds counted from midnight (UTC): the sum of counters, or the mean and
-- the maximum of samples.
SELECT date_bin(make_interval(secs => $4), s.minute, timestamptz '2000-01-01 00:00:00+00') AS at, s.metric, s.label,
       sum(s.amount)::float8 AS amount, sum(s.samples)::int AS samples, max(s.most)::float8 AS most
FROM (SELECT minute, metric, label, amount, samples, most FROM series WHERE metric = ANY ($1::text[]) AND minute >= $2 AND minute < $3
      UNION ALL
      SELECT minute, metric, label, amount, 0, NULL FROM series_parts WHERE metric = ANY ($1) AND minute >= $2 AND minute < $3
      UNION ALL
      SELECT day::timestamp AT TIME ZONE 'UTC', metric, label, amount, samples, most FROM series_days
      WHERE metric = ANY ($1) AND day >= ($2::timestamptz AT TIME ZONE 'UTC')::date AND day::timestamp AT TIME ZONE 'UTC' < $3) s
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

-- name: read_state
-- The current state as metric, label and number: what the job samples and what a scrape returns.
WITH d AS (
    SELECT count(*) AS domains, COALESCE(sum(frontier_size), 0) AS frontier, status::text AS status, breaker_state, claimed_by IS NOT NULL AS is_held,
           count(*) FILTER (WHERE claimed_by IS NULL AND is_due AND is_active AND status IN ('pending', 'active')) AS waiting,
           min(due_at) FILTER (WHERE claimed_by IS NULL AND is_due AND is_active AND status IN ('pending', 'active')) AS due_at,
           count(*) FILTER (WHERE claim_expires_at < now()) AS expired
    FROM domains GROUP BY status, breaker_state, claimed_by IS NOT NULL
), t AS (
    SELECT status::text AS status, count(*) AS tasks,
           min(scheduled_for) FILTER (WHERE locked_at IS NULL AND scheduled_for <= now() AND status = 'pending') AS due_at
    FROM crawl_tasks WHERE outcome IS NULL GROUP BY status
), w AS (
    SELECT count(*) FILTER (WHERE heartbeat_at >= now() - make_interval(secs => $1)) AS active,
           count(*) FILTER (WHERE heartbeat_at < now() - make_interval(secs => $1)) AS silent
    FROM workers WHERE status = 'running'
), p AS (
    SELECT count(*) FILTER (WHERE is_active) AS working, count(*) FILTER (WHERE NOT is_active AND probe_at IS NOT NULL) AS failed,
           count(*) FILTER (WHERE NOT is_active AND probe_at IS NULL) AS switched_off
    FROM proxies
)
SELECT 'frontier_size' AS metric, '' AS label, COALESCE((SELECT sum(frontier) FROM d), 0)::float8 AS amount
UNION ALL SELECT 'domains', status, sum(domains)::float8 FROM d GROUP BY status
UNION ALL SELECT 'breakers', breaker_state, sum(domains)::float8 FROM d GROUP BY breaker_state
UNION ALL SELECT 'leases_held', '', COALESCE((SELECT sum(domains) FROM d WHERE is_held), 0)::float8
UNION ALL SELECT 'leases_expired', '', COALESCE((SELECT sum(expired) FROM d), 0)::float8
UNION ALL SELECT 'domains_waiting', '', COALESCE((SELECT sum(waiting) FROM d), 0)::float8
UNION ALL SELECT 'domain_wait_s', '', COALESCE((SELECT EXTRACT(EPOCH FROM now() - min(due_at)) FROM d), 0)::float8
UNION ALL SELECT 'tasks_open', status, tasks::float8 FROM t
UNION ALL SELECT 'task_wait_s', '', COALESCE((SELECT EXTRACT(EPOCH FROM now() - min(due_at)) FROM t), 0)::float8
UNION ALL SELECT 'active_workers', '', active::float8 FROM w
UNION ALL SELECT 'silent_workers', '', silent::float8 FROM w
UNION ALL SELECT 'proxies', v.label, v.amount::float8
          FROM p, LATERAL (VALUES ('working', p.working), ('failed', p.failed), ('off', p.switched_off)) v (label, amount)
UNION ALL SELECT 'webhooks_waiting', '', (SELECT count(*) FROM webhook_calls WHERE next_try_at IS NOT NULL)::float8
UNION ALL SELECT 'queue_messages', q.queue, q.messages::float8 FROM queue_depths q WHERE q.seen_at > now() - interval '1 minute'
UNION ALL SELECT 'queue_consumers', q.queue, q.consumers::float8 FROM queue_depths q WHERE q.seen_at > now() - interval '1 minute'
UNION ALL SELECT 'database_bytes', '', pg_database_size(current_database())::float8
UNION ALL SELECT 'connections', '', (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())::float8
UNION ALL SELECT 'alerts_open', s.severity, count(a.id)::float8
          FROM (VALUES ('warning'), ('critical')) s (severity) LEFT JOIN alerts a ON a.severity = s.severity AND a.resolved_at IS NULL
          GROUP BY s.severity
UNION ALL SELECT 'alerts_unacknowledged', a.severity, count(*)::float8
          FROM alerts a WHERE a.resolved_at IS NULL AND a.acknowledged_at IS NULL GROUP BY a.severity
ORDER BY 1, 2;

-- name: list_job_times
-- Seconds since each job last ran without an error, as far as its row shows; and whether the last run failed.
SELECT name, every_s, EXTRACT(EPOCH FROM now() - ended_at)::float8 AS age_s, error IS NOT NULL AS has_failed,
       EXTRACT(EPOCH FROM now() - next_at)::float8 AS late_s
FROM jobs ORDER BY name;

-- name: list_top_domains
-- Of the domains that are being crawled, those with the most pages; limited to a fixed number, however many there are.
SELECT name, pages_crawled, total_error_count, frontier_size, COALESCE(pace_delay_s, 0)::float8 AS pace_delay_s
FROM domains WHERE claimed_by IS NOT NULL ORDER BY pages_crawled DESC, id LIMIT $1;
