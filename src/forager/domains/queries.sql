-- Domains as entities: identity, lease keeping, counters, robots.txt. Owner of domains, origins, domain_moves.

-- name: add_domains
-- Domains met for the first time, in name order so that workers do not deadlock.
INSERT INTO domains (name, parent_domain, base_url, source, run_id)
SELECT n.name, n.parent_domain, n.base_url, $4, $5
FROM unnest($1::text[], $2::text[], $3::text[]) AS n (name, parent_domain, base_url)
ORDER BY n.name
ON CONFLICT (name) DO NOTHING;

-- name: find_domains
-- Ids of domains by name.
SELECT id, name FROM domains WHERE name = ANY ($1::text[]);

-- name: count_discovered
-- New pages of these domains: count them, and make the domain claimable. In id order, after all pages are inserted.
WITH more AS MATERIALIZED (
    SELECT d.id, n.pages FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) JOIN domains d ON d.id = n.domain_id
    ORDER BY d.id FOR NO KEY UPDATE OF d
)
UPDATE domains d
SET pages_discovered = d.pages_discovered + more.pages, frontier_size = d.frontier_size + more.pages,
    ready_at = LEAST(COALESCE(d.ready_at, now()), now()),
    status = CASE d.status WHEN 'exhausted' THEN 'active' ELSE d.status END,
    run_pages = CASE WHEN d.claimed_by IS NULL AND d.run_id IS DISTINCT FROM $3 THEN 0 ELSE d.run_pages END,
    run_id = CASE WHEN d.claimed_by IS NULL THEN $3 ELSE d.run_id END,
    updated_at = now()
FROM more WHERE d.id = more.id;

-- name: wake
-- Something of these domains came into reach.
UPDATE domains SET ready_at = LEAST(COALESCE(ready_at, now()), now()), updated_at = now() WHERE id = ANY ($1::bigint[]);

-- name: count_reopened
-- Pages of these domains that got a new task.
UPDATE domains d SET frontier_size = d.frontier_size + n.pages, status = CASE d.status WHEN 'exhausted' THEN 'active' ELSE d.status END
FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id;

-- name: wake_unreachable
-- Domains asked for by name although nobody answered last time: a person knows better, so they are tried again now.
UPDATE domains SET status = 'pending', block_reason = NULL, block_reason_code = NULL, next_crawl_after = NULL, updated_at = now()
WHERE name = ANY ($1::text[]) AND status = 'unreachable';

-- name: adopt_domains
-- A run takes the domains it was asked to crawl: named ones, those below named parents, or all with something to do.
UPDATE domains
SET run_id = $1, run_pages = 0, ready_at = CASE WHEN frontier_size > 0 THEN LEAST(COALESCE(ready_at, now()), now()) END, updated_at = now()
WHERE id IN (
    SELECT id FROM domains
    WHERE name = ANY ($2::text[]) OR parent_domain = ANY ($3::text[]) OR ($4 AND frontier_size > 0)
    ORDER BY id FOR NO KEY UPDATE);

-- name: hold_leases
-- Which of these leases are still ours; their rows stay locked until the transaction ends, in id order.
SELECT d.id, d.version
FROM unnest($1::bigint[], $2::bigint[]) AS n (domain_id, version)
JOIN domains d ON d.id = n.domain_id AND d.version = n.version AND d.claimed_by = $3
ORDER BY d.id
FOR NO KEY UPDATE OF d;

-- name: count_visits
-- Closed tasks of leased domains: counters, pace for a successor, lease renewed.
UPDATE domains d
SET pages_crawled = d.pages_crawled + n.ok, total_error_count = d.total_error_count + n.errors,
    consecutive_error_count = CASE WHEN n.ok > 0 THEN 0 ELSE d.consecutive_error_count + n.errors END,
    frontier_size = d.frontier_size - n.closed + n.retries,
    next_allowed_at = now() + make_interval(secs => n.wait_s),
    claim_expires_at = now() + make_interval(secs => $7), last_crawled_at = now(), updated_at = now()
FROM unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::int[], $6::float8[]) AS n (domain_id, closed, ok, errors, retries, wait_s)
WHERE d.id = n.domain_id;

-- name: count_claims
-- What a run took from its domains, where it has a limit per domain.
UPDATE domains d SET run_pages = d.run_pages + n.pages FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id;

-- name: return_claims
-- What a run took from its domains and did not visit.
UPDATE domains d SET run_pages = GREATEST(0, d.run_pages - n.pages)
FROM unnest($1::bigint[], $2::bigint[], $3::int[]) AS n (run_id, domain_id, pages) WHERE d.id = n.domain_id AND d.run_id = n.run_id;

-- name: renew_leases
-- The heartbeat: everything this worker holds stays its own for another lease.
UPDATE domains SET claim_expires_at = now() + make_interval(secs => $2) WHERE claimed_by = $1 AND claim_expires_at > now()
RETURNING id, version;

