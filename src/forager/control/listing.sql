-- Long lists, page by page, each in the order of an index and from the key where the page before ended. Read only.
-- The key is NULL at the beginning; optional filters are NULL when not given. They are planned anew for each request (`plan_cache_mode`), so a filter
-- that is not given costs nothing, and one that is finds its index. Where that index is partial, its condition stands beside the filter as a literal: a
-- parameter that is cast to an enum is no constant to the planner, so it could not tell that the condition holds.

-- name: domains_by_id
-- Domains in the order they were met.
SELECT d.id, d.name, d.parent_domain, d.base_url, d.source, d.seed_rank, d.status::text AS status, d.block_reason_code, d.block_reason,
       d.is_active, d.pages_discovered, d.pages_crawled, d.frontier_size, d.total_error_count, d.error_rate, d.images_found, d.images_stored,
       d.claimed_by IS NOT NULL AND d.claim_expires_at > now() AS is_leased, d.run_id, d.priority_score, d.first_seen_at, d.last_crawled_at,
       d.next_crawl_after, d.crawl_delay_s, d.content_policy, d.parser_name, d.breaker_state
FROM domains d
WHERE d.id > COALESCE($1::bigint, 0)
  AND ($2::text IS NULL OR d.status = $2::text::domain_status)
  AND ($3::boolean IS NULL OR d.is_active = $3)
  AND ($4::text IS NULL OR d.parent_domain = $4)
  AND ($5::bigint IS NULL OR d.run_id = $5)
  AND ($6::text IS NULL OR strpos(d.name, $6) > 0)
  AND ($7::text IS NULL OR d.breaker_state = $7)
ORDER BY d.id
LIMIT $8::bigint;

-- name: domains_by_name
-- Domains in the order of their names.
SELECT d.id, d.name, d.parent_domain, d.base_url, d.source, d.seed_rank, d.status::text AS status, d.block_reason_code, d.block_reason,
       d.is_active, d.pages_discovered, d.pages_crawled, d.frontier_size, d.total_error_count, d.error_rate, d.images_found, d.images_stored,
       d.claimed_by IS NOT NULL AND d.claim_expires_at > now() AS is_leased, d.run_id, d.priority_score, d.first_seen_at, d.last_crawled_at,
       d.next_crawl_after, d.crawl_delay_s, d.content_policy, d.parser_name, d.breaker_state
FROM domains d
WHERE d.name > COALESCE($1::text, '')
  AND ($2::text IS NULL OR d.status = $2::text::domain_status)
  AND ($3::boolean IS NULL OR d.is_active = $3)
  AND ($4::text IS NULL OR d.parent_domain = $4)
  AND ($5::bigint IS NULL OR d.run_id = $5)
  AND ($6::text IS NULL OR strpos(d.name, $6) > 0)
  AND ($7::text IS NULL OR d.breaker_state = $7)
ORDER BY d.name
LIMIT $8::bigint;

-- name: name_of_domain
-- What a domain is called.
SELECT d.name FROM domains d WHERE d.id = $1;

-- name: moves_of_domain
-- What happened to a domain, newest first.
SELECT h.id, h.moved_at, h.from_status::text AS from_status, h.to_status::text AS to_status, h.is_active, h.reason_code, h.reason, h.moved_by
FROM domain_history h
WHERE h.domain_id = (SELECT d.id FROM domains d WHERE d.name = $2)
  AND h.id < COALESCE($1::bigint, 9223372036854775807)
ORDER BY h.id DESC
LIMIT $3::bigint;

-- name: days_of_domain
-- What was done in a domain day by day, newest first; $1: only days before this one.
SELECT o.day, o.visits, o.ok, o.changed, o.errors, o.bytes, o.time_ms::float8 / GREATEST(o.visits, 1) / 1000 AS response_s
FROM domain_days o
WHERE o.domain_id = (SELECT d.id FROM domains d WHERE d.name = $2) AND ($1::date IS NULL OR o.day < $1)
ORDER BY o.day DESC
LIMIT $3::bigint;

-- name: robots_of_domain
-- The robots.txt of each origin of a domain, with its text.
SELECT o.origin, o.robots_status_code, o.robots_error, o.robots_txt, o.robots_fetched_at, o.robots_expires_at,
       o.robots_expires_at > now() AS is_fresh, o.sitemaps
FROM origins o
WHERE o.domain_id = (SELECT d.id FROM domains d WHERE d.name = $1)
ORDER BY o.origin;

