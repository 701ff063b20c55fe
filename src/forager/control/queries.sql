-- What an operator may look at. Read only: nothing here changes a row.
-- Optional filters are NULL when not given; PostgreSQL drops them while planning, so the rest can use its index.

-- name: list_domains
-- The domains, those with most pages first.
SELECT d.name, d.status::text AS status, d.block_reason_code, d.block_reason, d.is_active,
       d.pages_discovered, d.pages_crawled, d.frontier_size, d.total_error_count, d.consecutive_error_count,
       d.claimed_by IS NOT NULL AND d.claim_expires_at > now() AS is_leased,
       d.first_seen_at, d.last_crawled_at, d.ready_at, d.next_crawl_after, d.next_allowed_at,
       d.crawl_delay_s, d.content_policy, d.priority_score, d.run_id
FROM domains d
WHERE ($1::text IS NULL OR d.status = $1::text::domain_status)
ORDER BY d.pages_crawled DESC, d.pages_discovered DESC, d.name
LIMIT $2::bigint;

-- name: find_domain
-- One domain by its name, with everything that is known about it.
SELECT d.id, d.name, d.parent_domain, d.base_url, d.source, d.status::text AS status, d.block_reason_code, d.block_reason,
       d.first_blocked_at, d.is_active, d.pages_discovered, d.pages_crawled, d.frontier_size, d.total_error_count,
       d.consecutive_error_count, d.claimed_by, d.claim_expires_at,
       d.claimed_by IS NOT NULL AND d.claim_expires_at > now() AS is_leased,
       d.first_seen_at, d.last_crawled_at, d.ready_at, d.next_crawl_after, d.next_allowed_at,
       d.crawl_delay_s, d.max_concurrent_requests, d.content_policy, d.priority_score, d.run_id
FROM domains d
WHERE d.name = $1;

-- name: names_near
-- Domain names that a mistyped one could have meant: same beginning, or one contains the other.
SELECT d.name
FROM domains d
WHERE starts_with(d.name, left($1::text, 3)) OR strpos(d.name, $1::text) > 0 OR strpos($1::text, d.name) > 0
LIMIT 2000;

-- name: origins_of_domain
-- The robots.txt of each origin of a domain, as it was last seen.
SELECT o.origin, o.robots_status_code, o.robots_error, length(o.robots_txt) AS robots_length, o.robots_fetched_at,
       o.robots_expires_at
FROM origins o
WHERE o.domain_id = $1
ORDER BY o.origin;

-- name: page_states_of_domain
-- How many pages of a domain are in which state.
SELECT p.status::text AS status, count(*) AS pages
FROM pages p
WHERE p.domain_id = $1
GROUP BY p.status
ORDER BY p.status;

-- name: outcomes_of_domain
-- How the visits to a domain ended, most frequent first.
SELECT t.outcome::text AS outcome, coalesce(t.status_code::text, t.error_code, '') AS reason, count(*) AS tasks
FROM pages p
JOIN crawl_tasks t ON t.page_id = p.id
WHERE p.domain_id = $1 AND t.outcome IS NOT NULL
GROUP BY 1, 2
ORDER BY 3 DESC, 1, 2;

-- name: list_pages
-- Pages in the order they were found, each with its latest closed task.
SELECT p.url, d.name AS domain, p.status::text AS status, t.status_code, t.outcome::text AS outcome, p.depth, p.priority,
       p.title, p.language, p.links_count, p.content_type, p.discovered_at, p.fetched_at, t.completed_at,
       t.error_code, t.error_message, t.response_time_ms
FROM pages p
JOIN domains d ON d.id = p.domain_id
LEFT JOIN LATERAL (
    SELECT c.status_code, c.outcome, c.completed_at, c.error_code, c.error_message, c.response_time_ms
    FROM crawl_tasks c
    WHERE c.page_id = p.id AND c.outcome IS NOT NULL
    ORDER BY c.id DESC
    LIMIT 1
) t ON true
WHERE ($1::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::text IS NULL OR p.status = $2::text::page_status)
  AND ($3::text IS NULL OR t.outcome = $3::text::task_outcome)
