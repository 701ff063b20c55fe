-- Schedules pages to be revisited because their whole domain is: after a cooldown, or for a refresh.

-- name: requeue_start_pages
-- Adds tasks to those of these domains that have nothing waiting: for the seeds that failed or, without one, for the
-- page nearest to a seed. Returns how many pages of each are in the frontier again; a page that was read before keeps
-- that status, and is only revisited.
WITH idle AS MATERIALIZED (
    SELECT d.id FROM domains d
    WHERE d.id = ANY ($1::bigint[]) AND d.frontier_size = 0
      AND (SELECT t.id FROM crawl_tasks t WHERE t.domain_id = d.id AND t.outcome IS NULL LIMIT 1) IS NULL
), home AS MATERIALIZED (
    SELECT p.id, p.domain_id, p.priority, p.status FROM idle CROSS JOIN LATERAL (
        SELECT p.*, failed_first, row_number() OVER (ORDER BY failed_first, NOT p.is_seed, p.depth, p.id) AS place
        FROM pages p CROSS JOIN LATERAL (SELECT CASE p.status WHEN 'fetched' THEN 1 WHEN 'gone' THEN 2 ELSE 0 END AS failed_first) o
        WHERE p.domain_id = idle.id AND p.trap_id IS NULL) p
    WHERE p.place = 1 OR (p.place <= $3 AND p.is_seed AND p.failed_first = 0)
), again AS (
    UPDATE pages p SET status = 'queued' FROM home WHERE p.id = home.id AND p.status IN ('failed', 'blocked', 'gone')
    RETURNING p.id, p.domain_id, p.priority
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by)
    SELECT id, domain_id, priority, $2 FROM again
    UNION ALL
    SELECT id, domain_id, priority, $2 FROM home WHERE status = 'fetched'
    ON CONFLICT (domain_id, page_id) WHERE outcome IS NULL DO NOTHING
)
SELECT domain_id, count(*)::int AS pages FROM again GROUP BY domain_id ORDER BY domain_id;

-- name: refresh_pages
-- Adds a task for each page of exhausted domains that was read; examines pages after a key, up to a limit per domain.
-- Skips pages that have a task, duplicates of others, and images whose files retention deleted. Returns the number of new tasks, and the last
-- key. The domains are locked: no worker claims them meanwhile.
WITH resting AS MATERIALIZED (
    SELECT d.id FROM domains d WHERE d.id = ANY ($1::bigint[]) AND d.status = 'exhausted' ORDER BY d.id FOR NO KEY UPDATE OF d
), known AS MATERIALIZED (
    SELECT p.* FROM resting CROSS JOIN LATERAL (
        SELECT p.id, p.domain_id, p.url_hash, p.priority, p.status, p.is_image, p.duplicate_of FROM pages p
        WHERE p.domain_id = resting.id AND p.url_hash > $2 ORDER BY p.url_hash LIMIT $3) p
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by)
    SELECT id, domain_id, priority, 'refresh' FROM known
    WHERE status = 'fetched' AND duplicate_of IS NULL AND NOT (is_image AND EXISTS (SELECT FROM images i WHERE i.url_hash = known.url_hash AND i.dropped_at IS NOT NULL))
    ON CONFLICT (domain_id, page_id) WHERE outcome IS NULL DO NOTHING
    RETURNING id
)
SELECT (SELECT count(*) FROM made)::int AS pages, (SELECT url_hash FROM known ORDER BY url_hash DESC LIMIT 1) AS last_key;

-- name: sample_watches
-- Returns the observations of the pages of these domains, up to a limit per domain. Keys are hashes: the first ones are
-- as good as a random sample. Omits pages with a frequency of their own.
SELECT d.domain_id, count(*)::int AS looked_at,
       COALESCE(array_agg(p.comparisons) FILTER (WHERE p.is_watched), '{}') AS comparisons,
       COALESCE(array_agg(p.changes) FILTER (WHERE p.is_watched), '{}') AS changes,
       COALESCE(array_agg(p.watched_s) FILTER (WHERE p.is_watched), '{}') AS watched_s
FROM unnest($1::bigint[]) AS d (domain_id) CROSS JOIN LATERAL (
    SELECT p.comparisons, p.changes, p.watched_s, p.status = 'fetched' AND p.revisit_every_s IS NULL AS is_watched
    FROM pages p WHERE p.domain_id = d.domain_id ORDER BY p.url_hash LIMIT $2) p
GROUP BY d.domain_id;