-- name: pages_by_id
-- Pages in the order they were found.
SELECT p.id, p.url, d.name AS domain, p.status::text AS status, p.depth, p.priority, p.is_seed, p.title, p.description, p.language,
       p.content_type, p.links_count, p.revisit_every_s, p.flags, p.discovered_at, p.fetched_at, p.failed_at, p.changed_at
FROM pages p
JOIN domains d ON d.id = p.domain_id
WHERE p.id > COALESCE($1::bigint, 0) AND NOT p.is_image
  AND ($2::text IS NULL OR p.status = $2::text::page_status)
  AND ($2 IS NULL OR $2 IN ('fetched', 'discovered') OR p.status NOT IN ('fetched', 'discovered'))
  AND ($2 IS DISTINCT FROM 'fetched' OR p.fetched_at IS NOT NULL)
  AND ($2 IS DISTINCT FROM 'discovered' OR p.status = 'discovered')
  AND ($3::text IS NULL OR p.language = $3)
  AND ($4::boolean IS NULL OR p.is_seed = $4)
ORDER BY p.id
LIMIT $5::bigint;

-- name: pages_by_read
-- Pages that were read, the last one first.
SELECT p.id, p.url, d.name AS domain, p.status::text AS status, p.depth, p.priority, p.is_seed, p.title, p.description, p.language,
       p.content_type, p.links_count, p.revisit_every_s, p.flags, p.discovered_at, p.fetched_at, p.failed_at, p.changed_at
FROM pages p
JOIN domains d ON d.id = p.domain_id
WHERE p.fetched_at IS NOT NULL AND (p.fetched_at, p.id) < (COALESCE($1::timestamptz, 'infinity'), COALESCE($2::bigint, 0)) AND NOT p.is_image
  AND ($3::text IS NULL OR p.status = $3::text::page_status)
  AND ($3 IS NULL OR $3 IN ('fetched', 'discovered') OR p.status NOT IN ('fetched', 'discovered'))
  AND ($4::text IS NULL OR p.language = $4)
  AND ($5::boolean IS NULL OR p.is_seed = $5)
  AND ($6::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $6))
ORDER BY p.fetched_at DESC, p.id DESC
LIMIT $7::bigint;

-- name: pages_of_domain
-- Pages of one domain in the order of their keys, which says nothing and never changes.
SELECT p.id, p.url, d.name AS domain, p.status::text AS status, p.depth, p.priority, p.is_seed, p.title, p.description, p.language,
       p.content_type, p.links_count, p.revisit_every_s, p.flags, p.discovered_at, p.fetched_at, p.failed_at, p.changed_at, p.url_hash
FROM pages p
JOIN domains d ON d.id = p.domain_id
WHERE p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2) AND p.url_hash > COALESCE($1::bytea, '') AND NOT p.is_image
  AND ($3::text IS NULL OR p.status = $3::text::page_status)
  AND ($3 IS NULL OR $3 IN ('fetched', 'discovered') OR p.status NOT IN ('fetched', 'discovered'))
  AND ($4::text IS NULL OR p.language = $4)
  AND ($5::boolean IS NULL OR p.is_seed = $5)
ORDER BY p.domain_id, p.url_hash
LIMIT $6::bigint;

-- name: find_page_by_id
-- One page with all that is kept of it, and its open task.
SELECT p.id, p.url, encode(p.url_hash, 'hex') AS url_hash, d.name AS domain, p.status::text AS status, p.depth, p.priority, p.redirects,
       p.is_seed, p.is_image, p.title, p.description, p.language, p.content_type, encode(p.content_hash, 'hex') AS content_hash,
       lpad(to_hex(p.simhash), 16, '0') AS simhash, p.links_count, p.canonical_url, p.author, p.published_at, p.modified_at, p.etag, p.last_modified, p.flags, p.discovered_at,
       p.fetched_at, p.failed_at, p.revisit_every_s, p.comparisons, p.changes, p.changed_at, p.crashes, p.trap_id,
       t.id AS open_task_id, t.status::text AS open_task_status, t.scheduled_for AS next_visit_at,
       (SELECT min(x.id) FROM products x WHERE x.domain_id = p.domain_id AND x.page_id = p.id) AS product_id,
       e.headline, e.site_name, e.section, e.tags, e.rating, e.rating_count, e.published_on, e.modified_on,
       e.structured_data IS NOT NULL AS has_structured_data
