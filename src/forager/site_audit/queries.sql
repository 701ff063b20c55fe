-- Findings about one site, each as a list of rows of one shape: how many there are in all, the URL, what was found,
-- other URLs that belong to it, and their number. $1 is the domain, $2 the number of rows and $3 the number of other
-- URLs in each; NULL: all. Reads only. Links to one page are looked up in the index of page_link_lists; only lists of
-- all linked pages read every link of the site.

-- name: find_site
-- Returns what is known of a site as a whole.
SELECT d.id, d.name, d.base_url, d.stores_links, d.links_since,
       count(*) AS pages, count(v.outcome) AS visited, count(*) FILTER (WHERE v.is_ok AND v.is_html) AS html,
       min(v.completed_at) AS first_visit_at, max(v.completed_at) AS last_visit_at,
       (SELECT count(*) FROM sitemaps s WHERE s.site_id = d.id AND s.format IN ('sitemap', 'text')) AS sitemaps,
       EXISTS (SELECT FROM indexed_pages i WHERE i.domain_id = d.id) AS is_indexed
FROM domains d
LEFT JOIN page_visits v ON v.domain_id = d.id
WHERE d.name = $1
GROUP BY d.id;

-- name: no_time_limit
-- Disables the statement timeout until the transaction ends: the caller can cancel the statement.
SELECT set_config('statement_timeout', '0', true);

-- name: status_by_depth
-- Counts the pages of a site by their distance from its seeds and the result of their newest visit.
SELECT v.depth::int AS depth, count(*) AS pages, count(*) FILTER (WHERE v.is_ok) AS ok, count(*) FILTER (WHERE v.is_redirect) AS redirects,
       count(*) FILTER (WHERE v.outcome = 'blocked_4xx') AS client_errors, count(*) FILTER (WHERE v.outcome = 'blocked_5xx') AS server_errors,
       count(*) FILTER (WHERE v.outcome IN ('failed', 'timeout')) AS failed, count(*) FILTER (WHERE v.outcome = 'blocked_robots') AS robots,
       count(*) FILTER (WHERE v.outcome IS NULL) AS waiting
FROM page_visits v
WHERE v.domain_id = $1
GROUP BY v.depth
ORDER BY v.depth;

-- name: broken_links
-- Returns pages that are linked and cannot be had, most linked first, with the pages that link to them.
WITH counted AS MATERIALIZED (
    SELECT v.page_id, v.url, COALESCE(v.status_code::text, v.error_code, v.outcome::text) AS value, k.links
    FROM page_visits v
    CROSS JOIN LATERAL (
        SELECT count(*) AS links FROM page_link_lists l
        WHERE l.to_page_ids @> ARRAY[v.page_id] AND NOT EXISTS (SELECT FROM sitemaps s WHERE s.page_id = l.from_page_id)) k
    WHERE v.domain_id = $1 AND v.is_broken AND k.links > 0
), shown AS (
    SELECT c.*, count(*) OVER () AS total FROM counted c ORDER BY c.links DESC, c.page_id LIMIT $2::bigint
)
SELECT w.total, w.url, w.value, k.others, w.links AS others_total
FROM shown w
CROSS JOIN LATERAL (
    WITH found AS MATERIALIZED (
        SELECT l.from_page_id FROM page_link_lists l
        WHERE l.to_page_ids @> ARRAY[w.page_id] AND NOT EXISTS (SELECT FROM sitemaps s WHERE s.page_id = l.from_page_id)
    ), first AS (SELECT from_page_id FROM found ORDER BY from_page_id LIMIT $3::bigint)
    SELECT array_agg(f.url ORDER BY f.id) AS others FROM first i JOIN pages f ON f.id = i.from_page_id) k
ORDER BY w.links DESC, w.page_id;

-- name: broken_pages
-- Returns pages that cannot be had and that no page links to: seeds, and those of sitemaps.
WITH found AS (
    SELECT v.page_id, v.url, COALESCE(v.status_code::text, v.error_code, v.outcome::text) AS value
    FROM page_visits v
    WHERE v.domain_id = $1 AND v.is_broken AND NOT EXISTS (
        SELECT FROM page_link_lists l
        WHERE l.to_page_ids @> ARRAY[v.page_id] AND NOT EXISTS (SELECT FROM sitemaps s WHERE s.page_id = l.from_page_id))
)
SELECT count(*) OVER () AS total, f.url, f.value, NULL::text[] AS others, 0::bigint AS others_total
FROM found f ORDER BY f.page_id LIMIT $2::bigint;

