-- name: find_page
-- Returns one page by its key, with its recurrence, its open task, and how often it was visited.
SELECT p.id, p.url, d.name AS domain, p.status::text AS status, p.depth, p.priority, p.is_seed, p.title, p.language, p.content_type,
       p.links_count, p.discovered_at, p.fetched_at, p.failed_at, p.revisit_every_s, d.revisit_every_s AS domain_revisit_every_s,
       d.is_adaptive, d.stores_links, p.comparisons, p.changes, p.changed_at, t.scheduled_for, t.locked_by,
       p.author, p.published_at, p.modified_at, e.headline, e.site_name, e.section, e.tags, e.rating, e.rating_count, e.published_on, e.modified_on,
       p.canonical_url, (SELECT o.url FROM pages o WHERE o.id = p.duplicate_of) AS duplicate_of, v.visits, v.requests, v.first_visit_at,
       EXISTS (SELECT FROM archived_rows a WHERE a.domain_id = p.domain_id) AS has_archived_visits
FROM pages p
JOIN domains d ON d.id = p.domain_id
LEFT JOIN page_details e ON e.page_id = p.id
LEFT JOIN crawl_tasks t ON t.domain_id = p.domain_id AND t.page_id = p.id AND t.outcome IS NULL
CROSS JOIN LATERAL (
    SELECT count(*) AS visits, min(h.completed_at) AS first_visit_at,
           COALESCE(sum((h.requested_at IS NOT NULL)::int + COALESCE(cardinality(h.earlier_requests), 0)), 0) AS requests
    FROM crawl_tasks h WHERE h.page_id = p.id AND h.outcome IS NOT NULL) v
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
-- Returns ids of pages in the order they were found. A list is read in two steps: statements like this one find ids and
-- keys by an index, then page_rows reads these rows and applies the filters that no index serves. $6: only ids from this
-- one on, $7: only ids before this one.
SELECT p.id
FROM pages p
WHERE p.id > COALESCE($1::bigint, 0) AND NOT p.is_image AND NOT p.is_sitemap
  AND p.id >= COALESCE($6::bigint, 0) AND p.id < COALESCE($7::bigint, 9223372036854775807)
  AND ($2::text IS NULL OR p.status = $2::text::page_status)
  AND ($2 IS NULL OR $2 IN ('fetched', 'discovered') OR p.status NOT IN ('fetched', 'discovered'))
  AND ($3::text IS NULL OR p.language = $3)
  AND ($4::boolean IS NULL OR p.is_seed = $4)
  AND ($5::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $5))
  AND ($2 IS DISTINCT FROM 'fetched' OR p.fetched_at IS NOT NULL)
  AND ($2 IS DISTINCT FROM 'discovered' OR p.status = 'discovered')
ORDER BY p.id
LIMIT $8::bigint;

-- name: newest_pages
-- Returns ids of pages, those found last first.
SELECT p.id
FROM pages p
WHERE p.id < COALESCE($1::bigint, 9223372036854775807) AND NOT p.is_image AND NOT p.is_sitemap
  AND p.id >= COALESCE($6::bigint, 0) AND p.id < COALESCE($7::bigint, 9223372036854775807)
  AND ($2::text IS NULL OR p.status = $2::text::page_status)
  AND ($2 IS NULL OR $2 IN ('fetched', 'discovered') OR p.status NOT IN ('fetched', 'discovered'))
  AND ($3::text IS NULL OR p.language = $3)
  AND ($4::boolean IS NULL OR p.is_seed = $4)
  AND ($5::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $5))
  AND ($2 IS DISTINCT FROM 'fetched' OR p.fetched_at IS NOT NULL)
  AND ($2 IS DISTINCT FROM 'discovered' OR p.status = 'discovered')
ORDER BY p.id DESC
LIMIT $8::bigint;

-- name: pages_by_read
-- Returns ids of pages that were read, latest first; $7 and $8: since and before these moments.
SELECT p.id, p.fetched_at
FROM pages p
WHERE p.fetched_at IS NOT NULL AND (p.fetched_at, p.id) < (COALESCE($1::timestamptz, 'infinity'), COALESCE($2::bigint, 0)) AND NOT p.is_image AND NOT p.is_sitemap
  AND ($7::timestamptz IS NULL OR p.fetched_at >= $7) AND ($8::timestamptz IS NULL OR p.fetched_at < $8)
  AND ($3::text IS NULL OR p.status = $3::text::page_status)
  AND ($3 IS NULL OR $3 IN ('fetched', 'discovered') OR p.status NOT IN ('fetched', 'discovered'))
  AND ($4::text IS NULL OR p.language = $4)
  AND ($5::boolean IS NULL OR p.is_seed = $5)
  AND ($6::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $6))