FROM pages p
JOIN domains d ON d.id = p.domain_id
LEFT JOIN page_details e ON e.page_id = p.id
LEFT JOIN crawl_tasks t ON t.domain_id = p.domain_id AND t.page_id = p.id AND t.outcome IS NULL
WHERE p.id = $1;

-- name: frontier_by_domain
-- Pages that wait for their first visit, domain by domain in the order they are claimed.
SELECT p.id, p.url, d.name AS domain, p.depth, p.priority, p.is_seed, p.is_image, p.discovered_at, p.domain_id
FROM pages p
JOIN domains d ON d.id = p.domain_id
WHERE p.status = 'discovered'
  AND (p.domain_id, p.priority, p.id) > (COALESCE($1::bigint, 0), COALESCE($2::bigint, 0)::smallint, COALESCE($3::bigint, 0))
ORDER BY p.domain_id, p.priority, p.id
LIMIT $4::bigint;

-- name: frontier_of_domain
-- Pages of one domain that wait for their first visit, in the order they are claimed.
SELECT p.id, p.url, d.name AS domain, p.depth, p.priority, p.is_seed, p.is_image, p.discovered_at, p.domain_id
FROM pages p
JOIN domains d ON d.id = p.domain_id
WHERE p.status = 'discovered' AND p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $4)
  AND (p.domain_id, p.priority, p.id) > (COALESCE($1::bigint, 0), COALESCE($2::bigint, 0)::smallint, COALESCE($3::bigint, 0))
ORDER BY p.domain_id, p.priority, p.id
LIMIT $5::bigint;

-- name: frontier_numbers
-- The frontier in numbers, from the counters of domains.
SELECT COALESCE(sum(d.frontier_size), 0)::bigint AS pages,
       count(*) FILTER (WHERE d.frontier_size > 0) AS domains,
       count(*) FILTER (WHERE d.frontier_size > 0 AND d.status IN ('pending', 'active') AND d.is_active AND d.due_at <= now()) AS domains_due,
       count(*) FILTER (WHERE d.claimed_by IS NOT NULL AND d.claim_expires_at > now()) AS domains_leased,
       COALESCE(sum(d.frontier_size) FILTER (WHERE NOT d.is_active), 0)::bigint AS pages_paused,
       COALESCE(sum(d.frontier_size) FILTER (WHERE d.status IN ('blocked', 'unreachable')), 0)::bigint AS pages_held_back,
       min(d.due_at) FILTER (WHERE d.frontier_size > 0 AND d.status IN ('pending', 'active') AND d.is_active) AS next_due_at
FROM domains d;

-- name: open_tasks_by_status
-- Open tasks by their state.
SELECT t.status::text AS status, count(*) AS tasks, count(*) FILTER (WHERE t.scheduled_for <= now()) AS due, min(t.scheduled_for) AS oldest
FROM crawl_tasks t
WHERE t.outcome IS NULL
GROUP BY t.status
ORDER BY t.status;

-- name: tasks_by_id
-- Tasks, newest first: open ones are the queue, closed ones the history.
SELECT t.id, t.page_id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.blame, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at, t.scheduled_for,
       t.locked_by, t.locked_at, t.requested_at, t.completed_at, t.response_time_ms, t.bytes, t.is_changed, t.proxy_id,
       t.body_ref IS NOT NULL AS has_body
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = t.domain_id
WHERE t.id < COALESCE($1::bigint, 9223372036854775807) AND $2::text IS NULL
  AND ($3::text IS NULL OR t.status = $3::text::task_status)
  AND ($3 IS NULL OR $3 IN ('pending', 'completed') OR t.status NOT IN ('pending', 'completed'))
  AND ($3 IS DISTINCT FROM 'pending' OR t.outcome IS NULL)
  AND ($4::text IS NULL OR t.outcome = $4::text::task_outcome)
  AND ($4 IS NULL OR $4 = 'success' OR t.outcome <> 'success')
  AND ($5::text IS NULL OR t.error_code = $5)
  AND ($6::bigint IS NULL OR t.run_id = $6)
  AND ($7::boolean IS NULL OR (t.outcome IS NULL) = $7)
  AND ($8::boolean IS NULL OR t.is_image = $8)
ORDER BY t.id DESC
LIMIT $9::bigint;