-- name: linked_redirects
-- Returns redirects that pages link to, most linked first, with the pages that link to them.
WITH counted AS MATERIALIZED (
    SELECT v.page_id, v.url, v.status_code::text || COALESCE(' to ' || t.url, '') AS value, k.links
    FROM page_visits v
    LEFT JOIN page_link_lists m ON m.from_page_id = v.page_id AND m.rels = 'redirect'
    LEFT JOIN pages t ON t.id = m.to_page_ids[1]
    CROSS JOIN LATERAL (
        SELECT count(*) AS links FROM page_link_lists l
        WHERE l.to_page_ids @> ARRAY[v.page_id] AND l.rels IS DISTINCT FROM 'redirect'
          AND NOT EXISTS (SELECT FROM sitemaps s WHERE s.page_id = l.from_page_id)) k
    WHERE v.domain_id = $1 AND v.is_redirect AND k.links > 0
), shown AS (
    SELECT c.*, count(*) OVER () AS total FROM counted c ORDER BY c.links DESC, c.page_id LIMIT $2::bigint
)
SELECT w.total, w.url, w.value, k.others, w.links AS others_total
FROM shown w
CROSS JOIN LATERAL (
    WITH found AS MATERIALIZED (
        SELECT l.from_page_id FROM page_link_lists l
        WHERE l.to_page_ids @> ARRAY[w.page_id] AND l.rels IS DISTINCT FROM 'redirect'
          AND NOT EXISTS (SELECT FROM sitemaps s WHERE s.page_id = l.from_page_id)
    ), first AS (SELECT from_page_id FROM found ORDER BY from_page_id LIMIT $3::bigint)
    SELECT array_agg(f.url ORDER BY f.id) AS others FROM first i JOIN pages f ON f.id = i.from_page_id) k
ORDER BY w.links DESC, w.page_id;

-- name: redirect_chains
-- Returns redirects that lead to another redirect, from the first of each chain, with the pages on the way. A chain is
-- followed for 20 steps; a loop has its own list.
WITH RECURSIVE moved AS MATERIALIZED (
    SELECT v.page_id, v.url, m.to_page_ids[1] AS target
    FROM page_visits v JOIN page_link_lists m ON m.from_page_id = v.page_id AND m.rels = 'redirect'
    WHERE v.domain_id = $1 AND v.is_redirect
), walk AS (
    SELECT m.page_id AS start, ARRAY[m.page_id, m.target] AS path, m.target AS at, m.target = m.page_id AS is_loop
    FROM moved m WHERE NOT EXISTS (SELECT FROM moved o WHERE o.target = m.page_id)
    UNION ALL
    SELECT w.start, w.path || m.target, m.target, m.target = ANY (w.path)
    FROM walk w JOIN moved m ON m.page_id = w.at WHERE NOT w.is_loop AND cardinality(w.path) < 21
), ended AS (
    SELECT DISTINCT ON (w.start) w.start, w.path, w.is_loop FROM walk w ORDER BY w.start, cardinality(w.path) DESC
), shown AS (
    SELECT e.*, count(*) OVER () AS total FROM ended e WHERE cardinality(e.path) > 2
    ORDER BY cardinality(e.path) DESC, e.start LIMIT $2::bigint
)
SELECT w.total, p.url, (cardinality(w.path) - 1)::text || CASE WHEN w.is_loop THEN ' redirects into a loop' ELSE ' redirects' END AS value,
       (SELECT array_agg(q.url ORDER BY e.place) FROM unnest(w.path) WITH ORDINALITY AS e (page, place) JOIN pages q ON q.id = e.page
        WHERE e.place BETWEEN 2 AND COALESCE($3::bigint, 100) + 1) AS others,
       (cardinality(w.path) - 1)::bigint AS others_total
FROM shown w JOIN pages p ON p.id = w.start
ORDER BY cardinality(w.path) DESC, w.start;

