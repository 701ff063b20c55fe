-- Domain updates caused by task commands.

-- name: hold_domains
-- Locks the rows until the transaction ends, in id order, as workers lock them.
SELECT d.id FROM domains d WHERE d.id = ANY ($1::bigint[]) ORDER BY d.id FOR NO KEY UPDATE OF d;

-- name: lose_pages
-- Removes pages whose visits were cancelled from the frontier.
UPDATE domains d SET frontier_size = d.frontier_size - n.pages FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id;

-- name: expect_visits
-- Records tasks that can be claimed from a time on, and adds pages to the frontier. An exhausted domain becomes active if that time has
-- come or its frontier grows; otherwise it stays in cooldown until then.
UPDATE domains d
SET frontier_size = d.frontier_size + n.pages,
    status = CASE WHEN d.status = 'exhausted' AND (n.pages > 0 OR n.first_at <= now()) THEN 'active' ELSE d.status END,
    next_crawl_after = CASE WHEN d.status = 'exhausted' AND n.pages = 0 AND n.first_at > now()
                            THEN LEAST(d.next_crawl_after, n.first_at) ELSE d.next_crawl_after END,
    ready_at = LEAST(COALESCE(d.ready_at, n.first_at), n.first_at)
FROM unnest($1::bigint[], $2::int[], $3::timestamptz[]) AS n (domain_id, pages, first_at)
WHERE d.id = n.domain_id;

-- name: grow_frontiers
-- Adds pages to the frontier that cannot be visited yet because they wait for something else.
UPDATE domains d SET frontier_size = d.frontier_size + n.pages, status = CASE d.status WHEN 'exhausted' THEN 'active' ELSE d.status END
FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id AND n.pages > 0;

-- name: switched_off
-- Returns the leases a worker must release: domains an operator paused, domains with changed settings (the next claim applies them),
-- domains another run took, and domains whose claims a purge blocks.
SELECT d.id, d.version FROM domains d
WHERE d.claimed_by = $1 AND d.claimed_by IS NOT NULL
  AND (NOT d.is_active OR d.has_new_settings OR d.next_crawl_after > now() OR d.run_id <> (SELECT w.run_id FROM workers w WHERE w.id = $1));
