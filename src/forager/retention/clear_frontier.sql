-- Selects what clearing the frontier deletes. Read only: the owners of the tables delete.

-- name: count_waiting
-- Counts pages that wait for their first visit, of one domain or all, with their tasks.
SELECT count(*) AS pages, count(DISTINCT p.domain_id) AS domains, count(t.id) AS tasks
FROM pages p
LEFT JOIN crawl_tasks t ON t.domain_id = p.domain_id AND t.page_id = p.id AND t.outcome IS NULL
WHERE p.status IN ('discovered', 'queued')
  AND ($1::text IS NULL OR p.domain_id = (SELECT d.id FROM domains d WHERE d.name = $1))
  AND NOT EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = p.id AND c.outcome IS NOT NULL);

-- name: next_frontiers
-- Returns the next domains that have a frontier; or the named one.
SELECT d.id, d.name FROM domains d
WHERE d.id > $2 AND d.frontier_size > 0 AND ($1::text IS NULL OR d.name = $1)
ORDER BY d.id LIMIT $3;

-- name: find_waiting
-- Returns a batch of pages of a domain, after an id, that were never visited and wait for it.
SELECT p.id FROM pages p
WHERE p.domain_id = $1 AND p.id > $2 AND p.status IN ('discovered', 'queued')
  AND NOT EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = p.id AND c.outcome IS NOT NULL)
ORDER BY p.id LIMIT $3;