-- name: redirect_loops
-- Returns redirects that lead back to themselves: over other pages, or at once, and those that no client follows to the
-- end.
WITH RECURSIVE moved AS MATERIALIZED (
    SELECT v.page_id, v.url, m.to_page_ids[1] AS target
    FROM page_visits v JOIN page_link_lists m ON m.from_page_id = v.page_id AND m.rels = 'redirect'
    WHERE v.domain_id = $1 AND v.is_redirect
), walk AS (
    SELECT m.page_id AS start, ARRAY[m.page_id] AS path, m.target AS at FROM moved m
    UNION ALL
    SELECT w.start, w.path || w.at, m.target
    FROM walk w JOIN moved m ON m.page_id = w.at WHERE w.at > w.start AND w.at <> ALL (w.path) AND cardinality(w.path) < 20
), found AS (
    SELECT w.start AS page_id, p.url, cardinality(w.path)::text || ' pages redirect in a circle' AS value, w.path
    FROM walk w JOIN pages p ON p.id = w.start WHERE w.at = w.start
    UNION ALL
    SELECT v.page_id, v.url, 'too many redirects', ARRAY[]::bigint[] FROM page_visits v
    WHERE v.domain_id = $1 AND v.error_code = 'too_many_redirects'
)
SELECT count(*) OVER () AS total, f.url, f.value,
       (SELECT array_agg(q.url ORDER BY e.place) FROM unnest(f.path) WITH ORDINALITY AS e (page, place) JOIN pages q ON q.id = e.page
        WHERE e.place BETWEEN 2 AND COALESCE($3::bigint, 100) + 1) AS others,
       GREATEST(cardinality(f.path) - 1, 0)::bigint AS others_total
FROM found f ORDER BY f.page_id LIMIT $2::bigint;

-- name: missing_titles
-- Returns pages without a title.
SELECT count(*) OVER () AS total, v.url, NULL::text AS value, NULL::text[] AS others, 0::bigint AS others_total
FROM page_visits v
WHERE v.domain_id = $1 AND v.is_ok AND v.is_html AND NOT v.is_noindex AND COALESCE(btrim(v.title), '') = ''
ORDER BY v.page_id LIMIT $2::bigint;

-- name: missing_descriptions
-- Returns pages without a description.
SELECT count(*) OVER () AS total, v.url, v.title AS value, NULL::text[] AS others, 0::bigint AS others_total
FROM page_visits v
WHERE v.domain_id = $1 AND v.is_ok AND v.is_html AND NOT v.is_noindex AND v.canonical_url IS NULL AND COALESCE(btrim(v.description), '') = ''
ORDER BY v.page_id LIMIT $2::bigint;

-- name: duplicate_titles
-- Returns titles that several pages have, the most frequent first; pages that name another one as canonical do not count.
WITH same AS (
    SELECT v.title, min(v.page_id) AS first, array_agg(v.page_id ORDER BY v.page_id) AS page_ids, count(*) AS pages
    FROM page_visits v
    WHERE v.domain_id = $1 AND v.is_ok AND v.is_html AND NOT v.is_noindex AND v.canonical_url IS NULL AND v.duplicate_of IS NULL AND v.title <> ''
    GROUP BY v.title HAVING count(*) > 1
), shown AS (
    SELECT s.*, count(*) OVER () AS total FROM same s ORDER BY s.pages DESC, s.first LIMIT $2::bigint
)
SELECT w.total, p.url, w.title AS value,
       (SELECT array_agg(q.url ORDER BY q.id) FROM pages q WHERE q.id = ANY (w.page_ids[2 : LEAST(COALESCE($3::bigint, w.pages), w.pages)::int + 1])) AS others,
       w.pages - 1 AS others_total
FROM shown w JOIN pages p ON p.id = w.first
ORDER BY w.pages DESC, w.first;

-- name: duplicate_descriptions
-- Returns descriptions that several pages have, the most frequent first; pages that name another one as canonical do not
-- count.
WITH same AS (
    SELECT v.description, min(v.page_id) AS first, array_agg(v.page_id ORDER BY v.page_id) AS page_ids, count(*) AS pages
    FROM page_visits v
    WHERE v.domain_id = $1 AND v.is_ok AND v.is_html AND NOT v.is_noindex AND v.canonical_url IS NULL AND v.duplicate_of IS NULL
      AND v.description <> ''
    GROUP BY v.description HAVING count(*) > 1
), shown AS (
    SELECT s.*, count(*) OVER () AS total FROM same s ORDER BY s.pages DESC, s.first LIMIT $2::bigint
)
SELECT w.total, p.url, w.description AS value,
       (SELECT array_agg(q.url ORDER BY q.id) FROM pages q WHERE q.id = ANY (w.page_ids[2 : LEAST(COALESCE($3::bigint, w.pages), w.pages)::int + 1])) AS others,
       w.pages - 1 AS others_total
