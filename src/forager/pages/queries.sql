-- name: find_page
-- Returns one page by its key, with its recurrence and its open task.
SELECT p.id, p.url, d.name AS domain, p.status::text AS status, p.depth, p.priority, p.is_seed, p.title, p.language, p.content_type,
       p.links_count, p.discovered_at, p.fetched_at, p.failed_at, p.revisit_every_s, d.revisit_every_s AS domain_revisit_every_s,
       d.is_adaptive, d.stores_links, p.comparisons, p.changes, p.changed_at, t.scheduled_for, t.locked_by,
       p.author, p.published_at, p.modified_at, e.headline, e.site_name, e.section, e.tags, e.rating, e.rating_count, e.published_on, e.modified_on
FROM pages p
JOIN domains d ON d.id = p.domain_id
LEFT JOIN page_details e ON e.page_id = p.id
LEFT JOIN crawl_tasks t ON t.domain_id = p.domain_id AND t.page_id = p.id AND t.outcome IS NULL
WHERE d.name = $1 AND p.url_hash = $2;

-- name: latest_visits
-- Returns the latest closed task of each of these pages; those that were never visited are left out.
SELECT v.id, t.status_code, t.outcome::text AS outcome, t.completed_at, t.error_code, t.error_message, t.response_time_ms
FROM unnest($1::bigint[]) AS v (id)
CROSS JOIN LATERAL (
    SELECT c.status_code, c.outcome, c.completed_at, c.error_code, c.error_message, c.response_time_ms
    FROM crawl_tasks c
    WHERE c.page_id = v.id AND c.outcome IS NOT NULL
    ORDER BY c.id DESC
    LIMIT 1
) t;

-- name: pages_by_id
-- Returns pages in the order they were found. $6: only those whose latest visit had this outcome.
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
  AND ($5::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $5))
  AND ($6::text IS NULL OR $6::text::task_outcome = (SELECT c.outcome FROM crawl_tasks c
                                                     WHERE c.page_id = p.id AND c.outcome IS NOT NULL ORDER BY c.id DESC LIMIT 1))
ORDER BY p.id
LIMIT $7::bigint;

-- name: pages_by_read
-- Returns pages that were read, latest first.
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
-- Returns pages of one domain in key order, which has no meaning and never changes.
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
-- Returns one page with all that is stored of it, and its open task.
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