ORDER BY p.fetched_at DESC, p.id DESC
LIMIT $9::bigint;

-- name: pages_by_change
-- Returns ids of pages whose content differed from the visit before, the last change first; $7 and $8: since and before
-- these moments.
SELECT p.id, p.changed_at
FROM pages p
WHERE p.changed_at IS NOT NULL AND (p.changed_at, p.id) < (COALESCE($1::timestamptz, 'infinity'), COALESCE($2::bigint, 0)) AND NOT p.is_image AND NOT p.is_sitemap
  AND ($7::timestamptz IS NULL OR p.changed_at >= $7) AND ($8::timestamptz IS NULL OR p.changed_at < $8)
  AND ($3::text IS NULL OR p.status = $3::text::page_status)
  AND ($3 IS NULL OR $3 IN ('fetched', 'discovered') OR p.status NOT IN ('fetched', 'discovered'))
  AND ($4::text IS NULL OR p.language = $4)
  AND ($5::boolean IS NULL OR p.is_seed = $5)
  AND ($6::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $6))
ORDER BY p.changed_at DESC, p.id DESC
LIMIT $9::bigint;

-- name: pages_of_domain
-- Returns ids of pages of one domain in key order, which has no meaning and never changes.
SELECT p.id, p.url_hash
FROM pages p
WHERE p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $5) AND p.url_hash > COALESCE($1::bytea, '') AND NOT p.is_image AND NOT p.is_sitemap
  AND ($2::text IS NULL OR p.status = $2::text::page_status)
  AND ($2 IS NULL OR $2 IN ('fetched', 'discovered') OR p.status NOT IN ('fetched', 'discovered'))
  AND ($3::text IS NULL OR p.language = $3)
  AND ($4::boolean IS NULL OR p.is_seed = $4)
ORDER BY p.domain_id, p.url_hash
LIMIT $6::bigint;

-- name: ranked_pages_of_domain
-- Returns ids of pages of one domain by depth or by priority, the lowest first. No index has these orders: the pages of
-- the domain are read, and the first ones kept.
SELECT p.id, r.rank
FROM pages p
CROSS JOIN LATERAL (SELECT CASE $7::text WHEN 'depth' THEN p.depth ELSE p.priority END AS rank) r
WHERE p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $6) AND NOT p.is_image AND NOT p.is_sitemap
  AND (r.rank, p.id) > (COALESCE($1::smallint, -1), COALESCE($2::bigint, 0))
  AND ($3::text IS NULL OR p.status = $3::text::page_status)
  AND ($3 IS NULL OR $3 IN ('fetched', 'discovered') OR p.status NOT IN ('fetched', 'discovered'))
  AND ($4::text IS NULL OR p.language = $4)
  AND ($5::boolean IS NULL OR p.is_seed = $5)
ORDER BY r.rank, p.id
LIMIT $8::bigint;

-- name: page_rows
-- Returns pages by their ids, in the order given, without those that a filter leaves out. $2: a part of the URL, in any
-- case. $7 to $11 are about the latest visit. Row by row, whatever the planner expects: for ten thousand ids it would read
-- a table of a million rows from end to end.
SELECT p.id, p.url, d.name AS domain, p.status::text AS status, p.depth, p.priority, p.is_seed, p.title, p.description, p.language,
       p.content_type, p.links_count, p.revisit_every_s, p.flags, p.discovered_at, p.fetched_at, p.failed_at, p.changed_at, p.updated_at,
       p.url_hash