FROM shown w JOIN pages p ON p.id = w.first
ORDER BY w.pages DESC, w.first;

-- name: long_titles
-- Returns pages whose title is longer than $3 characters, the longest first.
SELECT count(*) OVER () AS total, v.url, length(v.title)::text || ' characters: ' || v.title AS value, NULL::text[] AS others,
       0::bigint AS others_total
FROM page_visits v
WHERE v.domain_id = $1 AND v.is_ok AND v.is_html AND NOT v.is_noindex AND length(v.title) > $3::bigint
ORDER BY length(v.title) DESC, v.page_id LIMIT $2::bigint;

-- name: canonical_conflicts
-- Returns pages whose canonical URL is not what it should be: a page of this site that can be had, may be indexed, and
-- is its own canonical.
WITH named AS MATERIALIZED (
    SELECT v.page_id, v.url, v.canonical_url,
           regexp_replace(lower(substring(v.canonical_url FROM '^https?://([^/?#]+)')), '^www\.|:(?:80|443)$', '', 'g') AS host, c.page_id AS known,
           c.outcome, c.status_code, c.is_ok, c.is_redirect, c.is_broken, c.is_noindex, c.canonical_url AS next
    FROM page_visits v
    LEFT JOIN page_visits c ON c.page_id = (
        SELECT q.id FROM pages q WHERE q.domain_id = $1 AND q.url_hash = substring(sha256(convert_to(v.canonical_url, 'UTF8')) FROM 1 FOR 16))
    WHERE v.domain_id = $1 AND v.is_ok AND v.canonical_url IS NOT NULL
), found AS (
    SELECT n.page_id, n.url, n.canonical_url,
           CASE WHEN n.known IS NULL AND n.host <> (SELECT d.name FROM domains d WHERE d.id = $1) THEN 'another host'
                WHEN n.is_broken THEN 'an error: ' || COALESCE(n.status_code::text, n.outcome::text)
                WHEN n.is_redirect THEN 'a redirect'
                WHEN n.outcome = 'blocked_robots' THEN 'forbidden by robots.txt'
                WHEN n.is_noindex THEN 'a page with noindex'
                WHEN n.next IS NOT NULL THEN 'a page with another canonical'
                WHEN n.known IS NULL OR n.outcome IS NULL THEN 'never visited' END AS value
    FROM named n
)
SELECT count(*) OVER () AS total, f.url, f.value, ARRAY[f.canonical_url] AS others, 1::bigint AS others_total
FROM found f WHERE f.value IS NOT NULL ORDER BY f.value, f.page_id LIMIT $2::bigint;

-- name: orphans
-- Returns pages that a sitemap lists and no page of the site links to.
WITH listed AS MATERIALIZED (
    SELECT DISTINCT e.page FROM sitemaps s JOIN page_link_lists l ON l.from_page_id = s.page_id CROSS JOIN LATERAL unnest(l.to_page_ids) AS e (page)
    WHERE s.site_id = $1 AND s.format IN ('sitemap', 'text')
), linked AS MATERIALIZED (
    SELECT DISTINCT e.page FROM pages g JOIN page_link_lists l ON l.from_page_id = g.id CROSS JOIN LATERAL unnest(l.to_page_ids) AS e (page)
    WHERE g.domain_id = $1 AND NOT g.is_sitemap AND EXISTS (SELECT FROM listed)
)
SELECT count(*) OVER () AS total, p.url, p.title AS value, NULL::text[] AS others, 0::bigint AS others_total
FROM listed i JOIN pages p ON p.id = i.page AND p.domain_id = $1 AND NOT p.is_sitemap AND NOT p.is_image AND NOT p.is_seed
WHERE NOT EXISTS (SELECT FROM linked k WHERE k.page = i.page)
ORDER BY p.id LIMIT $2::bigint;

-- name: not_in_sitemap
-- Returns pages that may be indexed and that no sitemap of the site lists, if it has one.
WITH listed AS MATERIALIZED (
    SELECT DISTINCT e.page FROM sitemaps s JOIN page_link_lists l ON l.from_page_id = s.page_id CROSS JOIN LATERAL unnest(l.to_page_ids) AS e (page)
    WHERE s.site_id = $1 AND s.format IN ('sitemap', 'text')
)
SELECT count(*) OVER () AS total, v.url, v.title AS value, NULL::text[] AS others, 0::bigint AS others_total
FROM page_visits v
WHERE v.domain_id = $1 AND v.is_ok AND v.is_html AND NOT v.is_noindex AND v.canonical_url IS NULL AND v.duplicate_of IS NULL
  AND EXISTS (SELECT FROM listed) AND NOT EXISTS (SELECT FROM listed i WHERE i.page = v.page_id)
