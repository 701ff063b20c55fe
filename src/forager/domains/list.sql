-- name: find_domain
-- Returns one domain by name, with everything stored about it.
SELECT d.id, d.name, d.parent_domain, d.base_url, d.source, d.seed_rank, d.status::text AS status, d.block_reason_code, d.block_reason,
       d.first_blocked_at, d.blocked_returns, d.is_active, d.pages_discovered, d.pages_crawled, d.frontier_size, d.depth_reached,
       d.total_error_count, d.consecutive_error_count, d.error_streak_code, d.error_rate, d.images_found, d.images_stored,
       d.image_yield_rate, d.avg_images_per_page, d.claimed_by, d.claim_expires_at, d.version,
       d.claimed_by IS NOT NULL AND d.claim_expires_at > now() AS is_leased,
       d.first_seen_at, d.last_crawled_at, d.ready_at, d.due_at, d.next_crawl_after, d.next_allowed_at,
       d.maintenance_start, d.maintenance_end, window_end(now(), d.maintenance_start, d.maintenance_end, d.time_zone) AS window_ends_at,
       d.revisit_every_s, d.is_adaptive, d.revisits_per_day, d.revisit_price, d.refresh_every_s,
       d.crawl_delay_s, d.max_concurrent_requests, d.content_policy, d.images_policy, d.images_only, d.stores_links, d.rendering, d.history_retention_s,
       d.image_retention_s,
       d.max_pages_per_run, d.max_pages_per_template, d.worker_label, d.allow_networks, d.lastmod_claims, d.lastmod_truths, d.run_id, d.run_pages, d.round,
       d.parser_name, d.proxy_country, d.paces_per_proxy, d.verifies_tls, d.pace_delay_s, d.pace_extra_s, d.response_s, d.breaker_state, d.breaker_failures, d.breaker_opened_at,
       d.priority_score, d.priority_computed_at, d.priority_boost, d.urgency, d.urgent_at, d.recent_error_rate,
       COALESCE(d.last_crawled_at, d.first_seen_at) AS idle_since, now() AS asked_at, d.site_origin,
       (SELECT count(*) FROM pages p WHERE p.domain_id = d.id AND p.duplicate_of IS NOT NULL)::int AS duplicate_pages,
       s.seed_rank AS score_seed_rank, s.boost AS score_boost, s.new_pages AS score_new_pages, s.staleness AS score_staleness,
       s.image_yield AS score_image_yield, s.recent_errors AS score_recent_errors
FROM domains d
CROSS JOIN LATERAL score_terms(d, now()) s
WHERE d.name = $1;

-- name: best_scores
-- Returns the domains with the highest scores, with the terms of this moment and what these are made of.
SELECT d.name, d.priority_score, d.seed_rank, d.priority_boost, d.frontier_size, d.image_yield_rate, d.recent_error_rate, d.images_policy,
       COALESCE(d.last_crawled_at, d.first_seen_at) AS idle_since, now() AS asked_at,
       s.seed_rank AS score_seed_rank, s.boost AS score_boost, s.new_pages AS score_new_pages, s.staleness AS score_staleness,
       s.image_yield AS score_image_yield, s.recent_errors AS score_recent_errors
FROM domains d
CROSS JOIN LATERAL score_terms(d, now()) s
WHERE d.status IN ('pending', 'active', 'exhausted')
ORDER BY d.priority_score DESC, d.id LIMIT $1;

-- name: names_near
-- Returns domain names similar to a mistyped one: same beginning, or one contains the other.
SELECT d.name
FROM domains d
WHERE starts_with(d.name, left($1::text, 3)) OR strpos(d.name, $1::text) > 0 OR strpos($1::text, d.name) > 0
LIMIT 2000;

