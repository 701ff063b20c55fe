-- Merges the pages of domains that are merged.

-- name: pages_known_twice
-- Returns pages that several of these domains know: the one that stays (the oldest) and the one whose state is kept
-- (visited last, else waiting).
WITH same AS (
    SELECT p.id, p.url_hash, p.discovered_at, count(*) OVER (PARTITION BY p.url_hash) AS times
    FROM pages p WHERE p.domain_id = ANY ($1::bigint[])
)
SELECT s.id AS page,
       first_value(s.id) OVER (PARTITION BY s.url_hash ORDER BY s.discovered_at, s.id) AS stays,
       first_value(s.id) OVER (PARTITION BY s.url_hash ORDER BY t.latest DESC NULLS LAST, t.is_open DESC, s.discovered_at, s.id) AS speaks
FROM same s
CROSS JOIN LATERAL (
    SELECT max(c.id) FILTER (WHERE c.outcome IS NOT NULL) AS latest, COALESCE(bool_or(c.outcome IS NULL), false) AS is_open
    FROM crawl_tasks c WHERE c.page_id = s.id) t
WHERE s.times > 1;

-- name: drop_spare_tasks
-- Deletes open tasks of pages whose duplicate's state is kept.
DELETE FROM crawl_tasks WHERE outcome IS NULL AND page_id = ANY ($1::bigint[]);

-- name: drop_spare_links
-- Deletes links of pages whose duplicate's state is kept.
DELETE FROM page_link_lists WHERE from_page_id = ANY ($1::bigint[]);

-- name: drop_spare_details
-- Deletes details of pages whose duplicate's state is kept.
DELETE FROM page_details WHERE page_id = ANY ($1::bigint[]);

-- name: merge_pages
-- Merges duplicates into the page that stays: state and signals of the one whose state is kept, the sums of all.
UPDATE pages s
SET status = CASE WHEN v.trap_id IS NULL THEN v.status ELSE 'discovered' END, fetched_at = v.fetched_at, failed_at = v.failed_at, title = v.title, description = v.description,
    language = v.language, keywords_tsv = v.keywords_tsv, content_hash = v.content_hash, content_type = v.content_type,
    links_count = v.links_count, etag = v.etag, last_modified = v.last_modified, canonical_url = v.canonical_url, author = v.author,
    published_at = v.published_at, modified_at = v.modified_at, flags = v.flags,
    is_seed = m.is_seed, is_sitemap = m.is_sitemap, depth = m.depth, priority = m.priority, redirects = m.redirects, discovered_at = m.discovered_at,
    revisit_every_s = m.revisit_every_s, comparisons = m.comparisons, changes = m.changes, watched_s = m.watched_s,
    changed_at = m.changed_at, simhash = v.simhash, trap_id = NULL, duplicate_of = NULL
FROM (
    SELECT n.stays, n.speaks, bool_or(p.is_seed) AS is_seed, bool_and(p.is_sitemap) AS is_sitemap, min(p.depth) AS depth, min(p.priority) AS priority,
           min(p.redirects) AS redirects, min(p.discovered_at) AS discovered_at, min(p.revisit_every_s) AS revisit_every_s,
           sum(p.comparisons) AS comparisons, sum(p.changes) AS changes, sum(p.watched_s) AS watched_s, max(p.changed_at) AS changed_at
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS n (page, stays, speaks) JOIN pages p ON p.id = n.page
    GROUP BY n.stays, n.speaks
) m
JOIN pages v ON v.id = m.speaks
WHERE s.id = m.stays;

-- name: move_links_from
-- Moves links from the page whose state is kept to the page that stays.
UPDATE page_link_lists l SET from_page_id = n.stays
FROM unnest($1::bigint[], $2::bigint[]) AS n (page, stays) WHERE l.from_page_id = n.page;

-- name: move_details
-- Moves details from the page whose state is kept to the page that stays.
UPDATE page_details d SET page_id = n.stays
FROM unnest($1::bigint[], $2::bigint[]) AS n (page, stays) WHERE d.page_id = n.page;

-- name: move_links_to
-- Redirects links to a deleted page to the page that stays.
UPDATE page_link_lists l
SET to_page_ids = (SELECT array_agg(COALESCE(n.stays, e.page) ORDER BY e.position)
                   FROM unnest(l.to_page_ids) WITH ORDINALITY AS e (page, position)
                   LEFT JOIN unnest($1::bigint[], $2::bigint[]) AS n (page, stays) ON n.page = e.page)
WHERE l.to_page_ids && $1::bigint[];

-- name: move_tasks
-- Moves the visits of a deleted page to the page that stays.
UPDATE crawl_tasks t SET page_id = n.stays
FROM unnest($1::bigint[], $2::bigint[]) AS n (page, stays) WHERE t.page_id = n.page;

-- name: remove_pages
-- Deletes pages whose duplicate stays.
DELETE FROM pages WHERE id = ANY ($1::bigint[]);

-- name: move_pages
-- Moves all pages of some domains to another, with their tasks and links. Pages that a trap excluded wait until they
-- are checked there.
WITH moved AS (
    UPDATE pages SET domain_id = $1, status = CASE WHEN trap_id IS NULL THEN status ELSE 'discovered' END, trap_id = NULL
    WHERE domain_id = ANY ($2::bigint[]) RETURNING id
)
SELECT count(*)::int FROM moved;

-- name: follow_pages
-- Moves tasks to the domain of their page.
UPDATE crawl_tasks t SET domain_id = $1 FROM pages p WHERE p.domain_id = $1 AND t.page_id = p.id AND t.domain_id <> $1;

-- name: links_follow_pages
-- Moves links to the domain of their source page.
UPDATE page_link_lists l SET domain_id = $1 FROM pages p WHERE p.domain_id = $1 AND l.from_page_id = p.id AND l.domain_id <> $1;

-- name: sitemaps_follow_pages
-- Assigns the sitemaps of some domains to another.
UPDATE sitemaps SET site_id = $1 WHERE site_id = ANY ($2::bigint[]);

-- name: let_history_move
-- Permits visits to be moved to another page or domain, for the rest of the transaction or until it is forbidden again.
SELECT set_config('forager.purge', $1, true);