ORDER BY v.page_id LIMIT $2::bigint;

-- name: wrong_in_sitemap
-- Returns pages that a sitemap lists although they cannot be indexed: errors, redirects, forbidden, or with noindex.
WITH listed AS MATERIALIZED (
    SELECT DISTINCT e.page FROM sitemaps s JOIN page_link_lists l ON l.from_page_id = s.page_id CROSS JOIN LATERAL unnest(l.to_page_ids) AS e (page)
    WHERE s.site_id = $1 AND s.format IN ('sitemap', 'text')
), found AS (
    SELECT v.page_id, v.url,
           CASE WHEN v.is_broken THEN 'an error: ' || COALESCE(v.status_code::text, v.outcome::text)
                WHEN v.is_redirect THEN 'a redirect' WHEN v.outcome = 'blocked_robots' THEN 'forbidden by robots.txt'
                WHEN v.is_noindex THEN 'noindex' WHEN v.canonical_url IS NOT NULL THEN 'another canonical' END AS value
    FROM listed i JOIN page_visits v ON v.page_id = i.page WHERE v.domain_id = $1
)
SELECT count(*) OVER () AS total, f.url, f.value, NULL::text[] AS others, 0::bigint AS others_total
FROM found f WHERE f.value IS NOT NULL ORDER BY f.value, f.page_id LIMIT $2::bigint;

-- name: linked_forbidden
-- Returns pages that are linked and that robots.txt forbids, most linked first, with the pages that link to them.
WITH counted AS MATERIALIZED (
    SELECT v.page_id, v.url, k.links
    FROM page_visits v
    CROSS JOIN LATERAL (
        SELECT count(*) AS links FROM page_link_lists l
        WHERE l.to_page_ids @> ARRAY[v.page_id] AND NOT EXISTS (SELECT FROM sitemaps s WHERE s.page_id = l.from_page_id)) k
    WHERE v.domain_id = $1 AND v.outcome = 'blocked_robots' AND k.links > 0
), shown AS (
    SELECT c.*, count(*) OVER () AS total FROM counted c ORDER BY c.links DESC, c.page_id LIMIT $2::bigint
)
SELECT w.total, w.url, NULL::text AS value, k.others, w.links AS others_total
FROM shown w
CROSS JOIN LATERAL (
    WITH found AS MATERIALIZED (
        SELECT l.from_page_id FROM page_link_lists l
        WHERE l.to_page_ids @> ARRAY[w.page_id] AND NOT EXISTS (SELECT FROM sitemaps s WHERE s.page_id = l.from_page_id)
    ), first AS (SELECT from_page_id FROM found ORDER BY from_page_id LIMIT $3::bigint)
    SELECT array_agg(f.url ORDER BY f.id) AS others FROM first i JOIN pages f ON f.id = i.from_page_id) k
ORDER BY w.links DESC, w.page_id;

-- name: noindex_from_home
-- Returns pages with noindex that the home page or a seed links to.
WITH linked AS MATERIALIZED (
    SELECT DISTINCT ON (e.page) e.page, h.url AS home
    FROM pages h JOIN page_link_lists l ON l.from_page_id = h.id CROSS JOIN LATERAL unnest(l.to_page_ids) AS e (page)
    WHERE h.domain_id = $1 AND NOT h.is_sitemap AND NOT h.is_image AND (h.is_seed OR h.url ~ '^https?://[^/]+/$')
    ORDER BY e.page, h.id
)
SELECT count(*) OVER () AS total, v.url, v.title AS value, ARRAY[i.home] AS others, 1::bigint AS others_total
FROM linked i JOIN page_visits v ON v.page_id = i.page
WHERE v.domain_id = $1 AND v.is_ok AND v.is_noindex
ORDER BY v.page_id LIMIT $2::bigint;

-- name: missing_languages
-- Returns pages whose language neither the page says nor its text shows.
SELECT count(*) OVER () AS total, v.url, v.title AS value, NULL::text[] AS others, 0::bigint AS others_total
FROM page_visits v
WHERE v.domain_id = $1 AND v.is_ok AND v.is_html AND v.language IS NULL
ORDER BY v.page_id LIMIT $2::bigint;