-- name: domain_groups
-- Returns domains added up by registrable domain, state, source or parser, those with most pages first: how many they are, their
-- pages, how many of those were read, errors, images and yield. One scan over all domains.
SELECT CASE $1::text WHEN 'parent' THEN d.parent_domain WHEN 'status' THEN d.status::text WHEN 'source' THEN d.source
                     WHEN 'parser' THEN d.parser_name END AS name,
       count(*) AS domains, sum(d.pages_discovered)::bigint AS pages_discovered,
       sum(LEAST(d.pages_crawled, d.pages_discovered))::bigint AS pages_read, sum(d.frontier_size)::bigint AS frontier_size,
       sum(d.total_error_count)::bigint AS total_error_count, sum(d.images_found)::bigint AS images_found,
       sum(d.images_stored)::bigint AS images_stored,
       sum(LEAST(d.pages_crawled, d.pages_discovered))::float8 / GREATEST(sum(d.pages_discovered), 1)::float8 AS coverage,
       sum(d.images_stored)::float8 / GREATEST(sum(LEAST(d.pages_crawled, d.pages_discovered)), 1)::float8 AS image_yield_rate,
       sum(d.images_found)::float8 / GREATEST(sum(LEAST(d.pages_crawled, d.pages_discovered)), 1)::float8 AS avg_images_per_page,
       max(d.last_crawled_at) AS last_crawled_at
FROM domains d
GROUP BY 1
ORDER BY pages_discovered DESC, domains DESC, name
LIMIT $2::bigint;

-- name: top_domains
-- Returns the top domains by images per page (stored ones first, then those only seen), score, pages, errors, or changes found by
-- revisits in the last 30 days. Counters change with every visit, so no index has these orders: one scan over all domains keeps the
-- first N that match.
WITH ranked AS (
    SELECT d.id, CASE $1::text
            WHEN 'yield' THEN d.image_yield_rate
            WHEN 'score' THEN d.priority_score
            WHEN 'pages' THEN d.pages_crawled
            WHEN 'errors' THEN d.total_error_count
            WHEN 'change' THEN (SELECT sum(g.changed)::float8 / NULLIF(sum(g.ok), 0) FROM domain_days g
                                WHERE g.domain_id = d.id AND g.day > current_date - 30) END AS rank,
           CASE $1 WHEN 'yield' THEN d.avg_images_per_page WHEN 'pages' THEN d.pages_discovered END AS next_rank
    FROM domains d
    WHERE ($3::text IS NULL OR d.status = $3::text::domain_status)
      AND ($4::boolean IS NULL OR d.is_active = $4)
      AND ($5::text IS NULL OR d.parent_domain = $5)
      AND ($6::bigint IS NULL OR d.run_id = $6)
      AND ($7::text IS NULL OR strpos(d.name, $7) > 0)
      AND ($8::text IS NULL OR d.breaker_state = $8)
      AND ($9::text IS NULL OR d.source = $9)
      AND ($10::text IS NULL OR d.parser_name = $10)
      AND ($11::text IS NULL OR d.worker_label = $11)
    ORDER BY 2 DESC NULLS LAST, 3 DESC NULLS LAST, d.pages_crawled DESC, d.name
    LIMIT $2::bigint
)
SELECT d.name, d.status::text AS status, d.block_reason_code, d.block_reason, d.is_active, d.breaker_state, d.pages_crawled, d.pages_discovered,
       d.frontier_size, d.images_found, d.images_stored, d.image_yield_rate, d.avg_images_per_page, d.priority_score, d.total_error_count,
       d.consecutive_error_count, d.error_rate, d.claimed_by IS NOT NULL AND d.claim_expires_at > now() AS is_leased, d.first_seen_at,
       d.last_crawled_at, d.ready_at, d.next_crawl_after, d.next_allowed_at, d.crawl_delay_s, d.content_policy, d.revisit_every_s, d.is_adaptive,
       d.run_id, d.source, d.parser_name, d.worker_label, g.changed, g.visits, g.changed::float8 / NULLIF(g.ok, 0) AS change_rate,
       NOT b.is_open AS is_budget_used, CASE WHEN NOT b.is_open THEN b.opens_at END AS budget_resets_at
FROM ranked r
JOIN domains d ON d.id = r.id
LEFT JOIN LATERAL (SELECT g.is_open, g.opens_at FROM claim_conditions(d, (SELECT r.max_pages_per_domain FROM runs r WHERE r.id = d.run_id)) g
                   WHERE g.gate = 'budget') b ON true
CROSS JOIN LATERAL (SELECT COALESCE(sum(s.changed), 0) AS changed, COALESCE(sum(s.visits), 0) AS visits, COALESCE(sum(s.ok), 0) AS ok
                    FROM domain_days s WHERE s.domain_id = d.id AND s.day > current_date - 30) g