-- name: tasks_of_domain
-- Tasks of one domain, newest first: the history by its index, the queue by that of open tasks.
SELECT t.id, t.page_id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.blame, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at, t.scheduled_for,
       t.locked_by, t.locked_at, t.requested_at, t.completed_at, t.response_time_ms, t.bytes, t.is_changed, t.proxy_id,
       t.body_ref IS NOT NULL AS has_body
FROM (
    (SELECT c.* FROM crawl_tasks c
     WHERE c.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2) AND c.outcome IS NOT NULL AND c.id < COALESCE($1::bigint, 9223372036854775807)
       AND ($3::text IS NULL OR c.status = $3::text::task_status)
       AND ($3 IS NULL OR $3 IN ('pending', 'completed') OR c.status NOT IN ('pending', 'completed'))
       AND ($3 IS DISTINCT FROM 'pending' OR c.outcome IS NULL)
       AND ($4::text IS NULL OR c.outcome = $4::text::task_outcome)
       AND ($4 IS NULL OR $4 = 'success' OR c.outcome <> 'success')
       AND ($5::text IS NULL OR c.error_code = $5)
       AND ($6::bigint IS NULL OR c.run_id = $6)
       AND ($7::boolean IS NULL OR (c.outcome IS NULL) = $7)
       AND ($8::boolean IS NULL OR c.is_image = $8)
     ORDER BY c.id DESC LIMIT $9::bigint)
    UNION ALL
    (SELECT c.* FROM crawl_tasks c
     WHERE c.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2) AND c.outcome IS NULL AND c.id < COALESCE($1::bigint, 9223372036854775807)
       AND ($3::text IS NULL OR c.status = $3::text::task_status)
       AND ($3 IS NULL OR $3 IN ('pending', 'completed') OR c.status NOT IN ('pending', 'completed'))
       AND ($3 IS DISTINCT FROM 'pending' OR c.outcome IS NULL)
       AND ($4::text IS NULL OR c.outcome = $4::text::task_outcome)
       AND ($4 IS NULL OR $4 = 'success' OR c.outcome <> 'success')
       AND ($5::text IS NULL OR c.error_code = $5)
       AND ($6::bigint IS NULL OR c.run_id = $6)
       AND ($7::boolean IS NULL OR (c.outcome IS NULL) = $7)
       AND ($8::boolean IS NULL OR c.is_image = $8)
     ORDER BY c.id DESC LIMIT $9::bigint)
) t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = t.domain_id
ORDER BY t.id DESC
LIMIT $9::bigint;

-- name: tasks_of_batch
-- Tasks of one batch with all their tries, newest first.
SELECT t.id, t.page_id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.blame, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at, t.scheduled_for,
       t.locked_by, t.locked_at, t.requested_at, t.completed_at, t.response_time_ms, t.bytes, t.is_changed, t.proxy_id,
       t.body_ref IS NOT NULL AS has_body
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = t.domain_id
WHERE t.batch_id = $9 AND t.id < COALESCE($1::bigint, 9223372036854775807)
  AND ($2::text IS NULL OR t.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2))
  AND ($3::text IS NULL OR t.status = $3::text::task_status)
  AND ($3 IS NULL OR $3 IN ('pending', 'completed') OR t.status NOT IN ('pending', 'completed'))
  AND ($3 IS DISTINCT FROM 'pending' OR t.outcome IS NULL)
  AND ($4::text IS NULL OR t.outcome = $4::text::task_outcome)
  AND ($4 IS NULL OR $4 = 'success' OR t.outcome <> 'success')
  AND ($5::text IS NULL OR t.error_code = $5)
  AND ($6::bigint IS NULL OR t.run_id = $6)
  AND ($7::boolean IS NULL OR (t.outcome IS NULL) = $7)
  AND ($8::boolean IS NULL OR t.is_image = $8)
ORDER BY t.id DESC
LIMIT $10::bigint;

-- name: tasks_of_page
-- All visits of one page, newest first.
SELECT t.id, t.page_id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.blame, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at, t.scheduled_for,
       t.locked_by, t.locked_at, t.requested_at, t.completed_at, t.response_time_ms, t.bytes, t.is_changed, t.proxy_id,
       t.body_ref IS NOT NULL AS has_body
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = t.domain_id
WHERE t.page_id = $2 AND t.id < COALESCE($1::bigint, 9223372036854775807)
ORDER BY t.id DESC
LIMIT $3::bigint;

