-- What an operator may look at. Read only: nothing here changes a row.
-- Optional filters are NULL when not given; PostgreSQL drops them while planning, so the rest can use its index.

-- name: list_domains
-- The domains, those with most pages first.
SELECT d.name, d.status::text AS status, d.block_reason_code, d.block_reason, d.is_active,
       d.pages_discovered, d.pages_crawled, d.frontier_size, d.total_error_count, d.consecutive_error_count,
       d.images_found, d.images_stored, d.image_yield_rate, d.avg_images_per_page, d.error_rate,
       (SELECT count(*) FROM pages p WHERE p.domain_id = d.id AND p.status = 'discovered' AND p.priority = 9 AND p.is_image) AS images_waiting,
       d.claimed_by IS NOT NULL AND d.claim_expires_at > now() AS is_leased,
       d.first_seen_at, d.last_crawled_at, d.ready_at, d.next_crawl_after, d.next_allowed_at,
       d.crawl_delay_s, d.content_policy, d.priority_score, d.revisit_every_s, d.is_adaptive, d.run_id
FROM domains d
WHERE ($1::text IS NULL OR d.status = $1::text::domain_status)
ORDER BY d.pages_crawled DESC, d.pages_discovered DESC, d.name
LIMIT $2::bigint;

-- name: top_domains
-- The domains with most of something: images per page (stored ones first, then those that were only seen), score, pages, errors, or changes found by revisits in the last 30 days.
-- Counters change with every visit, so no index has these orders: one walk over all domains keeps the first so many of those that match.
WITH ranked AS (
    SELECT d.id, CASE $1::text
            WHEN 'yield' THEN d.image_yield_rate
            WHEN 'score' THEN d.priority_score
            WHEN 'pages' THEN d.pages_crawled
            WHEN 'errors' THEN d.total_error_count
            WHEN 'change' THEN (SELECT sum(g.changed)::float8 / NULLIF(sum(g.ok), 0) FROM domain_days g
                                WHERE g.domain_id = d.id AND g.day > current_date - 30) END AS rank,
           CASE $1 WHEN 'yield' THEN d.avg_images_per_page END AS next_rank
    FROM domains d
    WHERE ($3::text IS NULL OR d.status = $3::text::domain_status)
      AND ($4::boolean IS NULL OR d.is_active = $4)
      AND ($5::text IS NULL OR d.parent_domain = $5)
      AND ($6::bigint IS NULL OR d.run_id = $6)
      AND ($7::text IS NULL OR strpos(d.name, $7) > 0)
      AND ($8::text IS NULL OR d.breaker_state = $8)
    ORDER BY 2 DESC NULLS LAST, 3 DESC NULLS LAST, d.pages_crawled DESC, d.name
    LIMIT $2::bigint
)
SELECT d.name, d.status::text AS status, d.is_active, d.breaker_state, d.pages_crawled, d.pages_discovered, d.frontier_size,
       d.images_found, d.images_stored, d.image_yield_rate, d.avg_images_per_page, d.priority_score,
       d.total_error_count, d.error_rate, g.changed, g.visits, g.changed::float8 / NULLIF(g.ok, 0) AS change_rate
FROM ranked r
JOIN domains d ON d.id = r.id
CROSS JOIN LATERAL (SELECT COALESCE(sum(s.changed), 0) AS changed, COALESCE(sum(s.visits), 0) AS visits, COALESCE(sum(s.ok), 0) AS ok
                    FROM domain_days s WHERE s.domain_id = d.id AND s.day > current_date - 30) g
ORDER BY r.rank DESC NULLS LAST, r.next_rank DESC NULLS LAST, d.pages_crawled DESC, d.name;

-- name: claims_of_workers
-- Who holds how many domains, when the first of these leases ends, and whether the holder is alive.
SELECT d.claimed_by AS worker, w.run_id, w.host, w.pid, count(*) AS domains, min(d.claim_expires_at) AS earliest_expiry,
       count(*) FILTER (WHERE d.claim_expires_at < now()) AS expired, w.heartbeat_at,
       COALESCE(w.status <> 'running' OR w.heartbeat_at < now() - make_interval(secs => $1), true) AS is_lost
