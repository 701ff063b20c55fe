-- Proves politeness from the history. Every request is recorded with the delay in force when it was sent: visits and
-- their quick retries in crawl_tasks, robots.txt and logins in robots_requests. Read only.

-- name: pace
-- No request came earlier than the delay in force allowed, within the tolerance for clock differences.
WITH requests AS (
    SELECT t.domain_id, t.requested_at AS at, t.pace_ms
    FROM crawl_tasks t
    WHERE t.requested_at IS NOT NULL AND ($1::bigint IS NULL OR t.domain_id = $1) AND ($2::timestamptz IS NULL OR t.requested_at >= $2)
    UNION ALL
    SELECT t.domain_id, quick.at, t.pace_ms
    FROM crawl_tasks t CROSS JOIN LATERAL unnest(t.earlier_requests) AS quick (at)
    WHERE t.earlier_requests IS NOT NULL AND ($1::bigint IS NULL OR t.domain_id = $1) AND ($2::timestamptz IS NULL OR quick.at >= $2)
    UNION ALL
    SELECT r.domain_id, r.requested_at, r.pace_ms
    FROM robots_requests r
    WHERE ($1::bigint IS NULL OR r.domain_id = $1) AND ($2::timestamptz IS NULL OR r.requested_at >= $2)
), gaps AS (
    SELECT r.pace_ms, lag(r.at) OVER in_time IS NULL AS is_first,
           EXTRACT(EPOCH FROM lead(r.at) OVER in_time - r.at)::float8 * 1000 AS gap_ms
    FROM requests r
    WINDOW in_time AS (PARTITION BY r.domain_id ORDER BY r.at)
)
SELECT g.pace_ms, count(*) AS requests, count(*) FILTER (WHERE g.is_first) AS first_requests, count(g.gap_ms) AS gaps,
       min(g.gap_ms) AS smallest_gap_ms, count(*) FILTER (WHERE g.gap_ms < g.pace_ms - $3::float8) AS too_early
FROM gaps g
GROUP BY g.pace_ms
ORDER BY g.pace_ms;

-- name: too_early
-- Returns the requests that came too early, oldest first, each with the one before it.
WITH requests AS (
    SELECT t.domain_id, t.requested_at AS at, t.pace_ms, t.id AS task_id
    FROM crawl_tasks t
    WHERE t.requested_at IS NOT NULL AND ($1::bigint IS NULL OR t.domain_id = $1) AND ($2::timestamptz IS NULL OR t.requested_at >= $2)
    UNION ALL
    SELECT t.domain_id, quick.at, t.pace_ms, t.id
    FROM crawl_tasks t CROSS JOIN LATERAL unnest(t.earlier_requests) AS quick (at)
    WHERE t.earlier_requests IS NOT NULL AND ($1::bigint IS NULL OR t.domain_id = $1) AND ($2::timestamptz IS NULL OR quick.at >= $2)
    UNION ALL
    SELECT r.domain_id, r.requested_at, r.pace_ms, NULL
    FROM robots_requests r
    WHERE ($1::bigint IS NULL OR r.domain_id = $1) AND ($2::timestamptz IS NULL OR r.requested_at >= $2)
), gaps AS (
    SELECT r.domain_id, r.task_id, lag(r.task_id) OVER in_time AS task_before, r.at AS requested_at,
           lag(r.pace_ms) OVER in_time AS pace_ms,
           EXTRACT(EPOCH FROM r.at - lag(r.at) OVER in_time)::float8 * 1000 AS gap_ms
    FROM requests r
    WINDOW in_time AS (PARTITION BY r.domain_id ORDER BY r.at)
)
SELECT d.name AS domain, g.task_id, g.task_before, g.requested_at, g.gap_ms, g.pace_ms
FROM gaps g
JOIN domains d ON d.id = g.domain_id
WHERE g.gap_ms < g.pace_ms - $3::float8
ORDER BY g.requested_at, g.domain_id
LIMIT $4;

-- name: unpaced_domains
-- Returns the domains that were requested without delay, as an operator allowed, those with most requests first.
SELECT d.name AS domain, sum(u.requests)::bigint AS requests, count(*) OVER () AS domains
FROM (SELECT t.domain_id, 1 + COALESCE(cardinality(t.earlier_requests), 0) AS requests FROM crawl_tasks t
      WHERE t.pace_ms = 0 AND ($2::timestamptz IS NULL OR t.requested_at >= $2)
      UNION ALL
      SELECT r.domain_id, 1 FROM robots_requests r
      WHERE r.pace_ms = 0 AND ($2::timestamptz IS NULL OR r.requested_at >= $2)) u
JOIN domains d ON d.id = u.domain_id
WHERE $1::bigint IS NULL OR d.id = $1
GROUP BY d.id
ORDER BY 2 DESC, 1
LIMIT $3;

-- name: robots_copies
-- Returns every stored robots.txt that may forbid something; one that could not be fetched forbids everything.
SELECT o.domain_id, o.origin, o.robots_txt, o.robots_error, o.robots_fetched_at, o.robots_expires_at, s.effective ->> 'user_agent' AS user_agent
FROM origins o LEFT JOIN domain_settings s ON s.domain_id = o.domain_id
WHERE (o.robots_txt IS NOT NULL OR o.robots_error IS NOT NULL)
  AND ($1::bigint IS NULL OR o.domain_id = $1) AND ($2::timestamptz IS NULL OR o.robots_expires_at > $2)
ORDER BY o.domain_id, o.origin;

-- name: visits_under_copies
-- Returns visits to these origins while their copies were valid; `copy` is the index of the copy in the lists.
-- is_overridden: an operator had robots.txt of the domain overridden then; a worker hears of the end within a minute.
SELECT c.copy - 1 AS copy, t.id AS task_id, p.url, t.requested_at,
       EXISTS (SELECT FROM robots_overrides o WHERE o.domain_id = c.domain_id AND t.requested_at >= o.started_at
               AND t.requested_at < COALESCE(o.ended_at, 'infinity') + interval '1 minute') AS is_overridden
FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::timestamptz[])
     WITH ORDINALITY AS c (domain_id, origin, fetched_at, expires_at, copy)
JOIN pages p ON p.domain_id = c.domain_id AND starts_with(p.url, c.origin || '/')
JOIN crawl_tasks t ON t.page_id = p.id
WHERE t.requested_at >= c.fetched_at AND t.requested_at < c.expires_at AND ($5::timestamptz IS NULL OR t.requested_at >= $5);

-- name: robots_overrides
-- Returns the orders to override robots.txt, newest first.
SELECT d.name AS domain, o.started_at, o.ended_at, o.ordered_by, o.reason
FROM robots_overrides o JOIN domains d ON d.id = o.domain_id
WHERE ($1::bigint IS NULL OR o.domain_id = $1) AND ($2::timestamptz IS NULL OR COALESCE(o.ended_at, 'infinity') >= $2)
ORDER BY o.id DESC LIMIT $3;