-- name: find_task
-- One task.
SELECT t.id, t.page_id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.blame, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at, t.scheduled_for,
       t.locked_by, t.locked_at, t.requested_at, t.completed_at, t.response_time_ms, t.bytes, t.is_changed, t.proxy_id,
       t.body_ref IS NOT NULL AS has_body
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = t.domain_id
WHERE t.id = $1;

-- name: products_by_created
-- Products, those found last first.
SELECT p.id, d.name AS domain, p.url, p.product_name, p.price, p.currency, p.availability, p.rating, p.review_count, p.brand,
       p.category, p.sku, p.gtin, p.confidence, p.problems, p.is_valid, p.parser_name, p.parser_version, p.created_at, p.updated_at,
       p.last_seen_at, p.missing_since, p.is_price_current AND g.status <> 'gone' AS is_price_current, p.price_seen_at, p.page_id,
       (SELECT s.image_id FROM page_images s JOIN images i ON i.id = s.image_id AND i.thumbnail_ref IS NOT NULL
        WHERE s.domain_id = p.domain_id AND s.page_id = p.page_id ORDER BY s.image_id LIMIT 1) AS image_id
FROM products p
JOIN domains d ON d.id = p.domain_id
JOIN pages g ON g.id = p.page_id
WHERE (p.created_at, p.id) < (COALESCE($1::timestamptz, 'infinity'), COALESCE($2::bigint, 0))
  AND ($3::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $3))
  AND ($4::text IS NULL OR p.availability = $4)
  AND ($5::text IS NULL OR p.brand = $5)
  AND ($6::text IS NULL OR p.category = $6)
  AND ($7::text IS NULL OR p.currency = $7)
  AND ($8::float8 IS NULL OR p.price >= $8::float8::numeric)
  AND ($9::float8 IS NULL OR p.price <= $9::float8::numeric)
  AND ($10::boolean IS NULL OR p.is_valid = $10)
ORDER BY p.created_at DESC, p.id DESC
LIMIT $11::bigint;

-- name: changes_by_id
-- What changed in shops, newest first: prices and availability, without first sights and without our own corrections.
SELECT x.id, x.seen_at, d.name AS domain, p.id AS product_id, p.product_name, p.url, x.old_price, x.price, x.old_currency, x.currency,
       x.old_availability, x.availability, x.task_id
FROM product_prices x
JOIN products p ON p.id = x.product_id
JOIN domains d ON d.id = x.domain_id
WHERE x.id < COALESCE($1::bigint, 9223372036854775807) AND NOT x.is_first AND NOT x.is_correction
  AND ($2::text IS NULL OR x.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2))
  AND CASE $3::text WHEN 'price' THEN x.price IS DISTINCT FROM x.old_price OR x.currency IS DISTINCT FROM x.old_currency
                    WHEN 'availability' THEN x.availability IS DISTINCT FROM x.old_availability ELSE true END
  AND ($4::timestamptz IS NULL OR x.seen_at >= $4)
ORDER BY x.id DESC
LIMIT $5::bigint;

-- name: images_by_id
-- Images in the order they were found.
SELECT i.id, i.url, d.name AS domain, i.status::text AS status, i.reason, i.format, i.width, i.height, i.file_size,
       encode(i.content_hash, 'hex') AS content_hash, i.thumbnail_ref IS NOT NULL AS has_thumbnail, i.first_seen_at, i.checked_at, i.stored_at
FROM images i
LEFT JOIN domains d ON d.id = i.domain_id
WHERE i.id > COALESCE($1::bigint, 0)
  AND ($2::text IS NULL OR i.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2))
  AND ($3::text IS NULL OR i.status = $3::text::image_status)
  AND ($4::text IS NULL OR i.format = $4)
ORDER BY i.id
LIMIT $5::bigint;

-- name: images_of_page
-- Images one page shows, in the order they were found.
SELECT i.id, i.url, d.name AS domain, i.status::text AS status, i.reason, i.format, i.width, i.height, i.file_size,
       encode(i.content_hash, 'hex') AS content_hash, i.thumbnail_ref IS NOT NULL AS has_thumbnail, i.first_seen_at, i.checked_at, i.stored_at
FROM pages g
JOIN page_images s ON s.domain_id = g.domain_id AND s.page_id = g.id
JOIN images i ON i.id = s.image_id
LEFT JOIN domains d ON d.id = i.domain_id
WHERE g.id = $2 AND s.image_id > COALESCE($1::bigint, 0)
  AND ($3::text IS NULL OR i.domain_id = (SELECT n.id FROM domains n WHERE n.name = $3))
  AND ($4::text IS NULL OR i.status = $4::text::image_status)
  AND ($5::text IS NULL OR i.format = $5)
