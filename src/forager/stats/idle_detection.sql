-- Whether the crawl makes progress: live workers, due domains, recent visits. Reads only.

-- name: read_workforce
-- Number of live workers, how many of them are paused for a fault of our own, and the seconds since the last heartbeat
-- of any worker (NULL: there never was one).
SELECT count(*) FILTER (WHERE w.status = 'running' AND w.heartbeat_at >= now() - make_interval(secs => $1))::int AS alive,
       count(*) FILTER (WHERE w.status = 'running' AND w.heartbeat_at >= now() - make_interval(secs => $1) AND w.pause_reason IS NOT NULL)::int AS paused,
       EXTRACT(EPOCH FROM now() - max(w.heartbeat_at))::float8 AS silent_s
FROM workers w WHERE w.status = 'running' OR w.heartbeat_at >= now() - interval '1 hour';

-- name: due_anywhere
-- Domains that have been due for the given time, up to a limit: nothing of their own keeps them from being claimed
-- (pause, cooldown, window, budget), or their lease has expired. Of any run, or of running runs only. Also returns for
-- how long the first of them has been due.
SELECT count(*)::int AS domains, EXTRACT(EPOCH FROM now() - min(f.since))::float8 AS due_s
FROM (SELECT COALESCE(d.claim_expires_at, d.due_at) AS since
      FROM domains d LEFT JOIN runs r ON r.id = d.run_id
      WHERE d.status IN ('pending', 'active') AND d.is_active
        AND COALESCE(d.claim_expires_at, d.due_at) <= now() - make_interval(secs => $1)
        AND (NOT $3 OR r.status = 'running') AND (r.max_pages IS NULL OR r.pages_claimed < r.max_pages)
        AND NOT EXISTS (SELECT FROM claim_conditions(d, r.max_pages_per_domain) g WHERE NOT g.is_open AND g.gate NOT IN ('lease', 'frontier'))
      LIMIT $2) f;

-- name: unserved
-- Runs, and labels their domains require, that have due domains and no worker that may claim them. Each pair is one
-- step in the index of claimable domains; a run without workers has no process that marks its domains as due, so those
-- whose time has come count, too.
WITH RECURSIVE living AS MATERIALIZED (
    SELECT w.run_id, w.labels FROM workers w WHERE w.status = 'running' AND w.heartbeat_at >= now() - make_interval(secs => $1)
), wanted (run_id, label) AS (
    SELECT r.id, (SELECT min(d.worker_label) FROM domains d
                  WHERE d.run_id = r.id AND d.claimed_by IS NULL AND d.is_due AND d.status IN ('pending', 'active') AND d.is_active)
    FROM runs r WHERE r.status = 'running'
    UNION ALL
    SELECT w.run_id, (SELECT min(d.worker_label) FROM domains d
                      WHERE d.run_id = w.run_id AND d.worker_label > w.label
                        AND d.claimed_by IS NULL AND d.is_due AND d.status IN ('pending', 'active') AND d.is_active)
    FROM wanted w WHERE w.label IS NOT NULL
), asleep (run_id, label) AS (
    SELECT r.id, '' FROM runs r
    WHERE r.status = 'running' AND NOT EXISTS (SELECT FROM living l WHERE l.run_id = r.id)
      AND EXISTS (SELECT FROM domains d WHERE d.run_id = r.id AND d.claimed_by IS NULL AND NOT d.is_due AND d.status IN ('pending', 'active')
                                          AND d.is_active AND d.due_at <= now())
)
SELECT run_id, label FROM (SELECT * FROM wanted UNION SELECT * FROM asleep) p
WHERE label IS NOT NULL
  AND NOT EXISTS (SELECT FROM living l WHERE l.run_id = p.run_id AND (p.label = '' OR p.label = ANY (l.labels)))
ORDER BY run_id, label;

-- name: due_of
-- The same for one run and one label: domains that have been due for the given time, up to a limit, and for how long
-- the first of them.
SELECT count(*)::int AS domains, EXTRACT(EPOCH FROM now() - min(f.due_at))::float8 AS due_s
FROM (SELECT d.due_at
      FROM domains d JOIN runs r ON r.id = d.run_id
      WHERE d.run_id = $1 AND d.worker_label = $2 AND d.claimed_by IS NULL AND d.status IN ('pending', 'active') AND d.is_active
        AND d.due_at <= now() - make_interval(secs => $3)
        AND (r.max_pages IS NULL OR r.pages_claimed < r.max_pages)
        AND NOT EXISTS (SELECT FROM claim_conditions(d, r.max_pages_per_domain) g WHERE NOT g.is_open AND g.gate NOT IN ('lease', 'frontier'))
      LIMIT $4) f;

-- name: held_without_progress
-- Domains that a worker has held for the given time, with tasks that were due all that time, while neither pace nor
-- breaker nor window delays them: up to a limit, and for how long the first of them.
SELECT count(*)::int AS domains, EXTRACT(EPOCH FROM now() - min(f.since))::float8 AS due_s
FROM (SELECT GREATEST(d.last_crawled_at, d.next_allowed_at) AS since
      FROM domains d
      WHERE d.claimed_by IS NOT NULL AND d.is_active AND d.breaker_state = 'closed'
        AND window_end(now(), d.maintenance_start, d.maintenance_end, d.time_zone) IS NULL
        AND GREATEST(d.last_crawled_at, d.next_allowed_at) <= now() - make_interval(secs => $1)
        AND EXISTS (SELECT FROM crawl_tasks t
                    WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.status <> 'paused'
                      AND t.scheduled_for <= now() - make_interval(secs => $1) AND t.locked_at <= now() - make_interval(secs => $1))
      LIMIT $2) f;

-- name: ended_lately
-- Whether any visit ended in the given number of seconds, rounded to whole minutes.
SELECT EXISTS (
    SELECT FROM series WHERE metric IN ('visits', 'images') AND samples = 0 AND minute >= date_trunc('minute', now() - make_interval(secs => $1))
    UNION ALL
    SELECT FROM series_parts WHERE metric IN ('visits', 'images') AND minute >= date_trunc('minute', now() - make_interval(secs => $1)));
