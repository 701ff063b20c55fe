-- name: frontier_by_domain
-- Returns pages that wait for their first visit, domain by domain in the order they are claimed.
SELECT p.id, p.url, d.name AS domain, p.depth, p.priority, p.is_seed, p.is_image, p.discovered_at, p.domain_id
FROM pages p
JOIN domains d ON d.id = p.domain_id
WHERE p.status = 'discovered'
  AND (p.domain_id, p.priority, p.id) > (COALESCE($1::bigint, 0), COALESCE($2::bigint, 0)::smallint, COALESCE($3::bigint, 0))
ORDER BY p.domain_id, p.priority, p.id
LIMIT $4::bigint;

-- name: frontier_of_domain
-- Returns pages of one domain that wait for their first visit, in the order they are claimed.
SELECT p.id, p.url, d.name AS domain, p.depth, p.priority, p.is_seed, p.is_image, p.discovered_at, p.domain_id
FROM pages p
JOIN domains d ON d.id = p.domain_id
WHERE p.status = 'discovered' AND p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $4)
  AND (p.domain_id, p.priority, p.id) > (COALESCE($1::bigint, 0), COALESCE($2::bigint, 0)::smallint, COALESCE($3::bigint, 0))
ORDER BY p.domain_id, p.priority, p.id
LIMIT $5::bigint;

-- name: frontier_numbers
-- Returns the metrics of the frontier, from the counters of domains.
SELECT COALESCE(sum(d.frontier_size), 0)::bigint AS pages,
       count(*) FILTER (WHERE d.frontier_size > 0) AS domains,
       count(*) FILTER (WHERE d.frontier_size > 0 AND d.status IN ('pending', 'active') AND d.is_active AND d.due_at <= now()) AS domains_due,
       count(*) FILTER (WHERE d.claimed_by IS NOT NULL AND d.claim_expires_at > now()) AS domains_leased,
       COALESCE(sum(d.frontier_size) FILTER (WHERE NOT d.is_active), 0)::bigint AS pages_paused,
       COALESCE(sum(d.frontier_size) FILTER (WHERE d.status IN ('blocked', 'unreachable')), 0)::bigint AS pages_held_back,
       min(d.due_at) FILTER (WHERE d.frontier_size > 0 AND d.status IN ('pending', 'active') AND d.is_active) AS next_due_at
FROM domains d;

-- name: open_tasks_by_status
-- Counts open tasks by status.
SELECT t.status::text AS status, count(*) AS tasks, count(*) FILTER (WHERE t.scheduled_for <= now()) AS due, min(t.scheduled_for) AS oldest
FROM crawl_tasks t
WHERE t.outcome IS NULL
GROUP BY t.status
ORDER BY t.status;
