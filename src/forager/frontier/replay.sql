-- Updates pages whose stored body was parsed again, or schedules them for another visit instead.

-- name: renew_languages
-- Replaces languages that were detected again, which are sticky otherwise. Runs before new readings are recorded, in
-- the same transaction.
UPDATE pages p SET language = n.language
FROM unnest($1::bigint[], $2::text[]) AS n (id, language)
WHERE p.id = n.id AND n.language IS NOT NULL AND p.language IS DISTINCT FROM n.language;

-- name: finish_replayed
-- Restores the time of visit and the status of pages. Runs after the new readings were recorded, in the same
-- transaction.
UPDATE pages p SET fetched_at = n.fetched_at, status = n.status::page_status
FROM unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS n (id, fetched_at, status)
WHERE p.id = n.id;

-- name: requeue_pages
-- Schedules pages that were read in this period for another visit, before others. Tasks that already wait are only
-- brought forward. After a page id, up to a limit.
WITH portion AS MATERIALIZED (
    SELECT p.id, p.domain_id FROM pages p
    WHERE p.id > $1 AND p.status = 'fetched' AND ($2::bigint IS NULL OR p.domain_id = $2) AND ($3::bigint IS NULL OR p.id = $3)
      AND ($4::timestamptz IS NULL OR p.fetched_at >= $4) AND ($5::timestamptz IS NULL OR p.fetched_at < $5)
    ORDER BY p.id LIMIT $6
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by) SELECT id, domain_id, 2, $7 FROM portion ORDER BY id
    ON CONFLICT (domain_id, page_id) WHERE outcome IS NULL
    DO UPDATE SET priority = LEAST(crawl_tasks.priority, 2), scheduled_for = LEAST(crawl_tasks.scheduled_for, now())
                  WHERE crawl_tasks.locked_at IS NULL
    RETURNING domain_id
)
SELECT (SELECT max(id) FROM portion) AS last, (SELECT count(*) FROM made)::int AS pages, ARRAY(SELECT DISTINCT domain_id FROM made ORDER BY 1) AS domain_ids;

-- name: count_to_requeue
-- Counts the pages that such a command applies to.
SELECT count(*) FROM pages p
WHERE p.status = 'fetched' AND ($1::bigint IS NULL OR p.domain_id = $1) AND ($2::bigint IS NULL OR p.id = $2)
  AND ($3::timestamptz IS NULL OR p.fetched_at >= $3) AND ($4::timestamptz IS NULL OR p.fetched_at < $4);
