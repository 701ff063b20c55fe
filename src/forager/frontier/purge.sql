-- Permanently deletes pages and history for an operator.

-- name: find_pages
-- Returns pages of a domain whose URL contains a text, or all pages, after an id, up to a limit.
SELECT p.id FROM pages p WHERE p.domain_id = $1 AND p.id > $2 AND ($3::text IS NULL OR position($3 IN p.url) > 0) ORDER BY p.id LIMIT $4;

-- name: count_pages
-- Counts what a purge of these pages would delete.
SELECT count(*) AS pages,
       COALESCE(sum((SELECT count(*) FROM crawl_tasks t WHERE t.page_id = p.id)), 0)::bigint AS tasks,
       COALESCE(sum((SELECT cardinality(l.to_page_ids) FROM page_link_lists l WHERE l.from_page_id = p.id)), 0)::bigint AS links,
       (SELECT count(*) FROM products g JOIN pages q ON q.id = g.page_id
        WHERE q.domain_id = $1 AND ($2::text IS NULL OR position($2 IN q.url) > 0)) AS products
FROM pages p WHERE p.domain_id = $1 AND ($2::text IS NULL OR position($2 IN p.url) > 0);

-- name: has_history
-- Returns whether a domain has a recorded visit.
SELECT EXISTS (SELECT FROM crawl_tasks t JOIN domains d ON d.id = t.domain_id WHERE d.name = $1 AND t.outcome IS NOT NULL);

-- name: allow
-- Permits the deletion of closed tasks for the rest of the transaction.
SELECT set_config('forager.purge', 'on', true);

-- name: bodies_of_pages
-- Returns the stored bodies that visits to these pages refer to.
SELECT DISTINCT split_part(t.body_ref, ':', 2) AS name FROM crawl_tasks t WHERE t.page_id = ANY ($1::bigint[]) AND t.body_ref NOT LIKE 'warc:%';

-- name: let_dependents_go
-- Removes the dependencies of other pages' tasks on tasks of these pages; they stay paused until an operator resumes
-- them. Returns their number.
WITH left_alone AS (
    UPDATE crawl_tasks w SET is_waiting = false, depends_on = NULL
    FROM crawl_tasks t
    WHERE t.page_id = ANY ($1::bigint[]) AND w.depends_on = t.id AND w.outcome IS NULL AND w.page_id <> ALL ($1)
    RETURNING w.id
)
SELECT count(*)::int FROM left_alone;

-- name: tasks_of_pages
-- Returns the tasks of these pages.
SELECT id FROM crawl_tasks WHERE page_id = ANY ($1::bigint[]);

-- name: take_tasks
-- Deletes these tasks, with their stack traces and webhook calls; saves the counts of closed ones. Returns the numbers
-- of closed and open ones.
WITH gone AS (
    DELETE FROM crawl_tasks t USING pages p WHERE t.id = ANY ($1::bigint[]) AND p.id = t.page_id
    RETURNING t.id, t.domain_id, t.run_id, t.outcome, t.blame, t.status_code, p.is_image, p.is_sitemap
), traces AS (
    DELETE FROM errors e USING gone g WHERE e.task_id = g.id
), calls AS (
    DELETE FROM webhook_calls c USING gone g WHERE c.task_id = g.id
), told AS (
    INSERT INTO archived_rows AS d (domain_id, run_id, outcome, is_image, is_sitemap, tasks, errors, refused)
    SELECT g.domain_id, g.run_id, g.outcome, g.is_image, g.is_sitemap, count(*), count(*) FILTER (WHERE g.blame IN ('site', 'network')),
           count(*) FILTER (WHERE g.status_code >= 400)
    FROM gone g WHERE g.outcome IS NOT NULL GROUP BY g.domain_id, g.run_id, g.outcome, g.is_image, g.is_sitemap ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (domain_id, run_id, outcome, is_image, is_sitemap) DO UPDATE
    SET tasks = d.tasks + EXCLUDED.tasks, errors = d.errors + EXCLUDED.errors, refused = d.refused + EXCLUDED.refused
)
SELECT count(outcome)::int AS closed, count(*) FILTER (WHERE outcome IS NULL)::int AS open FROM gone;

-- name: unlink
-- Removes links from other pages to these: shortens their lists, and lowers their link counts.
WITH kept AS (
    SELECT l.from_page_id, array_agg(l.to_page_id ORDER BY l.position) AS to_page_ids, string_agg(l.rel, ',' ORDER BY l.position) AS rels,
           string_agg(l.anchor, E'\x1f' ORDER BY l.position) AS anchors
    FROM page_links l
    WHERE l.from_page_id IN (SELECT k.from_page_id FROM page_link_lists k WHERE k.to_page_ids && $1::bigint[] AND k.from_page_id <> ALL ($1))
      AND l.to_page_id <> ALL ($1)
    GROUP BY l.from_page_id
), emptied AS (
    DELETE FROM page_link_lists l
    WHERE l.to_page_ids && $1 AND (l.from_page_id = ANY ($1) OR NOT EXISTS (SELECT FROM kept k WHERE k.from_page_id = l.from_page_id))
    RETURNING l.from_page_id
), shortened AS (
    UPDATE page_link_lists l
    SET to_page_ids = k.to_page_ids, rels = CASE WHEN l.rels IS NULL THEN NULL ELSE k.rels END, anchors = k.anchors
    FROM kept k WHERE l.from_page_id = k.from_page_id RETURNING l.from_page_id, cardinality(k.to_page_ids) AS links
), counted AS (
    UPDATE pages p SET links_count = c.links
    FROM (SELECT from_page_id, links FROM shortened UNION ALL SELECT from_page_id, 0 FROM emptied) c
    WHERE p.id = c.from_page_id AND p.id <> ALL ($1) RETURNING p.id
)
SELECT count(*)::int FROM counted;

-- name: drop_links
-- Deletes the links of these pages.
DELETE FROM page_link_lists WHERE from_page_id = ANY ($1::bigint[]);

-- name: drop_pages
-- Deletes the pages, with their products and search data. Returns how many were known, and how many waited for a visit.
WITH gone AS (DELETE FROM pages WHERE id = ANY ($1::bigint[]) RETURNING is_image OR is_sitemap AS is_file, status)
SELECT count(*) FILTER (WHERE NOT is_file)::int AS known, count(*) FILTER (WHERE status IN ('discovered', 'queued'))::int AS waiting FROM gone;

-- name: count_history
-- Counts closed tasks, of one domain or all, that ended before a moment and are followed by a newer visit.
SELECT count(*)::bigint FROM crawl_tasks t
WHERE t.outcome IS NOT NULL AND t.completed_at < $1 AND ($2::bigint IS NULL OR t.domain_id = $2)
  AND EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id AND n.outcome <> 'cancelled')
  AND NOT EXISTS (SELECT FROM crawl_tasks n WHERE n.depends_on = t.id AND n.outcome IS NULL);

-- name: find_history
-- Returns these tasks after an id, in id order, up to a limit.
SELECT t.id FROM crawl_tasks t
WHERE t.outcome IS NOT NULL AND t.completed_at < $1 AND ($2::bigint IS NULL OR t.domain_id = $2) AND t.id > $3
  AND EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id AND n.outcome <> 'cancelled')
  AND NOT EXISTS (SELECT FROM crawl_tasks n WHERE n.depends_on = t.id AND n.outcome IS NULL)
ORDER BY t.id LIMIT $4
FOR UPDATE;
