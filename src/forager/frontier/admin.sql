-- Applies operator commands to the pages of a domain: retry, revisit, reschedule.

-- name: requeue_domain
-- Retries a domain: its failed and blocked pages and, on request, the gone ones each get a new task. Pages that a trap
-- excludes stay excluded. Returns how many there are, and how many of them are files: images, sitemaps and feeds.
WITH again AS (
    UPDATE pages SET status = 'queued'
    WHERE domain_id = $1 AND (status IN ('failed', 'blocked') OR ($2 AND status = 'gone')) AND trap_id IS NULL
    RETURNING id, domain_id, priority, is_image OR is_sitemap AS is_file
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by) SELECT id, domain_id, priority, $3 FROM again
)
SELECT count(*)::int AS pages, count(*) FILTER (WHERE is_file)::int AS files FROM again;

-- name: revisit_domain
-- Schedules all pages of a domain that were read for a visit now, including those planned for later. Returns how many there
-- are, without files.
WITH again AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by)
    SELECT p.id, p.domain_id, p.priority, $2 FROM pages p WHERE p.domain_id = $1 AND p.status = 'fetched'
    ON CONFLICT (domain_id, page_id) WHERE outcome IS NULL
    DO UPDATE SET scheduled_for = LEAST(crawl_tasks.scheduled_for, now()) WHERE crawl_tasks.locked_at IS NULL
    RETURNING page_id
)
SELECT count(*)::int FROM again JOIN pages p ON p.id = again.page_id WHERE NOT p.is_image AND NOT p.is_sitemap;

-- name: run_retries_now
-- Makes pending retries due now.
UPDATE crawl_tasks t SET scheduled_for = now()
FROM pages p
WHERE p.id = t.page_id AND p.status = 'queued' AND t.domain_id = $1 AND t.outcome IS NULL AND t.locked_at IS NULL AND t.scheduled_for > now();

-- name: clear_validators
-- Makes the next visit of a domain's pages fetch them completely, even if nothing has changed.
UPDATE pages SET etag = NULL, last_modified = NULL
WHERE domain_id = $1 AND NOT is_image AND (etag IS NOT NULL OR last_modified IS NOT NULL);

-- name: set_page_frequency
-- Sets how often one page is revisited; NULL uses its domain's frequency.
UPDATE pages SET revisit_every_s = $2 WHERE id = $1;

-- name: plan_revisits
-- Schedules the next visit of every page that is to be revisited, or of one page: one interval after the last visit.
-- Visits that an adaptive domain planned, that are due or that are in progress stay unchanged.
WITH planned AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by, scheduled_for)
    SELECT p.id, p.domain_id, p.priority, $3, COALESCE(p.fetched_at, now()) + make_interval(secs => every.s)
    FROM domains d
    JOIN pages p ON p.domain_id = d.id
    CROSS JOIN LATERAL (SELECT COALESCE(p.revisit_every_s, d.revisit_every_s, CASE WHEN d.is_adaptive THEN 86400 END) AS s) every
    WHERE d.id = $1 AND ($2::bigint IS NULL OR p.id = $2) AND p.status = 'fetched' AND every.s IS NOT NULL
      AND (p.duplicate_of IS NULL OR p.revisit_every_s IS NOT NULL)
    ON CONFLICT (domain_id, page_id) WHERE outcome IS NULL
    DO UPDATE SET scheduled_for = EXCLUDED.scheduled_for
    WHERE crawl_tasks.locked_at IS NULL AND crawl_tasks.scheduled_for > now()
      AND NOT (SELECT a.is_adaptive FROM domains a WHERE a.id = EXCLUDED.domain_id)
    RETURNING id
)
SELECT count(*)::int FROM planned;

-- name: drop_revisits
-- Deletes visits planned for pages that are to be visited once, unless they are due. No request was made for them yet.
-- Tasks that were ordered with a frequency, a webhook or in a batch stay.
WITH dropped AS (
    DELETE FROM crawl_tasks t
    USING pages p, domains d
    WHERE t.domain_id = $1 AND ($2::bigint IS NULL OR t.page_id = $2) AND p.id = t.page_id AND d.id = t.domain_id
      AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending' AND t.scheduled_for > now() AND p.status = 'fetched'
      AND t.revisit_every_s IS NULL AND t.webhook_url IS NULL AND t.batch_id IS NULL
      AND COALESCE(p.revisit_every_s, d.revisit_every_s) IS NULL AND NOT d.is_adaptive
    RETURNING t.id
)
SELECT count(*)::int FROM dropped;
