-- Stored versions of pages. Read only. What is stored is what visits refer to: crawl_tasks and bodies, and visits that
-- were read back from archive files.

-- name: find_page_id
-- Returns the id of a page by its key.
SELECT p.id FROM pages p JOIN domains d ON d.id = p.domain_id WHERE d.name = $1 AND p.url_hash = $2;

-- name: versions_of_page
-- Returns visits of a page whose bodies were kept, newest first, before a given one.
SELECT t.id AS task_id, t.page_id, t.domain_id, t.url, t.fetched_at, t.status_code, t.is_changed, t.body_ref,
       b.name IS NULL OR b.dropped_at IS NOT NULL AS is_pruned, t.is_archived
FROM (
    (SELECT c.id, c.page_id, c.domain_id, p.url, c.completed_at AS fetched_at, c.status_code, c.is_changed, c.body_ref, false AS is_archived
     FROM crawl_tasks c JOIN pages p ON p.id = c.page_id
     WHERE c.page_id = $1 AND c.body_ref IS NOT NULL AND c.id < COALESCE($2::bigint, 9223372036854775807)
     ORDER BY c.id DESC LIMIT $3::bigint)
    UNION ALL
    (SELECT DISTINCT ON (r.id) r.id, r.page_id, r.domain_id, r.url, r.completed_at, r.status_code, (r.fields ->> 'is_changed')::boolean, r.fields ->> 'body_ref', true
     FROM restored_tasks r
     WHERE r.page_id = $1 AND r.fields ->> 'body_ref' IS NOT NULL AND r.id < COALESCE($2::bigint, 9223372036854775807)
     ORDER BY r.id DESC LIMIT $3::bigint)) t
LEFT JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2)
ORDER BY t.id DESC LIMIT $3::bigint;

-- name: version_at
-- Returns the newest visit of a page with a body that is not later than a moment; NULL: the newest of all.
SELECT t.id AS task_id, t.page_id, t.domain_id, t.url, t.fetched_at, t.status_code, t.is_changed, t.body_ref,
       b.name IS NULL OR b.dropped_at IS NOT NULL AS is_pruned, t.is_archived
FROM (
    (SELECT c.id, c.page_id, c.domain_id, p.url, c.completed_at AS fetched_at, c.status_code, c.is_changed, c.body_ref, false AS is_archived
     FROM crawl_tasks c JOIN pages p ON p.id = c.page_id
     WHERE c.page_id = $1 AND c.body_ref IS NOT NULL AND ($2::timestamptz IS NULL OR c.completed_at <= $2)
     ORDER BY c.id DESC LIMIT 1)
    UNION ALL
    (SELECT r.id, r.page_id, r.domain_id, r.url, r.completed_at, r.status_code, (r.fields ->> 'is_changed')::boolean, r.fields ->> 'body_ref', true
     FROM restored_tasks r
     WHERE r.page_id = $1 AND r.fields ->> 'body_ref' IS NOT NULL AND ($2::timestamptz IS NULL OR r.completed_at <= $2)
     ORDER BY r.id DESC LIMIT 1)) t
LEFT JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2)
ORDER BY t.id DESC LIMIT 1;

-- name: oldest_version
-- Returns the moment of the oldest visit of a page with a body; NULL if there is none.
SELECT min(c.completed_at) FROM crawl_tasks c WHERE c.page_id = $1 AND c.body_ref IS NOT NULL;

-- name: body_of_task
-- Returns a visit with its body, if it kept one; also one that was read back from an archive file.
SELECT t.id AS task_id, t.page_id, t.domain_id, t.url, t.fetched_at, t.status_code, t.is_changed, t.body_ref,
       b.name IS NULL OR b.dropped_at IS NOT NULL AS is_pruned, t.is_archived
FROM (
    SELECT c.id, c.page_id, c.domain_id, p.url, c.completed_at AS fetched_at, c.status_code, c.is_changed, c.body_ref, false AS is_archived
    FROM crawl_tasks c JOIN pages p ON p.id = c.page_id WHERE c.id = $1
    UNION ALL
    SELECT r.id, r.page_id, r.domain_id, r.url, r.completed_at, r.status_code, (r.fields ->> 'is_changed')::boolean, r.fields ->> 'body_ref', true
    FROM restored_tasks r WHERE r.id = $1) t
LEFT JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2)
LIMIT 1;

-- name: domains_below
-- Returns the domains of a registrable name, in the order of their ids.
SELECT d.id FROM domains d WHERE d.name = $1 OR d.parent_domain = $1 ORDER BY d.id;

-- name: captures_of_page
-- Returns visits of one page whose bodies are stored, oldest first, after a given one.
SELECT c.id AS task_id, c.page_id, c.domain_id, p.url, c.completed_at AS fetched_at, c.status_code, c.is_changed, c.body_ref,
       b.name IS NULL OR b.dropped_at IS NOT NULL AS is_pruned, false AS is_archived
FROM crawl_tasks c
JOIN pages p ON p.id = c.page_id
LEFT JOIN bodies b ON b.name = split_part(c.body_ref, ':', 2)
WHERE c.page_id = $1 AND c.body_ref IS NOT NULL AND c.id > COALESCE($2::bigint, 0)
ORDER BY c.id LIMIT $3::bigint;

-- name: captures_of_domains
-- Returns visits of some domains whose bodies are stored, page by page, oldest first, after a given one. Each domain is
-- read from the index in this order, so that a portion costs the same however many there are.
SELECT k.id AS task_id, k.page_id, d.id AS domain_id, p.url, k.completed_at AS fetched_at, k.status_code, k.is_changed, k.body_ref,
       b.name IS NULL OR b.dropped_at IS NOT NULL AS is_pruned, false AS is_archived
FROM unnest($1::bigint[]) WITH ORDINALITY AS d (id, position)
CROSS JOIN LATERAL (
    SELECT c.id, c.page_id, c.completed_at, c.status_code, c.is_changed, c.body_ref
    FROM crawl_tasks c
    WHERE c.domain_id = d.id AND c.body_ref IS NOT NULL AND NOT c.is_image
      AND (c.page_id, c.id) > (CASE WHEN d.id = $2::bigint THEN $3::bigint ELSE 0 END, CASE WHEN d.id = $2 THEN $4::bigint ELSE 0 END)
    ORDER BY c.page_id, c.id LIMIT $5::bigint) k
JOIN pages p ON p.id = k.page_id
LEFT JOIN bodies b ON b.name = split_part(k.body_ref, ':', 2)
ORDER BY d.position, k.page_id, k.id LIMIT $5::bigint;
