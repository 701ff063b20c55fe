-- The link graph as operators see it. Read only.

-- name: links_from
-- Returns the links of one page, in page order, each with the status of its target. $2: only those after this
-- position.
SELECT t.id AS page_id, t.url, d.name AS domain, e.anchor, e.rel, e.position, t.status::text AS status, v.status_code, t.title
FROM page_link_lists l
CROSS JOIN LATERAL ROWS FROM (
    unnest(l.to_page_ids), unnest(string_to_array(l.rels, ',')), unnest(string_to_array(l.anchors, E'\x1f')))
    WITH ORDINALITY AS k (to_page_id, rel, anchor, position)
CROSS JOIN LATERAL (SELECT COALESCE(k.rel, 'a') AS rel, COALESCE(k.anchor, '') AS anchor, (k.position - 1)::integer AS position) e
JOIN pages t ON t.id = k.to_page_id
JOIN domains d ON d.id = t.domain_id
LEFT JOIN LATERAL (
    SELECT c.status_code FROM crawl_tasks c WHERE c.page_id = t.id AND c.outcome IS NOT NULL ORDER BY c.id DESC LIMIT 1) v ON true
WHERE l.from_page_id = $1 AND ($2::bigint IS NULL OR k.position - 1 > $2)
ORDER BY k.position
LIMIT $3::bigint;

-- name: count_links_from
-- Counts the stored links of one page.
SELECT cardinality(l.to_page_ids) FROM page_link_lists l WHERE l.from_page_id = $1;

-- name: external_links_from
-- Returns the stored links of one page that are out of scope, in page order.
SELECT k.url, COALESCE(k.anchor, '') AS anchor, COALESCE(k.rel, 'a') AS rel, (k.position - 1)::integer AS position
FROM external_link_lists l
CROSS JOIN LATERAL ROWS FROM (
    unnest(string_to_array(l.urls, E'\n')), unnest(string_to_array(l.rels, ',')), unnest(string_to_array(l.anchors, E'\x1f')))
    WITH ORDINALITY AS k (url, rel, anchor, position)
WHERE l.from_page_id = $1
ORDER BY k.position
LIMIT $2::bigint;

-- name: links_to
-- Returns how many pages link to one, of how many domains they are, and some of them, those known longest first;
-- $2: only those after this page. One row without a page if none is shown. All that the index finds are counted and
-- sorted in one pass; otherwise the planner might scan the table in that order. Only the lists that are shown are
-- read.
WITH found AS MATERIALIZED (
    SELECT k.from_page_id, k.domain_id FROM page_link_lists k WHERE k.to_page_ids @> ARRAY[$1::bigint]
), total AS (
    SELECT count(*) AS pages, count(DISTINCT domain_id) AS domains FROM found
), shown AS (
    SELECT from_page_id FROM found WHERE $2::bigint IS NULL OR from_page_id > $2 ORDER BY from_page_id LIMIT $3::bigint
), links AS (
    SELECT f.id AS page_id, f.url, d.name AS domain, COALESCE(split_part(l.anchors, E'\x1f', e.place), '') AS anchor,
           COALESCE(split_part(l.rels, ',', e.place), 'a') AS rel, e.place - 1 AS position, f.status::text AS status, v.status_code, f.title
    FROM shown s
    JOIN page_link_lists l ON l.from_page_id = s.from_page_id
    CROSS JOIN LATERAL (SELECT array_position(l.to_page_ids, $1::bigint) AS place) e
    JOIN pages f ON f.id = l.from_page_id
    JOIN domains d ON d.id = f.domain_id
    LEFT JOIN LATERAL (
        SELECT c.status_code FROM crawl_tasks c WHERE c.page_id = f.id AND c.outcome IS NOT NULL ORDER BY c.id DESC LIMIT 1) v ON true
)
SELECT t.pages, t.domains, k.* FROM total t LEFT JOIN links k ON true ORDER BY k.page_id;

-- name: no_time_limit
-- Disables the statement timeout until the transaction ends: the caller can cancel the statement.
SELECT set_config('statement_timeout', '0', true);

-- name: top_linked
-- Returns the pages that most pages link to: one pass over all lists, counted as they come; what does not fit into
-- memory spills to disk.
WITH best AS MATERIALIZED (
    SELECT k.to_page_id, count(*) AS links
    FROM page_link_lists l CROSS JOIN LATERAL unnest(l.to_page_ids) AS k (to_page_id)
    GROUP BY k.to_page_id
    ORDER BY links DESC, k.to_page_id
    LIMIT $1::bigint
)
SELECT b.links, p.url, d.name AS domain, p.status::text AS status, p.depth, p.title
FROM best b
JOIN pages p ON p.id = b.to_page_id
JOIN domains d ON d.id = p.domain_id
ORDER BY b.links DESC, p.id;

-- name: top_linked_of
-- Returns the pages of one domain that most pages link to, from any domain: each of its pages is looked up in the
-- index.
WITH best AS MATERIALIZED (
    SELECT p.id, k.links
    FROM pages p
    CROSS JOIN LATERAL (SELECT count(*) AS links FROM page_link_lists l WHERE l.to_page_ids @> ARRAY[p.id]) k
    WHERE p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $1) AND NOT p.is_image AND NOT p.is_sitemap AND k.links > 0
    ORDER BY k.links DESC, p.id
    LIMIT $2::bigint
)
SELECT b.links, p.url, $1::text AS domain, p.status::text AS status, p.depth, p.title
FROM best b
JOIN pages p ON p.id = b.id
ORDER BY b.links DESC, p.id;