-- name: near_duplicates
-- Returns groups of pages with nearly the same text, the largest first; pages that name another one as canonical do not
-- count.
WITH same AS (
    SELECT i.cluster_id, min(i.page_id) AS first, array_agg(i.page_id ORDER BY i.page_id) AS page_ids, count(*) AS pages
    FROM indexed_pages i JOIN pages p ON p.id = i.page_id
    WHERE i.domain_id = $1 AND i.cluster_id IS NOT NULL AND p.duplicate_of IS NULL AND p.canonical_url IS NULL
    GROUP BY i.cluster_id HAVING count(*) > 1
), shown AS (
    SELECT s.*, count(*) OVER () AS total FROM same s ORDER BY s.pages DESC, s.first LIMIT $2::bigint
)
SELECT w.total, p.url, w.pages::text || ' pages' AS value,
       (SELECT array_agg(q.url ORDER BY q.id) FROM pages q WHERE q.id = ANY (w.page_ids[2 : LEAST(COALESCE($3::bigint, w.pages), w.pages)::int + 1])) AS others,
       w.pages - 1 AS others_total
FROM shown w JOIN pages p ON p.id = w.first
ORDER BY w.pages DESC, w.first;

-- name: insecure_links
-- Returns http addresses that https pages of the site link to, most linked first, with these pages; those of other
-- sites only if links out of scope are stored.
WITH own AS (
    SELECT p.id, p.url FROM pages p WHERE p.domain_id = $1 AND p.url LIKE 'http://%' AND NOT p.is_image AND NOT p.is_sitemap
), links AS (
    SELECT o.url AS target, f.id, f.url
    FROM own o JOIN page_link_lists l ON l.to_page_ids @> ARRAY[o.id] JOIN pages f ON f.id = l.from_page_id
    WHERE f.domain_id = $1 AND f.url LIKE 'https://%' AND NOT f.is_sitemap AND l.rels IS DISTINCT FROM 'redirect'
    UNION ALL
    SELECT k.url, f.id, f.url
    FROM pages f JOIN external_link_lists e ON e.from_page_id = f.id CROSS JOIN LATERAL unnest(string_to_array(e.urls, E'\n')) AS k (url)
    WHERE f.domain_id = $1 AND f.url LIKE 'https://%' AND k.url LIKE 'http://%'
), same AS (
    SELECT l.target, count(*) AS links, array_agg(l.id ORDER BY l.id) AS page_ids FROM links l GROUP BY l.target
), shown AS (
    SELECT s.*, count(*) OVER () AS total FROM same s ORDER BY s.links DESC, s.target LIMIT $2::bigint
)
SELECT w.total, w.target AS url, NULL::text AS value,
       (SELECT array_agg(q.url ORDER BY q.id) FROM pages q WHERE q.id = ANY (w.page_ids[1 : LEAST(COALESCE($3::bigint, w.links), w.links)::int])) AS others,
       w.links AS others_total
FROM shown w
ORDER BY w.links DESC, w.target;

-- name: slow_pages
-- Returns pages whose server took longer than $3 milliseconds at the newest visit, the slowest first.
SELECT count(*) OVER () AS total, v.url, v.response_time_ms::text || ' ms' AS value, NULL::text[] AS others, 0::bigint AS others_total
FROM page_visits v
WHERE v.domain_id = $1 AND (v.is_ok OR v.is_redirect) AND v.response_time_ms > $3::bigint
ORDER BY v.response_time_ms DESC, v.page_id LIMIT $2::bigint;

-- name: heavy_pages
-- Returns pages of more than $3 bytes at the newest visit that brought a body, the largest first.
SELECT count(*) OVER () AS total, v.url, pg_size_pretty(b.bytes) AS value, NULL::text[] AS others, 0::bigint AS others_total
FROM page_visits v
CROSS JOIN LATERAL (
    SELECT t.bytes FROM crawl_tasks t WHERE t.page_id = v.page_id AND t.outcome = 'success' AND t.status_code <> 304 ORDER BY t.id DESC LIMIT 1) b
WHERE v.domain_id = $1 AND v.is_ok AND b.bytes > $3::bigint
ORDER BY b.bytes DESC, v.page_id LIMIT $2::bigint;

