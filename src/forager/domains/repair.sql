-- Recomputes counters, repairs impossible states, merges duplicate domains.

-- name: next_domains
-- Returns a batch of domains, in id order.
SELECT id FROM domains WHERE id > $1 ORDER BY id LIMIT $2;

-- name: lock_free_domains
-- Returns those of these domains that have no lease; locks their rows until the transaction ends.
SELECT id FROM domains WHERE id = ANY ($1::bigint[]) AND claimed_by IS NULL ORDER BY id FOR NO KEY UPDATE SKIP LOCKED;

-- name: recount_domains
-- Recomputes the counters of locked domains from their pages, closed tasks, and archived tasks; returns those that were wrong.
UPDATE domains d
SET pages_discovered = n.pages_discovered, frontier_size = n.frontier_size, pages_crawled = n.pages_crawled,
    total_error_count = n.total_error_count, depth_reached = n.depth_reached, images_found = n.images_found, images_stored = n.images_stored,
    ready_at = CASE WHEN n.frontier_size > d.frontier_size THEN LEAST(COALESCE(d.ready_at, now()), now()) ELSE d.ready_at END
FROM (
    SELECT o.id, o.pages_discovered AS was_discovered, o.frontier_size AS was_waiting, o.pages_crawled AS was_crawled,
           o.total_error_count AS was_errors, o.depth_reached AS was_deep, o.images_found AS was_shown, o.images_stored AS was_stored,
           COALESCE(p.known, 0) AS pages_discovered, COALESCE(p.waiting, 0) AS frontier_size,
           COALESCE(t.good, 0) + COALESCE(l.good, 0) AS pages_crawled, COALESCE(t.bad, 0) + COALESCE(l.bad, 0) AS total_error_count, GREATEST(o.depth_reached, p.depth) AS depth_reached,
           (SELECT count(*) FROM page_images s WHERE s.domain_id = o.id) AS images_found, COALESCE(i.images, 0) AS images_stored
    FROM domains o
    LEFT JOIN LATERAL (
        SELECT count(*) FILTER (WHERE NOT g.is_image AND NOT g.is_sitemap) AS known, count(*) FILTER (WHERE g.status IN ('discovered', 'queued')) AS waiting,
               max(g.depth) FILTER (WHERE g.status = 'fetched' AND NOT g.is_image AND NOT g.is_sitemap) AS depth
        FROM pages g WHERE g.domain_id = o.id) p ON true
    LEFT JOIN LATERAL (
        SELECT count(*) FILTER (WHERE c.outcome = 'success') AS good, count(*) FILTER (WHERE c.blame IN ('site', 'network')) AS bad
        FROM pages g JOIN crawl_tasks c ON c.page_id = g.id WHERE g.domain_id = o.id AND c.outcome IS NOT NULL AND NOT g.is_image AND NOT g.is_sitemap) t ON true
    LEFT JOIN LATERAL (
        SELECT sum(e.tasks) FILTER (WHERE e.outcome = 'success') AS good, sum(e.errors) AS bad
        FROM archived_rows e WHERE e.domain_id = o.id AND NOT e.is_image AND NOT e.is_sitemap) l ON true
    LEFT JOIN (SELECT m.domain_id, count(*) AS images FROM images m WHERE m.domain_id = ANY ($1::bigint[]) AND m.stored_at IS NOT NULL
               GROUP BY m.domain_id) i ON i.domain_id = o.id
    WHERE o.id = ANY ($1::bigint[])
) n
WHERE d.id = n.id
  AND (d.pages_discovered, d.frontier_size, d.pages_crawled, d.total_error_count, d.depth_reached, d.images_found, d.images_stored)
      IS DISTINCT FROM (n.pages_discovered, n.frontier_size, n.pages_crawled, n.total_error_count, n.depth_reached, n.images_found, n.images_stored)
RETURNING d.name, n.was_discovered, d.pages_discovered, n.was_waiting, d.frontier_size, n.was_crawled, d.pages_crawled,
          n.was_errors, d.total_error_count, n.was_deep, d.depth_reached, n.was_shown, d.images_found, n.was_stored, d.images_stored;

