-- Pages whose stored body was read again, or that are to be visited again instead.

-- name: renew_languages
-- Before new readings are recorded, in the same transaction: a language that was found anew replaces the old one, which is sticky else.
UPDATE pages p SET language = n.language
FROM unnest($1::bigint[], $2::text[]) AS n (id, language)
WHERE p.id = n.id AND n.language IS NOT NULL AND p.language IS DISTINCT FROM n.language;

-- name: finish_replayed
-- After the new readings were recorded, in the same transaction: when pages were visited and where they stand is as before.
UPDATE pages p SET fetched_at = n.fetched_at, status = n.status::page_status
FROM unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS n (id, fetched_at, status)
WHERE p.id = n.id;

-- name: requeue_pages
-- Pages that were read in this span are to be visited again, before others. What waits already is only hurried. So many at once, behind a page.
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
-- How many pages such an order is for.
SELECT count(*) FROM pages p
WHERE p.status = 'fetched' AND ($1::bigint IS NULL OR p.domain_id = $1) AND ($2::bigint IS NULL OR p.id = $2)
  AND ($3::timestamptz IS NULL OR p.fetched_at >= $3) AND ($4::timestamptz IS NULL OR p.fetched_at < $4);