-- name: deep_pages
-- Returns pages that are more than $3 links away from the seeds, the farthest first.
SELECT count(*) OVER () AS total, v.url, v.depth::text || ' links deep' AS value, NULL::text[] AS others, 0::bigint AS others_total
FROM page_visits v
WHERE v.domain_id = $1 AND v.is_ok AND v.is_html AND v.depth > $3::bigint
ORDER BY v.depth DESC, v.page_id LIMIT $2::bigint;

-- name: compare_visits
-- Compares the newest visit of each page with the newest one until $2: what was found then and is not now, and the
-- reverse. Counts of each kind in all, and up to $3 pages of each.
WITH seen AS (
    SELECT v.page_id, v.url, v.outcome, v.status_code, v.error_code, v.is_broken, v.is_redirect, v.response_time_ms, v.bytes, v.is_ok,
           t.page_id IS NOT NULL AS was_visited, COALESCE(t.outcome IN ('failed', 'timeout', 'blocked_4xx', 'blocked_5xx'), false) AS was_broken,
           COALESCE(t.outcome = 'success' AND t.status_code BETWEEN 300 AND 399 AND t.status_code <> 304, false) AS was_redirect,
           t.outcome AS past_outcome, t.status_code AS past_code, t.error_code AS past_error, t.response_time_ms AS past_ms, t.bytes AS past_bytes
    FROM page_visits v
    LEFT JOIN LATERAL (
        SELECT c.* FROM crawl_tasks c
        WHERE c.page_id = v.page_id AND c.outcome IS NOT NULL AND c.outcome <> 'cancelled' AND c.completed_at <= $2::timestamptz
        ORDER BY c.id DESC LIMIT 1) t ON true
    WHERE v.domain_id = $1 AND v.outcome IS NOT NULL
), judged AS (
    SELECT s.page_id, s.url, s.was_visited, k.*
    FROM seen s
    CROSS JOIN LATERAL (VALUES
        ('broken', s.is_broken, s.was_broken, COALESCE(s.status_code::text, s.error_code, s.outcome::text), COALESCE(s.past_code::text, s.past_error, s.past_outcome::text)),
        ('redirects', s.is_redirect, s.was_redirect, s.status_code::text, s.past_code::text),
        ('forbidden', s.outcome = 'blocked_robots', COALESCE(s.past_outcome = 'blocked_robots', false), s.outcome::text, s.past_outcome::text),
        ('slow', COALESCE(s.response_time_ms > $4::bigint, false), COALESCE(s.past_ms > $4::bigint, false), s.response_time_ms || ' ms', s.past_ms || ' ms'),
        ('heavy', COALESCE(s.is_ok AND s.bytes > $5::bigint AND s.status_code <> 304, false),
         COALESCE(s.past_bytes > $5::bigint AND s.past_outcome = 'success' AND s.status_code <> 304 AND s.past_code <> 304, false),
         s.bytes || ' bytes', s.past_bytes || ' bytes')
    ) AS k (kind, is_now, was, value, past)
    WHERE k.is_now OR k.was
), ranked AS (
    SELECT j.kind, j.url, j.value, j.past, j.was_visited, CASE WHEN j.is_now AND j.was THEN 'still' WHEN j.is_now THEN 'new' ELSE 'fixed' END AS state,
           j.page_id
    FROM judged j
), numbered AS (
    SELECT r.*, count(*) OVER (PARTITION BY r.kind, r.state) AS total, row_number() OVER (PARTITION BY r.kind, r.state ORDER BY r.page_id) AS place
    FROM ranked r
)
SELECT n.kind, n.state, n.total, n.url, n.value, CASE WHEN n.was_visited THEN n.past END AS past
FROM numbered n
WHERE $3::bigint IS NULL OR n.place <= $3
ORDER BY n.kind, n.state, n.page_id;

-- name: pages_since
-- Returns what else happened to the pages of a site since $2, and since when its history goes back.
SELECT count(*) FILTER (WHERE p.discovered_at > $2::timestamptz) AS new_pages,
       count(*) FILTER (WHERE p.changed_at > $2::timestamptz) AS changed_pages,
       (SELECT min(t.completed_at) FROM crawl_tasks t WHERE t.domain_id = $1 AND t.outcome IS NOT NULL) AS first_visit_at
FROM pages p
WHERE p.domain_id = $1 AND NOT p.is_image AND NOT p.is_sitemap;
