-- What orders for tasks do to their domains.

-- name: hold_domains
-- Their rows stay locked until the transaction ends, in id order, as workers lock them.
SELECT d.id FROM domains d WHERE d.id = ANY ($1::bigint[]) ORDER BY d.id FOR NO KEY UPDATE OF d;

-- name: lose_pages
-- Pages whose visits were cancelled: they wait no longer.
UPDATE domains d SET frontier_size = d.frontier_size - n.pages FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id;

-- name: expect_visits
-- Domains whose tasks wait for a worker from a moment on, and so many pages more in their frontier. One that is exhausted goes on if
-- that is now, or if its frontier grows; else it rests until then.
UPDATE domains d
SET frontier_size = d.frontier_size + n.pages,
    status = CASE WHEN d.status = 'exhausted' AND (n.pages > 0 OR n.first_at <= now()) THEN 'active' ELSE d.status END,
    next_crawl_after = CASE WHEN d.status = 'exhausted' AND n.pages = 0 AND n.first_at > now()
                            THEN LEAST(d.next_crawl_after, n.first_at) ELSE d.next_crawl_after END,
    ready_at = LEAST(COALESCE(d.ready_at, n.first_at), n.first_at)
FROM unnest($1::bigint[], $2::int[], $3::timestamptz[]) AS n (domain_id, pages, first_at)
WHERE d.id = n.domain_id;

-- name: grow_frontiers
-- Pages that wait for something else before they can be visited.
UPDATE domains d SET frontier_size = d.frontier_size + n.pages, status = CASE d.status WHEN 'exhausted' THEN 'active' ELSE d.status END
FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id AND n.pages > 0;

-- name: switched_off
-- Of the domains a worker holds, those an operator paused meanwhile, those whose settings were changed (handed back and claimed again,
-- they are crawled as the operator wants it now), those another run took, and those a purge fences off: they are handed over.
SELECT d.id, d.version FROM domains d
WHERE d.claimed_by = $1 AND d.claimed_by IS NOT NULL
  AND (NOT d.is_active OR d.has_new_settings OR d.next_crawl_after > now() OR d.run_id <> (SELECT w.run_id FROM workers w WHERE w.id = $1));
