-- Texts of pages. Read only.

-- name: find_text
-- Returns the newest visit of a page that refers to a body or text, or this visit if it does.
SELECT t.id AS task_id, p.url, t.body_ref, t.completed_at, b.dropped_at IS NOT NULL AS is_deleted
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2)
WHERE t.page_id = $1 AND t.body_ref IS NOT NULL AND ($2::bigint IS NULL OR t.id = $2) AND NOT p.is_image
ORDER BY t.id DESC LIMIT 1;

-- name: kept_of
-- Returns what decides whether the text of a page is stored.
SELECT p.url, d.name AS domain, d.content_policy, p.fetched_at IS NOT NULL AS is_visited
FROM pages p JOIN domains d ON d.id = p.domain_id WHERE p.id = $1;
