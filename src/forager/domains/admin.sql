-- Operator actions on one domain.

-- name: hold_domain
-- Returns one domain by name and locks its row until the transaction ends.
SELECT id, name, status::text AS status, version, is_active, claimed_by, frontier_size, is_adaptive, revisit_every_s, breaker_state, images_policy
FROM domains WHERE name = $1
FOR NO KEY UPDATE;

-- name: move_domain
-- Changes the status if the domain was not changed since its version was read. Ends the lease: the new version rejects its late results.
-- As the lease holder may not know yet, the next one sends no requests for $7 seconds.
UPDATE domains
SET status = $3::text::domain_status, version = version + 1, claimed_by = NULL, claim_expires_at = NULL,
    next_allowed_at = CASE WHEN claimed_by IS NULL THEN next_allowed_at
                           ELSE GREATEST(next_allowed_at, now() + make_interval(secs => $7)) END,
    ready_at = CASE WHEN claimed_by IS NULL THEN ready_at ELSE LEAST(COALESCE(ready_at, now()), now()) END,
    block_reason_code = $4, block_reason = $5,
    first_blocked_at = CASE WHEN $4::text IS NOT NULL THEN COALESCE(first_blocked_at, now()) ELSE first_blocked_at END,
    next_crawl_after = CASE WHEN $4::text IS NOT NULL THEN now() + make_interval(secs => $6::float8) ELSE next_crawl_after END
WHERE id = $1 AND version = $2
RETURNING id;

-- name: note_domain
-- Adds an entry to the history of a domain for an action without a status change.
INSERT INTO domain_history (domain_id, from_status, to_status, is_active, reason_code, reason, moved_by)
SELECT id, status, status, is_active, $2, $3, $4 FROM domains WHERE id = $1;

-- name: renew_block
-- Sets a new reason and a new end for an existing block.
UPDATE domains
SET block_reason_code = $2, block_reason = $3, next_crawl_after = now() + make_interval(secs => $4::float8),
    first_blocked_at = COALESCE(first_blocked_at, now())
WHERE id = $1;

-- name: reset_domain
-- Clears everything that holds a domain back, and adds $2 reopened pages to its frontier.
UPDATE domains
SET next_crawl_after = NULL, consecutive_error_count = 0, error_streak_code = NULL, blocked_returns = 0, unreachable_cooldowns = 0, run_pages = 0,
    breaker_state = 'closed', breaker_failures = 0, breaker_opened_at = NULL, breaker_resets = breaker_resets + 1, pace_extra_s = 0,
    frontier_size = frontier_size + $2, ready_at = LEAST(COALESCE(ready_at, now()), now())
WHERE id = $1;

-- name: reset_breaker
-- Closes the breaker manually, and ends the pause of $2 seconds it had caused. The lease holder, if there is one, learns of it with its
-- next heartbeat.
UPDATE domains
SET breaker_state = 'closed', breaker_failures = 0, breaker_opened_at = NULL, breaker_resets = breaker_resets + 1,
    next_crawl_after = CASE WHEN status IN ('pending', 'active') AND next_crawl_after <= breaker_opened_at + make_interval(secs => $2 + 1)
                            THEN NULL ELSE next_crawl_after END,
    next_allowed_at = CASE WHEN claimed_by IS NULL AND next_allowed_at <= breaker_opened_at + make_interval(secs => $2 + 1)
                           THEN LEAST(next_allowed_at, now() + make_interval(secs => COALESCE(pace_delay_s, 0))) ELSE next_allowed_at END
WHERE id = $1;

-- name: switch_domain
-- Pauses or resumes a domain; returns its id if that changed anything.
UPDATE domains SET is_active = $2 WHERE id = $1 AND is_active <> $2 RETURNING id;

-- name: forget_networks
-- Removes allowed networks from the run of a domain: a refresh of it does not allow them again.
UPDATE runs r SET spec = r.spec - 'allow_networks' FROM domains d WHERE d.id = $1 AND r.id = d.run_id AND r.spec ? 'allow_networks';