ORDER BY r.rank DESC NULLS LAST, r.next_rank DESC NULLS LAST, d.pages_crawled DESC, d.name;

-- name: images_waiting
-- Counts the images that wait for their first visit in each of these domains; domains without any are left out.
SELECT d.name, count(*) AS images
FROM domains d
JOIN pages p ON p.domain_id = d.id AND p.status = 'discovered' AND p.priority = 9 AND p.is_image
WHERE d.name = ANY ($1::text[])
GROUP BY d.name;

-- name: revisits_of_domain
-- Counts the pages to be visited again, and returns when the first of them is due.
SELECT count(*) AS pages, min(t.scheduled_for) AS next_at
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
WHERE t.domain_id = $1 AND t.outcome IS NULL AND p.status = 'fetched';

-- name: origins_of_domain
-- Returns the robots.txt of each origin of a domain, as last fetched.
SELECT o.origin, o.robots_status_code, o.robots_error, length(o.robots_txt) AS robots_length, o.robots_fetched_at,
       o.robots_expires_at, o.sitemaps
FROM origins o
WHERE o.domain_id = $1
ORDER BY o.origin;

-- name: page_states_of_domain
-- Counts the pages of a domain by status, with the results of their revisits.
SELECT p.status::text AS status, count(*) AS pages, sum(p.comparisons) AS comparisons, sum(p.changes) AS changes
FROM pages p
WHERE p.domain_id = $1 AND NOT p.is_image AND NOT p.is_sitemap
GROUP BY p.status
ORDER BY p.status;

-- name: outcomes_of_domain
-- Counts the visits to a domain by outcome, most frequent first.
SELECT t.outcome::text AS outcome, coalesce(t.status_code::text, t.error_code, '') AS reason, count(*) AS tasks
FROM pages p
JOIN crawl_tasks t ON t.page_id = p.id
WHERE p.domain_id = $1 AND t.outcome IS NOT NULL
GROUP BY 1, 2
ORDER BY 3 DESC, 1, 2;

-- name: domains_by_id
-- Lists domains in the order they were discovered.
SELECT d.id, d.name, d.parent_domain, d.base_url, d.source, d.seed_rank, d.status::text AS status, d.block_reason_code, d.block_reason,
       d.is_active, d.pages_discovered, d.pages_crawled, d.frontier_size, d.total_error_count, d.error_rate, d.images_found, d.images_stored,
       d.image_yield_rate, d.avg_images_per_page,
       d.claimed_by IS NOT NULL AND d.claim_expires_at > now() AS is_leased, d.run_id, d.priority_score, d.first_seen_at, d.last_crawled_at,
       d.next_crawl_after, d.crawl_delay_s, d.content_policy, d.parser_name, d.worker_label, d.breaker_state,
       NOT b.is_open AS is_budget_used, CASE WHEN NOT b.is_open THEN b.opens_at END AS budget_resets_at
FROM domains d
LEFT JOIN LATERAL (SELECT g.is_open, g.opens_at FROM claim_conditions(d, (SELECT r.max_pages_per_domain FROM runs r WHERE r.id = d.run_id)) g
                   WHERE g.gate = 'budget') b ON true
WHERE d.id > COALESCE($1::bigint, 0)
  AND ($2::text IS NULL OR d.status = $2::text::domain_status)
  AND ($2 IS NULL OR $2 NOT IN ('blocked', 'unreachable') OR d.block_reason_code IS NOT NULL)
  AND ($3::boolean IS NULL OR d.is_active = $3)
  AND ($4::text IS NULL OR d.parent_domain = $4)
  AND ($5::bigint IS NULL OR d.run_id = $5)
  AND ($6::text IS NULL OR strpos(d.name, $6) > 0)
  AND ($7::text IS NULL OR d.breaker_state = $7)
  AND ($8::text IS NULL OR d.source = $8) AND ($8 IS NULL OR $8 = 'link' OR d.source <> 'link')
  AND ($9::text IS NULL OR d.parser_name = $9) AND ($9 IS NULL OR $9 = 'auto' OR d.parser_name <> 'auto')
  AND ($10::text IS NULL OR d.worker_label = $10) AND ($10 IS NULL OR $10 = '' OR d.worker_label <> '')