FROM unnest($1::bigint[]) WITH ORDINALITY AS n (id, place)
CROSS JOIN LATERAL (SELECT g.*, g.updated_at FROM pages g WHERE g.id = n.id OFFSET 0) p
JOIN domains d ON d.id = p.domain_id
LEFT JOIN LATERAL (
    SELECT c.outcome, c.status_code, c.error_code, c.run_id FROM crawl_tasks c
    WHERE ($7::text IS NOT NULL OR $8::int IS NOT NULL OR $10::text IS NOT NULL OR $11::bigint IS NOT NULL)
      AND c.page_id = p.id AND c.outcome IS NOT NULL
    ORDER BY c.id DESC LIMIT 1
) t ON true
WHERE ($2::text IS NULL OR strpos(lower(p.url), lower($2)) > 0)
  AND ($3::smallint IS NULL OR p.depth = $3)
  AND ($4::smallint IS NULL OR p.priority = $4)
  AND ($5::text IS NULL OR d.source = $5)
  AND ($6::text IS NULL OR d.parser_name = $6)
  AND ($7 IS NULL OR t.outcome = $7::text::task_outcome)
  AND ($8 IS NULL OR t.status_code BETWEEN $8 AND $9::int)
  AND ($10 IS NULL OR t.error_code = $10)
  AND ($11 IS NULL OR t.run_id = $11)
  AND ($12::timestamptz IS NULL OR p.discovered_at >= $12) AND ($13::timestamptz IS NULL OR p.discovered_at < $13)
  AND ($14::timestamptz IS NULL OR p.fetched_at >= $14) AND ($15::timestamptz IS NULL OR p.fetched_at < $15)
  AND ($16::timestamptz IS NULL OR p.changed_at >= $16) AND ($17::timestamptz IS NULL OR p.changed_at < $17)
ORDER BY n.place;

-- name: page_id_at
-- The first id of pages found since about a moment, by bisection of the primary key: ids grow with time, but for rows of
-- transactions that were open together. NULL where the table is so small that no bound is needed.
WITH RECURSIVE ends AS (
    SELECT (SELECT min(id) FROM pages) AS low, (SELECT max(id) + 1 FROM pages) AS high
), step (low, high) AS (
    SELECT low, high FROM ends WHERE high - low > $2::bigint
    UNION ALL
    SELECT CASE WHEN p.discovered_at < $1::timestamptz THEN p.id + 1 ELSE s.low END, CASE WHEN p.discovered_at < $1 THEN s.high ELSE (s.low + s.high) / 2 END
    FROM step s
    CROSS JOIN LATERAL (SELECT c.id, c.discovered_at FROM pages c WHERE c.id >= (s.low + s.high) / 2 ORDER BY c.id LIMIT 1) p
    WHERE s.low < s.high
)
SELECT max(low) FROM step;

-- name: find_page_by_id
-- Returns one page with all that is stored of it, its open task, and how often it was visited.
SELECT p.id, p.url, encode(p.url_hash, 'hex') AS url_hash, d.name AS domain, p.status::text AS status, p.depth, p.priority, p.redirects,
       p.is_seed, p.is_image, p.title, p.description, p.language, p.content_type, encode(p.content_hash, 'hex') AS content_hash,
       lpad(to_hex(p.simhash), 16, '0') AS simhash, p.links_count, p.canonical_url, (SELECT o.url FROM pages o WHERE o.id = p.duplicate_of) AS duplicate_of,
       p.author, p.published_at, p.modified_at, p.etag, p.last_modified, p.flags, p.discovered_at,
       p.fetched_at, p.failed_at, p.updated_at, p.revisit_every_s, p.comparisons, p.changes, p.changed_at, p.crashes, p.trap_id,
       t.id AS open_task_id, t.status::text AS open_task_status, t.scheduled_for AS next_visit_at,
       (SELECT min(x.id) FROM products x WHERE x.domain_id = p.domain_id AND x.page_id = p.id) AS product_id,
       e.headline, e.site_name, e.section, e.tags, e.rating, e.rating_count, e.published_on, e.modified_on,
       e.structured_data IS NOT NULL AS has_structured_data, v.visits, v.requests, v.first_visit_at,
       EXISTS (SELECT FROM archived_rows a WHERE a.domain_id = p.domain_id) AS has_archived_visits
FROM pages p
JOIN domains d ON d.id = p.domain_id
LEFT JOIN page_details e ON e.page_id = p.id
LEFT JOIN crawl_tasks t ON t.domain_id = p.domain_id AND t.page_id = p.id AND t.outcome IS NULL
CROSS JOIN LATERAL (
    SELECT count(*) AS visits, min(h.completed_at) AS first_visit_at,
           COALESCE(sum((h.requested_at IS NOT NULL)::int + COALESCE(cardinality(h.earlier_requests), 0)), 0) AS requests
    FROM crawl_tasks h WHERE h.page_id = p.id AND h.outcome IS NOT NULL) v
WHERE p.id = $1;

-- name: snapshots
-- Returns the references of the newest stored snapshots of a page, newest first.
SELECT t.body_ref FROM crawl_tasks t
WHERE t.page_id = $1 AND t.body_ref IS NOT NULL AND starts_with(t.body_ref, 'snapshot:')
ORDER BY t.id DESC LIMIT 5;