-- name: recount_urgency
-- Recomputes from when on locked domains are urgent, from their tasks; returns those that were wrong. Each row is
-- written, so that its trigger sets the urgency again.
UPDATE domains d SET urgent_at = n.at
FROM (SELECT o.id, o.urgent_at AS was, o.urgency AS was_urgency,
             (SELECT min(t.scheduled_for) FROM crawl_tasks t
              WHERE t.domain_id = o.id AND t.is_urgent AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending') AS at
      FROM domains o WHERE o.id = ANY ($1::bigint[])) n
WHERE d.id = n.id
  AND (n.was, n.was_urgency) IS DISTINCT FROM (n.at, CASE WHEN n.at <= now() THEN 2 WHEN d.priority_boost > 0 THEN 1 ELSE 0 END::smallint)
RETURNING d.name, n.was, d.urgent_at, n.was_urgency, d.urgency;

-- name: repair_states
-- Repairs locked domains in an impossible state: exhausted with pages waiting, active with nothing left, or never ready although the run
-- may visit something. With nothing left a domain becomes exhausted, or blocked if more than half of its visits were refused.
WITH facts AS (
    SELECT o.id, o.status AS was, o.frontier_size, o.ready_at,
           CASE WHEN r.id IS NULL OR (r.spec ->> 'scope' NOT IN ('page', 'prefix') AND r.spec -> 'include' = '[]' AND r.spec -> 'exclude' = '[]')
           THEN LEAST(
               (SELECT min(t.scheduled_for) FROM crawl_tasks t JOIN pages g ON g.id = t.page_id
                WHERE t.domain_id = o.id AND t.outcome IS NULL AND t.locked_at IS NULL AND in_scope(g, s, COALESCE(r.max_depth, 1000))
                  AND (g.is_image OR g.is_sitemap OR NOT o.images_only)),
               (SELECT now() WHERE EXISTS (SELECT FROM pages g WHERE g.domain_id = o.id AND g.status = 'discovered'
                                           AND in_scope(g, s, COALESCE(r.max_depth, 1000)) AND (g.is_image OR g.is_sitemap OR NOT o.images_only)))) END AS first,
           (SELECT COALESCE(sum(v.refused) > sum(v.tasks) * 0.5, false)
            FROM (SELECT count(*) FILTER (WHERE c.status_code >= 400) AS refused, count(*) AS tasks
                  FROM pages g JOIN crawl_tasks c ON c.page_id = g.id WHERE g.domain_id = o.id AND c.outcome IS NOT NULL
                  UNION ALL
                  SELECT e.refused, e.tasks FROM archived_rows e WHERE e.domain_id = o.id) v) AS is_refused
    FROM domains o LEFT JOIN runs r ON r.id = o.run_id LEFT JOIN domain_settings s ON s.domain_id = o.id
    WHERE o.id = ANY ($1::bigint[])
), verdict AS (
    SELECT f.id, f.was, f.first, f.was <> 'exhausted' AND f.ready_at IS NULL AND f.first IS NOT NULL AS is_forgotten,
           CASE WHEN f.was = 'exhausted' AND f.frontier_size > 0 AND f.first <= now() THEN 'active'
                WHEN f.was = 'active' AND f.frontier_size = 0 AND f.ready_at IS NULL AND f.first IS NULL
                THEN CASE WHEN f.is_refused THEN 'blocked' ELSE 'exhausted' END
                ELSE f.was::text END::domain_status AS status
    FROM facts f
)
UPDATE domains d
SET status = v.status,
    ready_at = CASE WHEN v.status <> v.was AND v.status = 'active' THEN now() WHEN v.is_forgotten THEN v.first ELSE d.ready_at END,
    block_reason_code = CASE WHEN v.status <> v.was AND v.status = 'blocked' THEN 'mostly_refused' ELSE d.block_reason_code END,
    block_reason = CASE WHEN v.status <> v.was AND v.status = 'blocked' THEN 'more than half of its visits were refused' ELSE d.block_reason END,
    first_blocked_at = CASE WHEN v.status = 'blocked' THEN COALESCE(d.first_blocked_at, now()) ELSE d.first_blocked_at END,
    next_crawl_after = CASE WHEN v.status = v.was OR v.status = 'active' THEN d.next_crawl_after
                            WHEN v.status = 'blocked' THEN now() + make_interval(secs => $3::float8)
                            ELSE now() + make_interval(secs => COALESCE(d.refresh_every_s, $2::float8)) END
FROM verdict v
WHERE d.id = v.id AND (v.status <> v.was OR v.is_forgotten)
RETURNING d.name, v.was::text AS was, d.status::text AS status;

-- name: name_domains
-- Returns names in id order, to check their spelling.
SELECT id, name, base_url, first_seen_at FROM domains WHERE id > $1 ORDER BY id LIMIT $2;

-- name: hold_for_merge
-- Returns domains to merge, with what decides which is the oldest; locks them in id order until the transaction ends.
SELECT id, name, base_url, first_seen_at FROM domains WHERE name = ANY ($1::text[]) ORDER BY id FOR UPDATE;

-- name: merge_domains
-- Merges the values of the other domains into the oldest: sums, the earlier and later times. Their leases end.
UPDATE domains k
SET images_found = m.images_found, images_stored = m.images_stored, seed_rank = m.seed_rank, depth_reached = m.depth_reached,
    first_seen_at = m.first_seen_at, last_crawled_at = m.last_crawled_at, first_blocked_at = m.first_blocked_at,
    next_allowed_at = m.next_allowed_at, is_active = m.is_active, claimed_by = NULL, claim_expires_at = NULL, version = m.version + 1,
    ready_at = now()
FROM (
    SELECT sum(images_found) AS images_found, sum(images_stored) AS images_stored, min(seed_rank) AS seed_rank,
           max(depth_reached) AS depth_reached, min(first_seen_at) AS first_seen_at, max(last_crawled_at) AS last_crawled_at,
           min(first_blocked_at) AS first_blocked_at, max(next_allowed_at) AS next_allowed_at, bool_and(is_active) AS is_active,
           max(version) AS version
    FROM domains WHERE id = $1 OR id = ANY ($2::bigint[])
) m
WHERE k.id = $1;

-- name: merge_settings
-- Merges the crawl settings of the other domains into those of the oldest: its own values stay, except for the longest delay and the
-- fewest requests at once.
INSERT INTO domain_settings (domain_id, settings, has_implied_scope, updated_by)
SELECT $1, m.others || m.own || m.slowest, COALESCE(m.own_is_implied, m.is_implied, false), 'merge'
FROM (SELECT COALESCE(jsonb_object_agg(e.key, e.value) FILTER (WHERE s.domain_id <> $1), '{}') AS others,
             COALESCE(jsonb_object_agg(e.key, e.value) FILTER (WHERE s.domain_id = $1), '{}') AS own,
             bool_or(s.has_implied_scope) FILTER (WHERE s.domain_id = $1 AND s.settings ? 'scope') AS own_is_implied,
             bool_or(s.has_implied_scope) FILTER (WHERE s.settings ? 'scope') AS is_implied,
             jsonb_strip_nulls(jsonb_build_object('delay', max((s.effective->>'delay')::float8), 'concurrency', min((s.effective->>'concurrency')::int))) AS slowest
      FROM domain_settings s LEFT JOIN LATERAL jsonb_each(s.settings) e ON true
      WHERE s.domain_id = $1 OR s.domain_id = ANY ($2::bigint[])
      HAVING count(*) > 0) m
ON CONFLICT (domain_id) DO UPDATE
SET settings = EXCLUDED.settings, has_implied_scope = EXCLUDED.has_implied_scope, updated_by = EXCLUDED.updated_by, updated_at = now();

-- name: move_origins
-- Moves the robots.txt files of merged domains; of two for the same origin the newer is kept.
INSERT INTO origins (domain_id, origin, robots_txt, robots_status_code, robots_error, sitemaps, robots_fetched_at, robots_expires_at)
SELECT DISTINCT ON (o.origin) $1, o.origin, o.robots_txt, o.robots_status_code, o.robots_error, o.sitemaps, o.robots_fetched_at,
       o.robots_expires_at
FROM origins o WHERE o.domain_id = ANY ($2::bigint[])
ORDER BY o.origin, o.robots_fetched_at DESC
ON CONFLICT (domain_id, origin) DO UPDATE
SET robots_txt = EXCLUDED.robots_txt, robots_status_code = EXCLUDED.robots_status_code, robots_error = EXCLUDED.robots_error,
    sitemaps = EXCLUDED.sitemaps, robots_fetched_at = EXCLUDED.robots_fetched_at, robots_expires_at = EXCLUDED.robots_expires_at
WHERE origins.robots_fetched_at < EXCLUDED.robots_fetched_at;

-- name: move_robots_requests
-- Moves the robots.txt requests of merged domains.
UPDATE robots_requests SET domain_id = $1 WHERE domain_id = ANY ($2::bigint[]);

-- name: move_traps
-- Moves the traps of merged domains; of several for the same template one is kept. The next claim skips their pages again.
UPDATE domain_traps t SET domain_id = $1
WHERE t.id IN (SELECT min(o.id) FROM domain_traps o WHERE o.domain_id = ANY ($2::bigint[]) GROUP BY o.rule, o.template)
  AND NOT EXISTS (SELECT FROM domain_traps k WHERE k.domain_id = $1 AND k.rule = t.rule AND k.template = t.template);

-- name: allow_removal
-- Allows deleting history for the rest of the transaction.
SELECT set_config('forager.purge', 'on', true);

-- name: remove_domains
-- Deletes merged domains; fails on a foreign key if anything still belongs to them.
DELETE FROM domains WHERE id = ANY ($1::bigint[]);

-- name: lessen_domains
-- Subtracts deleted pages and images from the counters of their domains.
UPDATE domains d
SET pages_discovered = d.pages_discovered - n.known, frontier_size = d.frontier_size - n.waiting, images_found = d.images_found - n.shown,
    images_stored = d.images_stored - n.stored
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS n (id, known, waiting, shown, stored)
WHERE d.id = n.id;

-- name: rename_domain
-- Sets the canonical name of a domain.
UPDATE domains SET name = $2, parent_domain = $3, base_url = $4 WHERE id = $1;