ORDER BY p.id
LIMIT $4::bigint;

-- name: list_tasks
-- Tasks, newest first; open ones are the queue, closed ones the history.
SELECT t.id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at,
       t.scheduled_for, t.locked_by, t.locked_at, t.requested_at, t.completed_at, t.response_time_ms, t.bytes
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = p.domain_id
WHERE ($1::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::bytea IS NULL OR p.url_hash = $2)
  AND ($3::bigint IS NULL OR t.run_id = $3)
  AND ($4::boolean IS NULL OR (t.outcome IS NULL) = $4)
ORDER BY t.id DESC
LIMIT $5::bigint;

-- name: list_runs
-- Runs, newest first, with what they did.
SELECT r.id, r.status::text AS status, r.spec, r.max_pages, r.max_pages_per_domain, r.max_depth, r.started_at, r.ended_at,
       r.links_seen, r.pages_learned, r.created_by, o.pages_done, o.pages_ok, o.bytes
FROM runs r
CROSS JOIN LATERAL (
    SELECT coalesce(sum(c.pages), 0)::bigint AS pages_done,
           coalesce(sum(c.pages) FILTER (WHERE c.outcome = 'success'), 0)::bigint AS pages_ok,
           coalesce(sum(c.bytes), 0)::bigint AS bytes
    FROM run_outcomes c
    WHERE c.run_id = r.id
) o
ORDER BY r.id DESC
LIMIT $1::bigint;

-- name: find_run
-- Whether a run exists.
SELECT r.id FROM runs r WHERE r.id = $1;

-- name: export_pages
-- Pages with their signals and latest closed task, as found: of some domains or all below a registrable one, of some runs, visited ones.
SELECT p.url, d.name AS domain, p.status::text AS status, t.status_code, t.outcome::text AS outcome, p.depth, p.priority,
       p.is_seed, p.title, p.description, p.language, encode(p.content_hash, 'hex') AS content_hash, p.content_type,
       p.links_count, p.discovered_at, p.fetched_at, t.error_code, t.error_message, t.response_time_ms, t.bytes,
       t.run_id
FROM pages p
JOIN domains d ON d.id = p.domain_id
LEFT JOIN LATERAL (
    SELECT c.status_code, c.outcome, c.error_code, c.error_message, c.response_time_ms, c.bytes, c.run_id
    FROM crawl_tasks c
    WHERE c.page_id = p.id AND c.outcome IS NOT NULL
    ORDER BY c.id DESC
    LIMIT 1
) t ON true
WHERE ($1::text[] IS NULL OR p.domain_id = ANY (ARRAY(
        SELECT n.id FROM domains n WHERE n.name = ANY ($1) OR n.parent_domain = ANY ($2::text[]))))
  AND ($3::text IS NULL OR p.status = $3::text::page_status)
  AND ($4::bigint[] IS NULL OR p.id IN (SELECT c.page_id FROM crawl_tasks c WHERE c.run_id = ANY ($4) AND c.outcome IS NOT NULL))
  AND ($5::boolean IS FALSE OR t.outcome IS NOT NULL)
ORDER BY p.id;

-- name: export_links
-- Every known link: from which page to which, in the order of the pages.
SELECT f.url AS from_url, t.url AS to_url, l.anchor, l.rel, l.position, d.name AS domain
FROM pages f
JOIN page_links l ON l.from_page_id = f.id
JOIN pages t ON t.id = l.to_page_id
JOIN domains d ON d.id = f.domain_id
WHERE ($1::text IS NULL OR f.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1));

-- name: export_tasks
-- Every task, oldest first: the whole history and the queue.
SELECT t.id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at,
       t.scheduled_for, t.requested_at, t.completed_at, t.response_time_ms, t.bytes
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = p.domain_id
WHERE ($1::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::text IS NULL OR t.status = $2::text::task_status)
  AND ($3::bigint IS NULL OR t.run_id = $3)
ORDER BY t.id;

-- name: runs_with_seeds
-- The runs that were given exactly these seeds: one crawl that was interrupted and resumed.
SELECT r.id
FROM runs r
WHERE r.spec -> 'seeds' = $1::jsonb;
