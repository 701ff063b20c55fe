-- Export statements. Read only. Rows come in key order, so that none is held back to be sorted. Optional filters
-- are NULL when not given; PostgreSQL drops them while planning, so the rest can use its index. The last two parameters
-- choose rows by the transaction that wrote them: see `increments.py`.

-- name: stream_plans
-- Until the transaction ends, selects plans that return the first row at once: nothing is sorted or hashed on the
-- server's disk before.
SELECT set_config(n.name, 'off', true)
FROM unnest(ARRAY['enable_sort', 'enable_incremental_sort', 'enable_hashjoin', 'enable_mergejoin', 'enable_material']) AS n (name);

-- name: export_pages
-- Returns pages with their signals and latest closed task, as found: of some domains or all below a registrable
-- one, of some runs, visited ones.
SELECT p.url, d.name AS domain, p.status::text AS status, t.status_code, t.outcome::text AS outcome, p.depth, p.priority,
       p.is_seed, p.title, p.description, p.language, p.canonical_url, p.author, p.published_at, p.modified_at,
       encode(p.content_hash, 'hex') AS content_hash, lpad(to_hex(p.simhash), 16, '0') AS simhash, p.content_type, p.links_count, p.flags, p.etag, p.last_modified,
       p.discovered_at, p.fetched_at, p.changed_at, t.completed_at, t.error_code, t.error_message, t.response_time_ms, t.bytes,
       t.body_ref, t.run_id, e.headline, e.site_name, e.section, e.tags, e.rating, e.rating_count, e.published_on, e.modified_on
FROM pages p
JOIN domains d ON d.id = p.domain_id
LEFT JOIN page_details e ON e.page_id = p.id
LEFT JOIN LATERAL (
    SELECT c.status_code, c.outcome, c.completed_at, c.error_code, c.error_message, c.response_time_ms, c.bytes, c.body_ref, c.run_id, c.xmin AS changed
    FROM crawl_tasks c
    WHERE c.page_id = p.id AND c.outcome IS NOT NULL
    ORDER BY c.id DESC
    LIMIT 1
) t ON true
WHERE ($1::text[] IS NULL OR p.domain_id = ANY (ARRAY(
        SELECT n.id FROM domains n WHERE n.name = ANY ($1) OR n.parent_domain = ANY ($2::text[]))))
  AND ($3::text IS NULL OR p.status = $3::text::page_status)
  AND ($4::bigint[] IS NULL OR EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = p.id AND c.run_id = ANY ($4) AND c.outcome IS NOT NULL))
  AND ($5::boolean IS FALSE OR t.outcome IS NOT NULL) AND NOT p.is_image AND NOT p.is_sitemap
  AND ($6::timestamptz IS NULL OR p.fetched_at >= $6)
  AND ($7::integer IS NULL OR changed_within(p.xmin, $7, $8) OR changed_within(e.xmin, $7, $8) OR changed_within(t.changed, $7, $8))
ORDER BY p.id;

-- name: texts_of
-- Returns for each of these pages, given by domain and key, the body or text that was returned or confirmed last.
SELECT p.url, t.body_ref
FROM unnest($1::text[], $2::bytea[]) AS n (domain, url_hash)
JOIN domains d ON d.name = n.domain
JOIN pages p ON p.domain_id = d.id AND p.url_hash = n.url_hash
CROSS JOIN LATERAL (SELECT c.body_ref FROM crawl_tasks c WHERE c.page_id = p.id AND c.body_ref IS NOT NULL ORDER BY c.id DESC LIMIT 1) t
JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2) AND b.dropped_at IS NULL;

-- name: export_structured_data
-- Returns pages with structured data, and all items of each, compressed.
SELECT p.url, d.name AS domain, p.fetched_at, e.structured_data
FROM page_details e
JOIN pages p ON p.id = e.page_id
JOIN domains d ON d.id = p.domain_id
WHERE e.structured_data IS NOT NULL AND ($1::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::bigint IS NULL OR EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = p.id AND c.run_id = $2 AND c.outcome IS NOT NULL))
  AND ($3::timestamptz IS NULL OR p.fetched_at >= $3)
  AND ($4::integer IS NULL OR changed_within(e.xmin, $4, $5))
ORDER BY e.page_id;

-- name: export_items
-- Returns pages with structured data, all items of each compressed: each becomes a row, with the columns that are empty here.
SELECT p.url, d.name AS domain, p.fetched_at, NULL::integer AS position, NULL::text AS syntax, NULL::text[] AS types, e.structured_data AS properties
FROM page_details e
JOIN pages p ON p.id = e.page_id
JOIN domains d ON d.id = p.domain_id
WHERE e.structured_data IS NOT NULL AND ($1::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::bigint IS NULL OR EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = p.id AND c.run_id = $2 AND c.outcome IS NOT NULL))
  AND ($3::timestamptz IS NULL OR p.fetched_at >= $3)
  AND ($4::integer IS NULL OR changed_within(e.xmin, $4, $5))