ORDER BY d.id
LIMIT $11::bigint;

-- name: domains_by_name
-- Lists domains by name.
SELECT d.id, d.name, d.parent_domain, d.base_url, d.source, d.seed_rank, d.status::text AS status, d.block_reason_code, d.block_reason,
       d.is_active, d.pages_discovered, d.pages_crawled, d.frontier_size, d.total_error_count, d.error_rate, d.images_found, d.images_stored,
       d.image_yield_rate, d.avg_images_per_page,
       d.claimed_by IS NOT NULL AND d.claim_expires_at > now() AS is_leased, d.run_id, d.priority_score, d.first_seen_at, d.last_crawled_at,
       d.next_crawl_after, d.crawl_delay_s, d.content_policy, d.parser_name, d.worker_label, d.breaker_state,
       NOT b.is_open AS is_budget_used, CASE WHEN NOT b.is_open THEN b.opens_at END AS budget_resets_at
FROM domains d
LEFT JOIN LATERAL (SELECT g.is_open, g.opens_at FROM claim_conditions(d, (SELECT r.max_pages_per_domain FROM runs r WHERE r.id = d.run_id)) g
                   WHERE g.gate = 'budget') b ON true
WHERE d.name > COALESCE($1::text, '')
  AND ($2::text IS NULL OR d.status = $2::text::domain_status)
  AND ($2 IS NULL OR $2 NOT IN ('blocked', 'unreachable') OR d.block_reason_code IS NOT NULL)
  AND ($3::boolean IS NULL OR d.is_active = $3)
  AND ($4::text IS NULL OR d.parent_domain = $4)
  AND ($5::bigint IS NULL OR d.run_id = $5)
  AND ($6::text IS NULL OR strpos(d.name, $6) > 0)
  AND ($7::text IS NULL OR d.breaker_state = $7)
  AND ($8::text IS NULL OR d.source = $8) AND ($8 IS NULL OR $8 = 'link' OR d.source <> 'link')
  AND ($9::text IS NULL OR d.parser_name = $9) AND ($9 IS NULL OR $9 = 'auto' OR d.parser_name <> 'auto')
  AND ($10::text IS NULL OR d.worker_label = $10) AND ($10 IS NULL OR $10 = '' OR d.worker_label <> '')
ORDER BY d.name
LIMIT $11::bigint;

-- name: name_of_domain
-- Returns the name of a domain.
SELECT d.name FROM domains d WHERE d.id = $1;

-- name: moves_of_domain
-- Lists the history of a domain, newest first.
SELECT h.id, h.moved_at, h.from_status::text AS from_status, h.to_status::text AS to_status, h.is_active, h.reason_code, h.reason, h.moved_by
FROM domain_history h
WHERE h.domain_id = (SELECT d.id FROM domains d WHERE d.name = $2)
  AND h.id < COALESCE($1::bigint, 9223372036854775807)
ORDER BY h.id DESC
LIMIT $3::bigint;

-- name: days_of_domain
-- Lists the daily activity in a domain, newest first; $1: only days before this one.
SELECT o.day, o.visits, o.ok, o.changed, o.errors, o.bytes, o.time_ms::float8 / GREATEST(o.visits, 1) / 1000 AS response_s
FROM domain_days o
WHERE o.domain_id = (SELECT d.id FROM domains d WHERE d.name = $2) AND ($1::date IS NULL OR o.day < $1)
ORDER BY o.day DESC
LIMIT $3::bigint;

-- name: robots_of_domain
-- Returns the robots.txt of each origin of a domain, with its text.
SELECT o.origin, o.robots_status_code, o.robots_error, o.robots_txt, o.robots_fetched_at, o.robots_expires_at,
       o.robots_expires_at > now() AS is_fresh, o.sitemaps
FROM origins o
WHERE o.domain_id = (SELECT d.id FROM domains d WHERE d.name = $1)
ORDER BY o.origin;

-- name: find_names
-- Returns the names of domains of a source, below a registrable domain, in a state; NULL: any.
SELECT d.name FROM domains d
WHERE ($1::text IS NULL OR d.source = $1) AND ($2::text IS NULL OR d.parent_domain = $2) AND ($3::text IS NULL OR d.status::text = $3)
ORDER BY d.name;
