-- name: claims_of_workers
-- Lists how many domains each worker holds, when its first lease expires, and whether the worker is alive.
SELECT d.claimed_by AS worker, w.run_id, w.host, w.pid, count(*) AS domains, min(d.claim_expires_at) AS earliest_expiry,
       count(*) FILTER (WHERE d.claim_expires_at < now()) AS expired, w.heartbeat_at,
       COALESCE(w.status <> 'running' OR w.heartbeat_at < now() - make_interval(secs => $1), true) AS is_lost
FROM domains d
LEFT JOIN workers w ON w.id = d.claimed_by
WHERE d.claimed_by IS NOT NULL
GROUP BY d.claimed_by, w.id
ORDER BY count(*) DESC, d.claimed_by;

-- name: waiting_domains
-- Counts unleased domains that wait to be crawled, by status, and how many of them could be claimed now.
SELECT d.status::text AS status, count(*) AS domains,
       count(*) FILTER (WHERE d.is_active AND d.due_at <= now()) AS due
FROM domains d
WHERE d.status IN ('pending', 'active') AND (d.claimed_by IS NULL OR d.claim_expires_at < now())
GROUP BY d.status
ORDER BY d.status;

-- name: count_workers
-- Counts workers that are alive.
SELECT count(*) FROM workers w WHERE w.status = 'running' AND w.heartbeat_at > now() - make_interval(secs => $1);

-- name: workers_by_id
-- Lists worker processes, newest first, with the number of domains each holds.
SELECT w.id, w.run_id, w.status::text AS status, w.host, w.pid, w.started_at, w.heartbeat_at, w.ended_at, w.labels, w.drain_asked_at,
       w.pause_reason, w.pause_detail, w.paused_since,
       w.status = 'running' AND w.heartbeat_at < now() - make_interval(secs => $2) AS is_silent,
       (SELECT count(*) FROM domains d WHERE d.claimed_by = w.id AND d.claim_expires_at > now()) AS domains
FROM workers w
WHERE w.id < COALESCE($1::bigint, 9223372036854775807)
  AND ($3::text IS NULL OR w.status = $3::text::worker_status)
ORDER BY w.id DESC
LIMIT $4::bigint;

-- name: current_tasks
-- Returns what these workers work on: for each the number of tasks that it holds, and up to $2 of them, those held longest
-- first. The index of tasks by status holds few others.
SELECT h.worker, h.tasks, h.task_id, p.url, d.name AS domain, h.locked_at
FROM (SELECT t.locked_by AS worker, t.id AS task_id, t.page_id, t.domain_id, t.locked_at, count(*) OVER (PARTITION BY t.locked_by) AS tasks,
             row_number() OVER (PARTITION BY t.locked_by ORDER BY t.locked_at, t.id) AS place
      FROM crawl_tasks t
      WHERE t.status IN ('crawling', 'paused') AND t.locked_by = ANY ($1::bigint[])) h
JOIN pages p ON p.id = h.page_id
JOIN domains d ON d.id = h.domain_id
WHERE h.place <= $2::int
ORDER BY h.worker, h.place;

-- name: parts
-- Returns what a health check reports about workers and queues, in one query.
SELECT (SELECT count(*) FROM workers w WHERE w.status = 'running' AND w.heartbeat_at >= now() - make_interval(secs => $1)) AS workers,
       (SELECT count(*) FROM workers w WHERE w.status = 'running' AND w.heartbeat_at < now() - make_interval(secs => $1)) AS silent_workers,
       (SELECT count(*) FROM workers w WHERE w.status = 'running' AND w.pause_reason IS NOT NULL) AS paused_workers,
       (SELECT w.pause_reason FROM workers w WHERE w.status = 'running' AND w.pause_reason IS NOT NULL ORDER BY w.paused_since, w.id LIMIT 1) AS pause_reason,
       (SELECT w.pause_detail FROM workers w WHERE w.status = 'running' AND w.pause_reason IS NOT NULL ORDER BY w.paused_since, w.id LIMIT 1) AS pause_detail,
       (SELECT EXTRACT(EPOCH FROM now() - min(q.seen_at))::float8 FROM queue_depths q) AS queue_age_s,
       (SELECT COALESCE(sum(q.messages), 0)::bigint FROM queue_depths q WHERE q.queue <> 'dead_letters') AS queue_messages,
       (SELECT COALESCE(sum(q.messages), 0)::bigint FROM queue_depths q WHERE q.queue = 'dead_letters') AS dead_letters,
       (SELECT count(*) FROM runs r WHERE r.status = 'running') AS runs;
