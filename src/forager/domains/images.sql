-- Domain updates caused by images: for the domains they are fetched from, and for those whose pages show them.

-- name: add_image_hosts
-- Adds domains discovered because another domain has images or sitemaps ($5) there; in name order, so that workers do not deadlock.
INSERT INTO domains (name, parent_domain, base_url, source, run_id, round, images_only)
SELECT n.name, n.parent_domain, n.base_url, $5, $4, COALESCE((SELECT round + 1 FROM runs WHERE id = $4), 0), true
FROM unnest($1::text[], $2::text[], $3::text[]) AS n (name, parent_domain, base_url)
WHERE NOT EXISTS (SELECT FROM denied_domains x WHERE x.name = n.name)
ORDER BY n.name
ON CONFLICT (name) DO NOTHING;

-- name: count_waiting
-- Adds images or sitemaps to fetch to the frontiers of these domains; they do not count as pages. A domain of another run, or of none, is taken for
-- them only; without a run ($3), it stays where it is. In id order, after all inserts.
WITH more AS MATERIALIZED (
    SELECT d.id, n.images FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, images) JOIN domains d ON d.id = n.domain_id
    ORDER BY d.id FOR NO KEY UPDATE OF d
)
UPDATE domains d
SET frontier_size = d.frontier_size + more.images, ready_at = LEAST(COALESCE(d.ready_at, now()), now()),
    status = CASE d.status WHEN 'exhausted' THEN 'active' ELSE d.status END,
    run_pages = CASE WHEN d.claimed_by IS NULL AND d.run_id IS DISTINCT FROM COALESCE($3, d.run_id) THEN 0 ELSE d.run_pages END,
    images_only = CASE WHEN d.claimed_by IS NULL AND d.run_id IS DISTINCT FROM COALESCE($3, d.run_id) THEN true ELSE d.images_only END,
    run_id = CASE WHEN d.claimed_by IS NULL THEN COALESCE($3, d.run_id) ELSE d.run_id END
FROM more WHERE d.id = more.id;

-- name: hold_showing
-- Locks domains whose pages are about to be recorded with other images until the transaction ends, in id order.
SELECT id FROM domains WHERE id = ANY ($1::bigint[]) ORDER BY id FOR NO KEY UPDATE;

-- name: count_found
-- Counts images that pages of these domains show for the first time. The caller has locked the domains.
UPDATE domains d SET images_found = d.images_found + n.images FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, images) WHERE d.id = n.domain_id;

-- name: mark_image_backfill
-- Marks domains whose pages show images that were never requested. The caller has locked the domains; usually the mark is already set.
UPDATE domains SET images_owed_after = 0 WHERE id = ANY ($1::bigint[]) AND images_owed_after IS DISTINCT FROM 0;

-- name: next_image_backfill
-- Returns a domain that needs an image backfill and now wants images, by its own setting or, without one, by $1; optionally of one run
-- or with one name; with an id of at least $4.
SELECT id, name, run_id, images_owed_after FROM (
    (SELECT id, name, run_id, images_owed_after FROM domains
     WHERE images_owed_after IS NOT NULL AND images_policy = 'download'
       AND ($2::bigint IS NULL OR run_id = $2) AND ($3::text IS NULL OR name = $3) AND id >= $4
     ORDER BY id LIMIT 1)
    UNION ALL
    (SELECT id, name, run_id, images_owed_after FROM domains
     WHERE images_owed_after IS NOT NULL AND images_policy IS NULL AND $1::boolean
       AND ($2::bigint IS NULL OR run_id = $2) AND ($3::text IS NULL OR name = $3) AND id >= $4
     ORDER BY id LIMIT 1)) o
ORDER BY id LIMIT 1;

-- name: update_image_backfill
-- Stores up to which page the images are in the frontier; NULL: all are. Does not overwrite a value that another process changed since.
UPDATE domains SET images_owed_after = $3 WHERE id = $1 AND images_owed_after = $2;

-- name: count_stored
-- Counts images stored for the first time, for the domains whose pages showed them first; in id order.
WITH more AS MATERIALIZED (
    SELECT d.id, n.images FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, images) JOIN domains d ON d.id = n.domain_id
    ORDER BY d.id FOR NO KEY UPDATE OF d
)
UPDATE domains d SET images_stored = d.images_stored + more.images FROM more WHERE d.id = more.id;

-- name: count_converted
-- Counts images of these domains that turned out to be pages: as discovered, as waiting if reopened, and their past visits. The caller
-- has locked the domains.
UPDATE domains d
SET pages_discovered = d.pages_discovered + n.pages, frontier_size = d.frontier_size + n.waiting, pages_crawled = d.pages_crawled + n.good,
    total_error_count = d.total_error_count + n.bad, ready_at = LEAST(COALESCE(d.ready_at, now()), now()),
    status = CASE WHEN d.status = 'exhausted' AND n.waiting > 0 THEN 'active' ELSE d.status END
FROM unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::int[]) AS n (domain_id, pages, waiting, good, bad)
WHERE d.id = n.domain_id;
