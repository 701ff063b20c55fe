-- A database as a long crawl leaves it: pages of equal domains, four of five visited, their visits closed.
-- Pages are numbered: number n is page n / domains of domain n % domains. `fill.py` knows the same formula.

-- name: add_domains
-- So many domains, the first with id 1, for the database is fresh.
INSERT INTO domains (name, parent_domain, base_url, source, status)
SELECT name, name, 'https://' || name, 'bench', 'active'
FROM (SELECT 'site-' || lpad(n::text, 4, '0') || '.example' AS name FROM generate_series(0, $1::int - 1) AS n ORDER BY n) made;

-- name: add_pages
-- Pages number $1 up to, but without, number $2, over $3 domains, with the closed visits of those that were fetched.
WITH made AS (
    INSERT INTO pages (domain_id, url, url_hash, status, depth, priority, discovered_at, fetched_at, title, description, language,
                       keywords_tsv, content_hash, content_type, links_count)
    SELECT 1 + site, url, substring(sha256(convert_to(url, 'UTF8')) FOR 16),
           CASE WHEN is_fetched THEN 'fetched'::page_status ELSE 'discovered' END, 2, 5, now(),
           CASE WHEN is_fetched THEN now() END,
           CASE WHEN is_fetched THEN 'Page ' || place || ' of a site with many pages' END,
           CASE WHEN is_fetched THEN 'What page ' || place || ' of this site is about, in one sentence of usual length.' END,
           CASE WHEN is_fetched THEN 'en' END,
           CASE WHEN is_fetched THEN $4::tsvector END,
           CASE WHEN is_fetched THEN substring(sha256(convert_to(url, 'UTF8')) FROM 17) END,
           CASE WHEN is_fetched THEN 'text/html; charset=utf-8' END,
           CASE WHEN is_fetched THEN 0 END
    FROM (SELECT site, place, place % 5 <> 4 AS is_fetched,
                 'https://site-' || lpad(site::text, 4, '0') || '.example/section-' || place % 40 || '/page-' || place AS url
          FROM (SELECT n % $3::bigint AS site, n / $3::bigint AS place
                FROM generate_series($1::bigint, $2::bigint - 1) AS n) numbered) named
    RETURNING id, domain_id, status
)
INSERT INTO crawl_tasks (page_id, domain_id, status, created_by, requested_at, completed_at, outcome, status_code, response_time_ms, bytes, is_image)
SELECT id, domain_id, 'completed', 'bench', now(), now(), 'success', 200, 12, 14000, false FROM made WHERE status = 'fetched';

-- name: count_domains
-- Counters as recounted: the filler does not keep them page by page.
UPDATE domains d
SET pages_discovered = p.pages, pages_crawled = p.fetched, frontier_size = p.pages - p.fetched, ready_at = now()
FROM (SELECT domain_id, count(*) AS pages, count(*) FILTER (WHERE status = 'fetched') AS fetched FROM pages GROUP BY domain_id) p
WHERE d.id = p.domain_id;
