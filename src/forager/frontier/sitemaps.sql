-- Sitemaps and feeds: files that are fetched for the URLs that they list. Owner of sitemaps.

-- name: count_sitemaps
-- Returns how many sitemaps and feeds these sites have.
SELECT site_id, count(*)::int AS files FROM sitemaps WHERE site_id = ANY ($1::bigint[]) GROUP BY site_id;

-- name: add_sitemaps
-- Adds files that were named; those that are known keep who named them first. In page order, so that workers that add
-- the same files do not deadlock.
INSERT INTO sitemaps (page_id, site_id, found_by, named_by)
SELECT n.page_id, n.site_id, n.found_by, n.named_by
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[]) AS n (page_id, site_id, found_by, named_by)
JOIN domains d ON d.id = n.site_id
ORDER BY n.page_id
ON CONFLICT (page_id) DO NOTHING;

-- name: mark_sitemaps
-- Turns pages that turn out to be sitemaps or feeds, and were never visited, into files. Returns how many pages each
-- domain has fewer.
WITH held AS MATERIALIZED (
    SELECT p.id FROM pages p
    WHERE p.id = ANY ($1::bigint[]) AND p.status = 'discovered' AND NOT p.is_sitemap AND NOT p.is_seed AND NOT p.is_image
      AND NOT EXISTS (SELECT FROM crawl_tasks t WHERE t.page_id = p.id)
    ORDER BY p.id FOR NO KEY UPDATE OF p
), turned AS (
    UPDATE pages p SET is_sitemap = true, depth = 0, priority = $2 FROM held WHERE p.id = held.id RETURNING p.domain_id
)
SELECT domain_id, count(*)::int AS pages FROM turned GROUP BY domain_id ORDER BY domain_id;

-- name: retry_sitemaps
-- Adds a task for each of these files that was never read and failed a while ago, now that it is named again: a day
-- ago, or a week if only its usual place was tried. Returns how many files of each domain wait again.
WITH again AS (
    UPDATE pages p SET status = 'queued'
    FROM sitemaps s
    WHERE p.id = ANY ($1::bigint[]) AND s.page_id = p.id AND p.is_sitemap AND p.status IN ('failed', 'blocked', 'gone')
      AND p.failed_at < now() - CASE s.found_by WHEN 'guess' THEN interval '7 days' ELSE interval '1 day' END
    RETURNING p.id, p.domain_id, p.priority
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by) SELECT id, domain_id, priority, 'sitemap' FROM again
)
SELECT domain_id, count(*)::int AS pages FROM again GROUP BY domain_id ORDER BY domain_id;

-- name: count_new_urls
-- Counts pages that a sitemap or feed listed and that were not known before.
UPDATE sitemaps SET new_urls = new_urls + $2 WHERE page_id = $1;

-- name: record_sitemaps
-- Saves what the last readings of sitemaps and feeds found; one that did not change keeps what it has.
UPDATE sitemaps s
SET read_at = now(), format = COALESCE(n.format, s.format), urls = COALESCE(n.urls, s.urls),
    problem = CASE WHEN n.is_same THEN s.problem ELSE n.problem END
FROM unnest($1::bigint[], $2::text[], $3::int[], $4::text[], $5::boolean[]) AS n (page_id, format, urls, problem, is_same)
WHERE s.page_id = n.page_id;