ORDER BY e.page_id;

-- name: export_records
-- Returns every record that extractors found, with its newest fields.
SELECT r.id, p.url, d.name AS domain, r.extractor, r.kind, r.key, r.fields, r.problems, r.problems = '{}' AS is_complete,
       r.first_seen_at, r.last_seen_at, r.changed_at, r.gone_at, r.task_id
FROM records r
JOIN pages p ON p.id = r.page_id
JOIN domains d ON d.id = r.domain_id
WHERE ($1::text IS NULL OR r.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::bigint IS NULL OR EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = r.page_id AND c.run_id = $2 AND c.outcome IS NOT NULL))
  AND ($3::timestamptz IS NULL OR r.changed_at >= $3)
  AND ($4::integer IS NULL OR changed_within(r.xmin, $4, $5))
ORDER BY r.id;

-- name: export_links
-- Returns every stored link: from which page to which, in page order; then those out of scope, where they are stored.
SELECT * FROM (
SELECT f.url AS from_url, t.url AS to_url, e.anchor, e.rel, e.position, d.name AS domain, t.status::text AS to_status
FROM page_link_lists l
JOIN pages f ON f.id = l.from_page_id
JOIN domains d ON d.id = f.domain_id
CROSS JOIN LATERAL (
    SELECT k.to_page_id, COALESCE(k.rel, 'a') AS rel, COALESCE(k.anchor, '') AS anchor, (k.position - 1)::integer AS position
    FROM ROWS FROM (unnest(l.to_page_ids), unnest(string_to_array(l.rels, ',')), unnest(string_to_array(l.anchors, E'\x1f')))
         WITH ORDINALITY AS k (to_page_id, rel, anchor, position)) e
JOIN pages t ON t.id = e.to_page_id
WHERE ($1::text IS NULL OR f.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::bigint IS NULL OR EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = f.id AND c.run_id = $2 AND c.outcome IS NOT NULL))
  AND ($3::timestamptz IS NULL OR f.fetched_at >= $3)
  AND ($4::integer IS NULL OR changed_within(l.xmin, $4, $5))
ORDER BY l.from_page_id) inside
UNION ALL
SELECT * FROM (
SELECT f.url, e.url, e.anchor, e.rel, e.position, d.name, 'external'
FROM external_link_lists l
JOIN pages f ON f.id = l.from_page_id
JOIN domains d ON d.id = f.domain_id
CROSS JOIN LATERAL (
    SELECT k.url, COALESCE(k.rel, 'a') AS rel, COALESCE(k.anchor, '') AS anchor, (k.position - 1)::integer AS position
    FROM ROWS FROM (unnest(string_to_array(l.urls, E'\n')), unnest(string_to_array(l.rels, ',')), unnest(string_to_array(l.anchors, E'\x1f')))
         WITH ORDINALITY AS k (url, rel, anchor, position)) e
WHERE ($1::text IS NULL OR f.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::bigint IS NULL OR EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = f.id AND c.run_id = $2 AND c.outcome IS NOT NULL))
  AND ($3::timestamptz IS NULL OR f.fetched_at >= $3)
  AND ($4::integer IS NULL OR changed_within(l.xmin, $4, $5))
ORDER BY l.from_page_id) outside;

-- name: export_tasks
-- Returns every task, oldest first: the whole history and the queue.
SELECT t.id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.blame, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at,
       t.scheduled_for, t.requested_at, t.completed_at, t.response_time_ms, t.bytes, t.is_changed, t.pace_ms, t.proxy_id, t.body_ref,
       p.is_image
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = p.domain_id
WHERE ($1::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::text IS NULL OR t.status = $2::text::task_status)
  AND ($3::bigint IS NULL OR t.run_id = $3)
  AND ($4::timestamptz IS NULL OR COALESCE(t.completed_at, t.created_at) >= $4)
  AND ($5::integer IS NULL OR changed_within(t.xmin, $5, $6))
ORDER BY t.id;

-- name: export_bodies
-- Returns every visit that returned or confirmed a body which is still stored, oldest first.
SELECT t.id, p.url, t.completed_at, t.body_ref, p.title
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2) AND b.dropped_at IS NULL
WHERE t.body_ref IS NOT NULL AND NOT starts_with(t.body_ref, 'text:') AND NOT p.is_image
  AND ($1::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::bigint IS NULL OR t.run_id = $2)
  AND ($3::timestamptz IS NULL OR t.completed_at >= $3)
  AND ($4::integer IS NULL OR changed_within(t.xmin, $4, $5))
