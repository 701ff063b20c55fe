-- What images do to domains: those they are fetched from, and those whose pages show them.

-- name: add_image_hosts
-- Domains met for the first time because a page of another shows an image of theirs, in name order so that workers do not deadlock.
INSERT INTO domains (name, parent_domain, base_url, source, run_id, round, images_only)
SELECT n.name, n.parent_domain, n.base_url, 'image', $4, COALESCE((SELECT round + 1 FROM runs WHERE id = $4), 0), true
FROM unnest($1::text[], $2::text[], $3::text[]) AS n (name, parent_domain, base_url)
ORDER BY n.name
ON CONFLICT (name) DO NOTHING;

-- name: count_waiting
-- Images of these domains that are to be fetched: they are in the frontier and no pages. A domain that another run has, or none, is
-- taken for its images only. In id order, after all are inserted.
WITH more AS MATERIALIZED (
    SELECT d.id, n.images FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, images) JOIN domains d ON d.id = n.domain_id
    ORDER BY d.id FOR NO KEY UPDATE OF d
)
UPDATE domains d
SET frontier_size = d.frontier_size + more.images, ready_at = LEAST(COALESCE(d.ready_at, now()), now()),
    status = CASE d.status WHEN 'exhausted' THEN 'active' ELSE d.status END,
    run_pages = CASE WHEN d.claimed_by IS NULL AND d.run_id IS DISTINCT FROM $3 THEN 0 ELSE d.run_pages END,
    images_only = CASE WHEN d.claimed_by IS NULL AND d.run_id IS DISTINCT FROM $3 THEN true ELSE d.images_only END,
    run_id = CASE WHEN d.claimed_by IS NULL THEN $3 ELSE d.run_id END
FROM more WHERE d.id = more.id;

-- name: count_stored
-- Images that were stored for the first time, for the domains whose pages showed them first; in id order.
WITH more AS MATERIALIZED (
    SELECT d.id, n.images FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, images) JOIN domains d ON d.id = n.domain_id
    ORDER BY d.id FOR NO KEY UPDATE OF d
)
UPDATE domains d SET images_stored = d.images_stored + more.images FROM more WHERE d.id = more.id;

-- name: count_turned
-- Images of these domains that became pages: known, perhaps waiting again, and what their visits were counts now. The domains are held.
UPDATE domains d
SET pages_discovered = d.pages_discovered + n.pages, frontier_size = d.frontier_size + n.waiting, pages_crawled = d.pages_crawled + n.good,
    total_error_count = d.total_error_count + n.bad, ready_at = LEAST(COALESCE(d.ready_at, now()), now()),
    status = CASE WHEN d.status = 'exhausted' AND n.waiting > 0 THEN 'active' ELSE d.status END
FROM unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::int[]) AS n (domain_id, pages, waiting, good, bad)
WHERE d.id = n.domain_id;