-- name: reopen_domain
-- Makes a domain ready after its scope changed; an exhausted one becomes active if something of it may be visited now.
UPDATE domains d
SET ready_at = LEAST(COALESCE(d.ready_at, now()), now()),
    status = CASE WHEN d.status = 'exhausted' AND (
        EXISTS (SELECT FROM crawl_tasks t WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending' AND t.scheduled_for <= now())
        OR EXISTS (SELECT FROM pages p LEFT JOIN domain_settings s ON s.domain_id = p.domain_id
                   WHERE p.domain_id = d.id AND p.status = 'discovered' AND in_scope(p, s, COALESCE((SELECT r.max_depth FROM runs r WHERE r.id = d.run_id), 1000))))
             THEN 'active' ELSE d.status END
WHERE d.id = $1 AND d.pages_discovered > 0;

-- name: count_run_pages
-- Counts the pages used so far when a domain gets a page budget during a run that had none, up to the budget $2. Pages that a worker
-- holds and has not visited yet are added, because they are subtracted when returned. In the continuous run a budget counts from now on.
UPDATE domains d
SET run_pages = (SELECT count(*) FROM (SELECT FROM pages p JOIN crawl_tasks t ON t.page_id = p.id
                                       WHERE p.domain_id = d.id AND t.run_id = d.run_id AND t.outcome IS NOT NULL AND NOT p.is_sitemap LIMIT $2::int) visited)
              + (SELECT count(*) FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
                 WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.locked_at IS NOT NULL AND t.run_id = d.run_id AND NOT p.is_sitemap)
FROM runs r
WHERE d.id = $1 AND d.max_pages_per_run IS NULL AND r.id = d.run_id AND r.max_pages_per_domain IS NULL AND r.keeper <> 'standing'
  AND r.status = 'running';

-- name: set_cooldown
-- After replanning visits: sets the domain ready when the first is due; an exhausted one cools down until then or until its refresh.
UPDATE domains d
SET ready_at = LEAST(d.ready_at, planned.first),
    next_crawl_after = CASE WHEN d.status = 'exhausted'
                            THEN LEAST(planned.first, COALESCE(d.last_crawled_at, now())
                                                      + make_interval(secs => COALESCE(d.refresh_every_s, $2::float8)))
                            ELSE d.next_crawl_after END
FROM (SELECT min(t.scheduled_for) AS first FROM crawl_tasks t
      WHERE t.domain_id = $1 AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending') planned
WHERE d.id = $1;

-- name: fence_domains
-- Blocks claims of these domains for $2 seconds; a worker that holds one returns it within about a second. The block expires by itself,
-- so that a killed purge blocks no worker for good. Returns when each could have been claimed otherwise.
UPDATE domains d SET next_crawl_after = GREATEST(o.next_crawl_after, now() + make_interval(secs => $2))
FROM (SELECT id, next_crawl_after FROM domains WHERE id = ANY ($1::bigint[]) AND status IN ('pending', 'active') ORDER BY id FOR NO KEY UPDATE) o
WHERE d.id = o.id
RETURNING d.id, o.next_crawl_after;

-- name: renew_claim_block
-- Extends the block by $2 seconds from now.
UPDATE domains d SET next_crawl_after = GREATEST(d.next_crawl_after, now() + make_interval(secs => $2))
WHERE d.id = $1 AND d.status IN ('pending', 'active');

-- name: unfence_domains
-- Allows claims as before; a cooldown that began meanwhile stays.
UPDATE domains d SET next_crawl_after = n.before
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (id, before)
WHERE d.id = n.id AND d.status IN ('pending', 'active') AND d.next_crawl_after <= now() + make_interval(secs => $3);

-- name: held_domains
-- Returns which of these domains a worker still holds, and whether that worker is lost: its lease expired, or it is not running.
SELECT d.id, d.claim_expires_at < now() OR w.status IS DISTINCT FROM 'running' AS is_lost
FROM domains d LEFT JOIN workers w ON w.id = d.claimed_by
WHERE d.id = ANY ($1::bigint[]) AND d.claimed_by IS NOT NULL;

-- name: revoke_leases
-- Ends the leases of these domains: their new versions reject late results. As the lease holder may not know yet, the next one sends no
-- requests for $2 seconds.
UPDATE domains d
SET version = d.version + 1, claimed_by = NULL, claim_expires_at = NULL, ready_at = LEAST(COALESCE(d.ready_at, now()), now()),
    next_allowed_at = GREATEST(d.next_allowed_at, now() + make_interval(secs => $2))
FROM (SELECT id FROM domains WHERE id = ANY ($1::bigint[]) AND claimed_by IS NOT NULL ORDER BY id FOR NO KEY UPDATE) o
WHERE d.id = o.id
RETURNING d.id;

-- name: select_names
-- Returns the names of the domains an operator selects: in a status, with a part of the name, from a source, paused or not.
SELECT d.name FROM domains d
WHERE ($1::text IS NULL OR d.status::text = $1) AND ($2::text IS NULL OR position($2 IN d.name) > 0)
  AND ($3::text IS NULL OR d.source = $3) AND ($4::boolean IS NULL OR d.is_active = $4)
ORDER BY d.name;

-- name: hold_new
-- Pauses domains that were just added, before a worker can claim them.
UPDATE domains SET is_active = false WHERE id = ANY ($1::bigint[]) AND is_active;

-- name: block_reason
-- Returns the code of what blocks a domain; NULL: nothing.
SELECT block_reason_code FROM domains WHERE id = $1;