-- name: release
-- Hand domains back, after hold_leases: exhausted when the frontier is empty, ready again when something is left in reach.
UPDATE domains d
SET claimed_by = NULL, claim_expires_at = NULL, version = d.version + 1, updated_at = now(),
    next_allowed_at = now() + make_interval(secs => n.wait_s),
    next_crawl_after = CASE WHEN n.rest_s > 0 THEN now() + make_interval(secs => n.rest_s) ELSE d.next_crawl_after END,
    status = CASE WHEN n.reason_code IS NOT NULL THEN n.status::domain_status
                  WHEN d.frontier_size = 0 THEN 'exhausted' ELSE d.status END,
    block_reason = n.reason, block_reason_code = n.reason_code,
    first_blocked_at = CASE WHEN n.reason_code IS NOT NULL THEN COALESCE(d.first_blocked_at, now()) ELSE d.first_blocked_at END,
    ready_at = LEAST(
        (SELECT now() WHERE EXISTS (
            SELECT FROM pages p WHERE p.domain_id = d.id AND p.status = 'discovered'
              AND p.depth <= $6 AND ($7::text[] IS NULL OR p.url LIKE ANY ($7)) AND ($8::text[] IS NULL OR p.url LIKE ANY ($8))
              AND ($9::text[] IS NULL OR p.url NOT LIKE ALL ($9)))),
        (SELECT min(t.scheduled_for) FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
         WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending'
           AND p.depth <= $6 AND ($7::text[] IS NULL OR p.url LIKE ANY ($7)) AND ($8::text[] IS NULL OR p.url LIKE ANY ($8))
           AND ($9::text[] IS NULL OR p.url NOT LIKE ALL ($9))))
FROM unnest($1::bigint[], $2::float8[], $3::float8[], $4::text[], $5::text[], $10::text[])
     AS n (domain_id, wait_s, rest_s, reason_code, reason, status)
WHERE d.id = n.domain_id;

-- name: free_lost_leases
-- Domains whose lease ran out or whose worker is dead or silent become claimable again; the new version refuses its late results.
-- Their last requests are on no record: the pace counts from now. So do strays: leases of a worker that knows of none.
WITH lost AS MATERIALIZED (
    SELECT d.id FROM domains d LEFT JOIN workers w ON w.id = d.claimed_by
    WHERE d.claimed_by IS NOT NULL
      AND (d.claim_expires_at < now() OR w.id IS NULL OR w.status <> 'running' OR w.heartbeat_at < now() - make_interval(secs => $1)
           OR d.claimed_by = $3)
    ORDER BY d.id
    FOR NO KEY UPDATE OF d SKIP LOCKED
)
UPDATE domains d
SET claimed_by = NULL, claim_expires_at = NULL, version = d.version + 1, ready_at = LEAST(COALESCE(d.ready_at, now()), now()), updated_at = now(),
    next_allowed_at = GREATEST(d.next_allowed_at, now() + make_interval(secs => COALESCE(d.crawl_delay_s, $2)))
FROM lost WHERE d.id = lost.id
RETURNING d.id, d.name;

-- name: find_robots
-- robots.txt of leased domains that may still be trusted.
SELECT domain_id, origin, robots_txt, robots_status_code, EXTRACT(EPOCH FROM robots_expires_at - now())::float8 AS ttl_s
FROM origins WHERE domain_id = ANY ($1::bigint[]) AND robots_expires_at > now() AND robots_error IS NULL;

-- name: store_robots
-- What an origin's robots.txt said, or why it could not be had.
INSERT INTO origins (domain_id, origin, robots_txt, robots_status_code, robots_error, robots_fetched_at, robots_expires_at)
SELECT n.domain_id, n.origin, n.robots_txt, n.status_code, n.error, now(), now() + make_interval(secs => n.ttl_s)
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::float8[])
     AS n (domain_id, origin, robots_txt, status_code, error, ttl_s)
ORDER BY n.domain_id, n.origin
ON CONFLICT (domain_id, origin) DO UPDATE
SET robots_txt = EXCLUDED.robots_txt, robots_status_code = EXCLUDED.robots_status_code, robots_error = EXCLUDED.robots_error,
    robots_fetched_at = EXCLUDED.robots_fetched_at, robots_expires_at = EXCLUDED.robots_expires_at;

-- name: next_ready
-- When a run's next unleased domain may be claimed, and whether any of its domains is leased now.
SELECT EXISTS (SELECT FROM domains WHERE claimed_by IS NOT NULL AND run_id = $1) AS is_held,
       (SELECT EXTRACT(EPOCH FROM min(GREATEST(ready_at, next_crawl_after)) - now())::float8 FROM domains
        WHERE claimed_by IS NULL AND status IN ('pending', 'active') AND is_active AND ready_at IS NOT NULL
          AND run_id = $1 AND ($2::int IS NULL OR run_pages < $2)) AS wait_s;