ORDER BY t.id;

-- name: export_products
-- Returns every product with its newest facts, their confidence and source.
SELECT p.id, p.url, d.name AS domain, p.product_name, p.description, p.price, p.currency, p.availability, p.rating::float8 AS rating, p.review_count,
       p.brand, p.category, p.sku, p.gtin, p.image_urls, p.variants, encode(p.content_hash, 'hex') AS content_hash, p.parser_name,
       p.parser_version, round(p.confidence::numeric, 4)::float8 AS confidence, p.evidence, p.problems, p.is_valid, g.status::text AS page_status, p.created_at, p.updated_at,
       p.last_seen_at, p.is_price_current AND g.status <> 'gone' AS is_price_current, p.price_seen_at,
       p.mpn, p.regular_price, p.unit_price, p.unit, p.seller, p.condition, p.shipping, p.attributes
FROM products p
JOIN domains d ON d.id = p.domain_id
JOIN pages g ON g.id = p.page_id
WHERE ($1::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::bigint IS NULL OR EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = p.page_id AND c.run_id = $2 AND c.outcome IS NOT NULL))
  AND ($3::timestamptz IS NULL OR p.updated_at >= $3)
  AND ($4::integer IS NULL OR changed_within(p.xmin, $4, $5))
ORDER BY p.id;

-- name: export_prices
-- Returns the history of every product: its first price and each change of price, currency or availability, as they
-- were seen.
SELECT x.id, x.product_id, p.url, d.name AS domain, p.product_name, p.sku, p.gtin, x.seen_at, x.price, x.currency, x.availability,
       x.old_price, x.old_currency, x.old_availability, x.is_first, x.is_correction, x.is_backfill, x.task_id
FROM product_prices x
JOIN products p ON p.id = x.product_id
JOIN domains d ON d.id = x.domain_id
WHERE ($1::text IS NULL OR x.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::bigint IS NULL OR EXISTS (SELECT FROM crawl_tasks c WHERE c.id = x.task_id AND c.run_id = $2))
  AND ($3::timestamptz IS NULL OR x.seen_at >= $3)
  AND ($4::integer IS NULL OR changed_within(x.xmin, $4, $5))
ORDER BY x.id;

-- name: export_images
-- Returns every image with each page that shows or showed it; one that no page shows comes once, without a page.
SELECT i.id, i.url, i.status::text AS status, i.reason, i.format, i.width, i.height, i.frames, i.file_size,
       encode(i.content_hash, 'hex') AS content_hash, lpad(to_hex(i.perceptual_hash), 16, '0') AS perceptual_hash, CASE WHEN i.dropped_at IS NULL THEN i.body_ref END AS body_ref, i.thumbnail_ref, m.url AS moved_to,
       i.checked_at, i.stored_at, p.url AS page_url, d.name AS domain, s.position, s.discovery_type, s.image_type, s.alt_text,
       s.width AS declared_width, s.height AS declared_height, COALESCE(s.first_seen_at, i.first_seen_at) AS first_seen_at,
       CASE WHEN s.page_id IS NOT NULL THEN COALESCE(s.last_seen_at, p.fetched_at) END AS last_seen_at,
       s.page_id IS NOT NULL AND s.last_seen_at IS NULL AS is_shown
FROM images i
LEFT JOIN images m ON m.id = i.moved_to
LEFT JOIN page_images s ON s.image_id = i.id
LEFT JOIN pages p ON p.id = s.page_id
LEFT JOIN domains d ON d.id = COALESCE(s.domain_id, i.domain_id)
WHERE ($1::text IS NULL OR COALESCE(s.domain_id, i.domain_id) = (SELECT n.id FROM domains n WHERE n.name = $1))
  AND ($2::text IS NULL OR i.status = $2::text::image_status)
  AND ($3::bigint IS NULL OR EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = s.page_id AND c.run_id = $3 AND c.outcome IS NOT NULL))
  AND ($4::timestamptz IS NULL OR GREATEST(s.first_seen_at, i.first_seen_at, i.checked_at) >= $4)
  AND ($5::integer IS NULL OR changed_within(i.xmin, $5, $6) OR changed_within(s.xmin, $5, $6))
ORDER BY i.id;

-- name: runs_with_seeds
-- Returns the runs that were given exactly these seeds: one crawl that was interrupted and resumed.
SELECT r.id
FROM runs r
WHERE r.spec -> 'seeds' = $1::jsonb AND r.spec ->> 'seeds_digest' IS NOT DISTINCT FROM $2;
