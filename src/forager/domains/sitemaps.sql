-- Reads sitemaps and feeds for commands, routes and reports. Usual places where none is are left out.

-- name: list_sitemaps
-- Returns the sitemaps and feeds of a domain in the order they were found, after an id, up to a limit, with the last
-- visit and the next one of each.
SELECT p.id, p.url, s.found_by, n.url AS named_by, s.found_at, s.format, s.urls, s.new_urls, s.read_at, s.problem,
       last.outcome::text AS outcome, last.status_code, last.error_code, last.error_message, last.completed_at AS visited_at,
       open.scheduled_for AS next_visit_at
FROM sitemaps s
JOIN pages p ON p.id = s.page_id
LEFT JOIN pages n ON n.id = s.named_by
LEFT JOIN LATERAL (SELECT t.* FROM crawl_tasks t WHERE t.page_id = p.id AND t.outcome IS NOT NULL ORDER BY t.id DESC LIMIT 1) last ON true
LEFT JOIN crawl_tasks open ON open.domain_id = p.domain_id AND open.page_id = p.id AND open.outcome IS NULL
WHERE s.site_id = $1 AND p.id > $2 AND NOT (s.found_by = 'guess' AND s.format IS NULL AND p.status IN ('gone', 'blocked', 'failed', 'fetched'))
ORDER BY p.id
LIMIT $3;

-- name: count_listed
-- Returns what the sitemaps and feeds of a domain list in all: files that were read, URLs, pages of the domain among
-- them, pages that were new through them, and pages that no page that was read links to.
WITH files AS MATERIALIZED (
    SELECT s.page_id, s.format, s.urls, s.new_urls, s.read_at, s.problem FROM sitemaps s WHERE s.site_id = $1
), listed AS MATERIALIZED (
    SELECT DISTINCT e.page FROM files f JOIN page_link_lists l ON l.from_page_id = f.page_id CROSS JOIN LATERAL unnest(l.to_page_ids) AS e (page)
    WHERE f.format <> 'index'
), linked AS (
    SELECT DISTINCT e.page FROM pages g JOIN page_link_lists l ON l.from_page_id = g.id CROSS JOIN LATERAL unnest(l.to_page_ids) AS e (page)
    WHERE g.domain_id = $1 AND g.id NOT IN (SELECT f.page_id FROM files f)
)
SELECT (SELECT count(*) FILTER (WHERE format IN ('sitemap', 'text')) FROM files)::int AS sitemaps,
       (SELECT count(*) FILTER (WHERE format = 'index') FROM files)::int AS indexes,
       (SELECT count(*) FILTER (WHERE format IN ('rss', 'atom', 'json')) FROM files)::int AS feeds,
       (SELECT COALESCE(sum(urls) FILTER (WHERE format <> 'index'), 0) FROM files)::bigint AS urls,
       (SELECT COALESCE(sum(new_urls), 0) FROM files)::bigint AS new_urls,
       (SELECT max(read_at) FROM files) AS read_at,
       (SELECT count(*) FROM listed n JOIN pages p ON p.id = n.page WHERE p.domain_id = $1 AND NOT p.is_sitemap)::int AS pages,
       (SELECT count(*) FROM listed n JOIN pages p ON p.id = n.page
        WHERE p.domain_id = $1 AND NOT p.is_sitemap AND NOT p.is_seed AND p.id NOT IN (SELECT k.page FROM linked k))::int AS orphans;

-- name: listed_in_run
-- Returns what a run read in sitemaps and feeds: how many there were, how many URLs they list, and how many that were
-- named could not be read.
SELECT count(*) FILTER (WHERE s.format IN ('sitemap', 'text') AND s.read_at >= r.started_at)::int AS sitemaps,
       count(*) FILTER (WHERE s.format IN ('rss', 'atom', 'json') AND s.read_at >= r.started_at)::int AS feeds,
       COALESCE(sum(s.urls) FILTER (WHERE s.format <> 'index' AND s.read_at >= r.started_at), 0)::bigint AS urls,
       count(*) FILTER (WHERE s.found_by <> 'guess' AND p.failed_at >= r.started_at AND p.status IN ('failed', 'blocked', 'gone'))::int AS unread
FROM runs r
JOIN domains d ON d.run_id = r.id
JOIN sitemaps s ON s.site_id = d.id
JOIN pages p ON p.id = s.page_id
WHERE r.id = $1;

-- name: sitemaps_naming
-- Returns the sitemaps and feeds that list a page, up to a limit.
SELECT f.url, s.format FROM page_link_lists l JOIN sitemaps s ON s.page_id = l.from_page_id JOIN pages f ON f.id = s.page_id
WHERE l.to_page_ids @> ARRAY[$1::bigint] AND s.format IS NOT NULL
ORDER BY s.found_at, f.id LIMIT $2;