FROM domains d
LEFT JOIN workers w ON w.id = d.claimed_by
WHERE d.claimed_by IS NOT NULL
GROUP BY d.claimed_by, w.id
ORDER BY count(*) DESC, d.claimed_by;

-- name: waiting_domains
-- Domains nobody holds that wait to be crawled, by state: how many, and how many of them could be claimed now.
SELECT d.status::text AS status, count(*) AS domains,
       count(*) FILTER (WHERE d.is_active AND d.due_at <= now()) AS due
FROM domains d
WHERE d.status IN ('pending', 'active') AND (d.claimed_by IS NULL OR d.claim_expires_at < now())
GROUP BY d.status
ORDER BY d.status;

-- name: count_workers
-- Workers that are alive.
SELECT count(*) FROM workers w WHERE w.status = 'running' AND w.heartbeat_at > now() - make_interval(secs => $1);

-- name: find_domain
-- One domain by its name, with everything that is known about it.
SELECT d.id, d.name, d.parent_domain, d.base_url, d.source, d.seed_rank, d.status::text AS status, d.block_reason_code, d.block_reason,
       d.first_blocked_at, d.blocked_returns, d.is_active, d.pages_discovered, d.pages_crawled, d.frontier_size, d.depth_reached,
       d.total_error_count, d.consecutive_error_count, d.error_streak_code, d.error_rate, d.images_found, d.images_stored,
       d.image_yield_rate, d.avg_images_per_page, d.claimed_by, d.claim_expires_at, d.version,
       d.claimed_by IS NOT NULL AND d.claim_expires_at > now() AS is_leased,
       d.first_seen_at, d.last_crawled_at, d.ready_at, d.due_at, d.next_crawl_after, d.next_allowed_at,
       d.maintenance_start, d.maintenance_end, window_end(now(), d.maintenance_start, d.maintenance_end) AS window_ends_at,
       d.revisit_every_s, d.is_adaptive, d.revisits_per_day, d.revisit_price, d.refresh_every_s,
       d.crawl_delay_s, d.max_concurrent_requests, d.content_policy, d.images_policy, d.images_only, d.stores_links, d.rendering, d.history_retention_s,
       d.image_retention_s,
       d.max_pages_per_run, d.max_pages_per_template, d.worker_label, d.allow_networks, d.lastmod_claims, d.lastmod_truths, d.run_id, d.run_pages, d.round,
       d.parser_name, d.proxy_country, d.paces_per_proxy, d.verifies_tls, d.pace_delay_s, d.pace_extra_s, d.response_s, d.breaker_state, d.breaker_failures, d.breaker_opened_at,
       d.priority_score, d.priority_computed_at,
       s.seed_rank AS score_seed_rank, s.image_yield AS score_image_yield, s.pages_left AS score_pages_left,
       s.errors AS score_errors, s.staleness AS score_staleness
FROM domains d
CROSS JOIN LATERAL score_terms(d, now()) s
WHERE d.name = $1;

-- name: history_of_domain
-- The moves of a domain and what else was done to it, newest first.
SELECT h.moved_at, h.from_status::text AS from_status, h.to_status::text AS to_status, h.is_active, h.reason_code, h.reason, h.moved_by
FROM domain_history h
WHERE h.domain_id = $1
ORDER BY h.id DESC
LIMIT $2::bigint;

-- name: revisits_of_domain
-- How many of its pages are to be visited again, and when the first of them is due.
SELECT count(*) AS pages, min(t.scheduled_for) AS next_at
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
WHERE t.domain_id = $1 AND t.outcome IS NULL AND p.status = 'fetched';

-- name: names_near
-- Domain names that a mistyped one could have meant: same beginning, or one contains the other.
SELECT d.name
FROM domains d
WHERE starts_with(d.name, left($1::text, 3)) OR strpos(d.name, $1::text) > 0 OR strpos($1::text, d.name) > 0
LIMIT 2000;

-- name: origins_of_domain
-- The robots.txt of each origin of a domain, as it was last seen.
SELECT o.origin, o.robots_status_code, o.robots_error, length(o.robots_txt) AS robots_length, o.robots_fetched_at,
       o.robots_expires_at, o.sitemaps
FROM origins o
WHERE o.domain_id = $1
ORDER BY o.origin;

