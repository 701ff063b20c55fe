-- Pages as Firecrawl's crawl and map return them. Reads only.

-- name: crawled_pages
-- Returns the pages of a crawl after one, in the order they were found: those that run $1 read, and of site $4 those that
-- were read since $5, if their URLs match one of the folders $6 and of the patterns $7, and none of $8. Up to $9 in all.
WITH chosen AS (
    SELECT c.id FROM (
        SELECT t.page_id AS id FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
        WHERE t.run_id = $1 AND t.outcome = 'success' AND t.status_code BETWEEN 200 AND 299 AND NOT t.is_image AND NOT p.is_sitemap
        UNION
        SELECT p.id FROM pages p
        WHERE p.domain_id = $4 AND p.status = 'fetched' AND p.content_hash IS NOT NULL AND p.fetched_at >= $5::timestamptz
          AND (cardinality($6::text[]) = 0 OR p.url LIKE ANY ($6)) AND NOT p.is_image AND NOT p.is_sitemap
          AND (cardinality($7::text[]) = 0 OR p.url LIKE ANY ($7)) AND NOT p.url LIKE ANY ($8::text[])
    ) c
    ORDER BY c.id LIMIT $9::bigint
)
SELECT p.id, p.url, p.fetched_at, v.status_code::int AS status_code, p.title, p.description, p.language, v.body_ref
FROM chosen c
JOIN pages p ON p.id = c.id
LEFT JOIN LATERAL (
    SELECT t.status_code, (SELECT t.body_ref FROM bodies b WHERE b.name = split_part(t.body_ref, ':', 2) AND b.dropped_at IS NULL) AS body_ref
    FROM crawl_tasks t WHERE t.page_id = p.id AND t.outcome = 'success' ORDER BY t.id DESC LIMIT 1) v ON true
WHERE c.id > $2
ORDER BY c.id
LIMIT $3;

-- name: count_crawled
-- Counts the pages of a crawl, as crawled_pages returns them.
SELECT count(*) AS pages FROM (
    SELECT c.id FROM (
        SELECT t.page_id AS id FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
        WHERE t.run_id = $1 AND t.outcome = 'success' AND t.status_code BETWEEN 200 AND 299 AND NOT t.is_image AND NOT p.is_sitemap
        UNION
        SELECT p.id FROM pages p
        WHERE p.domain_id = $2 AND p.status = 'fetched' AND p.content_hash IS NOT NULL AND p.fetched_at >= $3::timestamptz
          AND (cardinality($4::text[]) = 0 OR p.url LIKE ANY ($4)) AND NOT p.is_image AND NOT p.is_sitemap
          AND (cardinality($5::text[]) = 0 OR p.url LIKE ANY ($5)) AND NOT p.url LIKE ANY ($6::text[])
    ) c
    LIMIT $7::bigint
) n;

-- name: find_run
-- Returns the state of a run, and how many pages of its domains wait.
SELECT r.status::text AS status, r.stop_asked_at IS NOT NULL AS is_stopping, r.started_at, r.max_pages,
       (SELECT COALESCE(sum(d.frontier_size), 0) FROM domains d WHERE d.run_id = r.id)::bigint AS waiting
FROM runs r WHERE r.id = $1;

-- name: find_site
-- Returns what a map and a crawl need to know of a domain.
SELECT d.id, d.content_policy, d.claimed_by IS NOT NULL AND d.claim_expires_at > now() AS is_leased,
       EXISTS (SELECT FROM sitemaps s WHERE s.site_id = d.id AND s.read_at IS NOT NULL) AS has_sitemap
FROM domains d WHERE d.name = $1;

-- name: map_pages
-- Returns the pages of a domain, and with $2 of its subdomains, in the order they were found: those whose URL or title
-- contains $3, without a query if $4, and with $5 only those that its sitemaps list.
SELECT p.url, p.title, p.description
FROM domains d
JOIN pages p ON p.domain_id = d.id
WHERE (d.name = $1 OR ($2 AND d.name LIKE '%.' || replace(replace($1, '_', '\_'), '%', '\%'))) AND NOT p.is_image AND NOT p.is_sitemap
  AND p.status NOT IN ('gone', 'failed', 'blocked')
  AND ($3::text IS NULL OR strpos(lower(p.url), lower($3)) > 0 OR strpos(lower(p.title), lower($3)) > 0)
  AND (NOT $4 OR strpos(p.url, '?') = 0)
  AND (NOT $5 OR p.id IN (SELECT e.page FROM domains o JOIN sitemaps s ON s.site_id = o.id JOIN page_link_lists l ON l.from_page_id = s.page_id
                          CROSS JOIN LATERAL unnest(l.to_page_ids) AS e (page) WHERE o.name = $1))
ORDER BY p.id
LIMIT $6::bigint;