ORDER BY s.image_id
LIMIT $6::bigint;

-- name: runs_by_id
-- Runs, newest first, with what they did.
SELECT r.id, r.status::text AS status, r.spec, r.max_pages, r.max_pages_per_domain, r.max_depth, r.started_at, r.ended_at,
       r.links_seen, r.pages_learned, r.created_by, o.pages_done, o.pages_ok, o.bytes
FROM runs r
CROSS JOIN LATERAL (
    SELECT coalesce(sum(c.pages) FILTER (WHERE NOT starts_with(c.reason, 'image ')), 0)::bigint AS pages_done,
           coalesce(sum(c.pages) FILTER (WHERE c.outcome = 'success' AND NOT starts_with(c.reason, 'image ')), 0)::bigint AS pages_ok,
           coalesce(sum(c.bytes), 0)::bigint AS bytes
    FROM run_outcomes c
    WHERE c.run_id = r.id
) o
WHERE r.id < COALESCE($1::bigint, 9223372036854775807)
  AND ($2::text IS NULL OR r.status = $2::text::run_status)
ORDER BY r.id DESC
LIMIT $3::bigint;

-- name: workers_by_id
-- Worker processes, newest first, with how many domains each holds.
SELECT w.id, w.run_id, w.status::text AS status, w.host, w.pid, w.started_at, w.heartbeat_at, w.ended_at, w.labels, w.drain_asked_at,
       w.pause_reason, w.pause_detail, w.paused_since,
       w.status = 'running' AND w.heartbeat_at < now() - make_interval(secs => $2) AS is_silent,
       (SELECT count(*) FROM domains d WHERE d.claimed_by = w.id AND d.claim_expires_at > now()) AS domains
FROM workers w
WHERE w.id < COALESCE($1::bigint, 9223372036854775807)
  AND ($3::text IS NULL OR w.status = $3::text::worker_status)
ORDER BY w.id DESC
LIMIT $4::bigint;

-- name: parts
-- In one question what a health check wants of workers and queues.
SELECT (SELECT count(*) FROM workers w WHERE w.status = 'running' AND w.heartbeat_at >= now() - make_interval(secs => $1)) AS workers,
       (SELECT count(*) FROM workers w WHERE w.status = 'running' AND w.heartbeat_at < now() - make_interval(secs => $1)) AS silent_workers,
       (SELECT count(*) FROM workers w WHERE w.status = 'running' AND w.pause_reason IS NOT NULL) AS paused_workers,
       (SELECT w.pause_reason FROM workers w WHERE w.status = 'running' AND w.pause_reason IS NOT NULL ORDER BY w.paused_since, w.id LIMIT 1) AS pause_reason,
       (SELECT w.pause_detail FROM workers w WHERE w.status = 'running' AND w.pause_reason IS NOT NULL ORDER BY w.paused_since, w.id LIMIT 1) AS pause_detail,
       (SELECT EXTRACT(EPOCH FROM now() - min(q.seen_at))::float8 FROM queue_depths q) AS queue_age_s,
       (SELECT COALESCE(sum(q.messages), 0)::bigint FROM queue_depths q WHERE q.queue <> 'dead_letters') AS queue_messages,
       (SELECT COALESCE(sum(q.messages), 0)::bigint FROM queue_depths q WHERE q.queue = 'dead_letters') AS dead_letters,
       (SELECT count(*) FROM runs r WHERE r.status = 'running') AS runs;

-- name: duties_now
-- Of these duties: how late each is, and whether somebody is doing it. Who does one holds its row's lock, which the row shows as its xmax for as
-- long as that transaction lives.
WITH living AS MATERIALIZED (SELECT l.transactionid FROM pg_locks l WHERE l.locktype = 'transactionid' AND l.granted)
SELECT d.name, EXTRACT(EPOCH FROM now() - d.next_at)::float8 AS late_s, d.ended_at IS NOT NULL AS was_done, d.error IS NOT NULL AS has_failed,
       EXISTS (SELECT FROM living v WHERE v.transactionid = d.xmax) AS is_under_way
FROM duties d WHERE d.name = ANY ($1::text[])
ORDER BY d.next_at, d.name;