-- name: page_states_of_domain
-- How many pages of a domain are in which state, and what visiting them again found.
SELECT p.status::text AS status, count(*) AS pages, sum(p.comparisons) AS comparisons, sum(p.changes) AS changes
FROM pages p
WHERE p.domain_id = $1 AND NOT p.is_image
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
  AND ($3::text IS NULL OR t.outcome = $3::text::task_outcome) AND NOT p.is_image
ORDER BY p.id
LIMIT $4::bigint;

-- name: find_page
-- One page by its key, with its recurrence and its open task.
SELECT p.id, p.url, d.name AS domain, p.status::text AS status, p.depth, p.priority, p.is_seed, p.title, p.language, p.content_type,
       p.links_count, p.discovered_at, p.fetched_at, p.failed_at, p.revisit_every_s, d.revisit_every_s AS domain_revisit_every_s,
       d.is_adaptive, d.stores_links, p.comparisons, p.changes, p.changed_at, t.scheduled_for, t.locked_by,
       p.author, p.published_at, p.modified_at, e.headline, e.site_name, e.section, e.tags, e.rating, e.rating_count, e.published_on, e.modified_on
FROM pages p
JOIN domains d ON d.id = p.domain_id
LEFT JOIN page_details e ON e.page_id = p.id
LEFT JOIN crawl_tasks t ON t.domain_id = p.domain_id AND t.page_id = p.id AND t.outcome IS NULL
WHERE d.name = $1 AND p.url_hash = $2;

-- name: list_tasks
-- Tasks, newest first; open ones are the queue, closed ones the history.
SELECT t.id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at,
       t.scheduled_for, t.locked_by, t.locked_at, t.requested_at, t.completed_at, t.response_time_ms, t.bytes,
       t.proxy_id, t.batch_id, CASE WHEN p.is_image THEN 'image' ELSE 'page' END AS kind
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = p.domain_id
WHERE ($1::text IS NULL OR t.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::bytea IS NULL OR p.url_hash = $2)
  AND ($3::bigint IS NULL OR t.run_id = $3)
  AND ($4::boolean IS NULL OR (t.outcome IS NULL) = $4)
  AND ($5::text IS NULL OR t.status = $5::text::task_status)
  AND ($5 IS NULL OR $5 IN ('pending', 'completed') OR t.status NOT IN ('pending', 'completed'))
  AND ($6::bigint IS NULL OR t.batch_id = $6)
  AND ($7::boolean IS NULL OR t.is_image = $7)
  AND ($8::text IS NULL OR t.error_code = $8)
ORDER BY t.id DESC
LIMIT $9::bigint;

-- name: list_runs
-- Runs, newest first, with what they did.
SELECT r.id, r.status::text AS status, r.spec, r.max_pages, r.max_pages_per_domain, r.max_depth, r.started_at, r.ended_at,
       r.links_seen, r.pages_learned, r.created_by, o.pages_done, o.pages_ok, o.bytes, r.keeper, r.kept_by,
       GREATEST(r.started_at, r.kept_at, (SELECT max(w.heartbeat_at) FROM workers w WHERE w.run_id = r.id AND r.status = 'running')) AS heard_at
FROM runs r
CROSS JOIN LATERAL (
    SELECT coalesce(sum(c.pages) FILTER (WHERE NOT starts_with(c.reason, 'image ')), 0)::bigint AS pages_done,
           coalesce(sum(c.pages) FILTER (WHERE c.outcome = 'success' AND NOT starts_with(c.reason, 'image ')), 0)::bigint AS pages_ok,
           coalesce(sum(c.bytes), 0)::bigint AS bytes
    FROM run_outcomes c
    WHERE c.run_id = r.id
) o
ORDER BY r.id DESC
LIMIT $1::bigint;

-- name: find_run
-- Whether a run exists.
SELECT r.id FROM runs r WHERE r.id = $1;

-- name: seeds_read
-- Of these pages, by domain and key, those that were read before: a run does not visit them again.
SELECT p.url FROM unnest($1::text[], $2::bytea[]) AS n (domain, key)
JOIN domains d ON d.name = n.domain JOIN pages p ON p.domain_id = d.id AND p.url_hash = n.key
WHERE p.status = 'fetched';

-- name: waiting_of
-- Pages that wait in these domains.
SELECT COALESCE(sum(d.frontier_size), 0)::bigint FROM domains d WHERE d.name = ANY ($1::text[]);
