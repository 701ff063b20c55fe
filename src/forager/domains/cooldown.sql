-- Domains in cooldown: the end of cooldowns, refreshes, revisits, and maintenance windows. All in bounded batches. Whether a domain has
-- a task is checked per domain with LIMIT 1: EXISTS becomes a join, which reads all open tasks if the planner misestimates.

-- name: sign_moves
-- Sets who changes domains in this transaction, and why, for the history.
SELECT set_config('forager.by', $1, true), set_config('forager.reason_code', $2, true), set_config('forager.reason', $3, true);

-- name: lock_expired_cooldowns
-- Returns blocked and unreachable domains whose cooldown is over; locks their rows until the transaction ends.
SELECT id FROM domains
WHERE status IN ('blocked', 'unreachable') AND next_crawl_after <= now() AND claimed_by IS NULL
ORDER BY next_crawl_after LIMIT $1
FOR NO KEY UPDATE SKIP LOCKED;

-- name: end_cooldowns
-- After lock_expired_cooldowns: sets the domains to pending, ready if they have pages. Counts returns from a block, and the reopened
-- pages.
UPDATE domains d
SET status = 'pending', blocked_returns = d.blocked_returns + (d.status = 'blocked')::int,
    frontier_size = d.frontier_size + n.pages, ready_at = CASE WHEN d.pages_discovered > 0 THEN now() END
FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id;

-- name: find_due_exhausted
-- Returns exhausted domains that are due, best yield first, and whether all their pages are to be visited again: no revisit is due, or
-- revisits have delayed the refresh beyond its interval. Tasks of an interrupted refresh do not count as revisits.
WITH rested AS MATERIALIZED (
    SELECT d.id, d.pages_discovered, d.refresh_every_s, d.image_yield_rate, d.last_crawled_at FROM domains d
    WHERE d.status = 'exhausted' AND d.next_crawl_after <= now() AND d.is_active
    ORDER BY d.image_yield_rate DESC, d.last_crawled_at NULLS FIRST, d.id LIMIT $1
)
SELECT d.id, d.pages_discovered AS pages,
       (SELECT t.id FROM crawl_tasks t WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.locked_at IS NULL
        AND t.status = 'pending' AND t.scheduled_for <= now() AND t.created_by <> 'refresh' LIMIT 1) IS NULL
       OR COALESCE(now() > make_interval(secs => COALESCE(d.refresh_every_s, $2)) + COALESCE(
           (SELECT h.moved_at FROM domain_history h WHERE h.domain_id = d.id AND h.reason_code = 'refresh' ORDER BY h.id DESC LIMIT 1),
           (SELECT h.moved_at FROM domain_history h WHERE h.domain_id = d.id AND h.to_status = 'exhausted' ORDER BY h.id LIMIT 1)),
           false) AS is_refresh
FROM rested d
ORDER BY d.image_yield_rate DESC, d.last_crawled_at NULLS FIRST, d.id;

-- name: find_dated
-- Returns exhausted domains whose first task is due, the longest due first. Leaves those to the refresh whose pages are
-- all to be visited again by now ($3: refreshes are enabled), unless a person ordered a task that is due.
WITH dated AS MATERIALIZED (
    SELECT d.id, d.ready_at, d.refresh_every_s FROM domains d
    WHERE d.status = 'exhausted' AND d.ready_at <= now() AND d.next_crawl_after <= now() AND d.is_active
    ORDER BY d.ready_at LIMIT $1
)
SELECT d.id FROM dated d
WHERE NOT $3 OR COALESCE(now() <= make_interval(secs => COALESCE(d.refresh_every_s, $2)) + COALESCE(
          (SELECT h.moved_at FROM domain_history h WHERE h.domain_id = d.id AND h.reason_code = 'refresh' ORDER BY h.id DESC LIMIT 1),
          (SELECT h.moved_at FROM domain_history h WHERE h.domain_id = d.id AND h.to_status = 'exhausted' ORDER BY h.id LIMIT 1)), true)
   OR (SELECT t.id FROM crawl_tasks t WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending'
       AND t.scheduled_for <= now() AND t.created_by NOT IN ('system', 'revisit', 'refresh', 'schedule') LIMIT 1) IS NOT NULL
ORDER BY d.ready_at;

-- name: reset_ready
-- Sets those of these exhausted domains that have no task due to be ready when their next one is.
UPDATE domains d SET ready_at = n.at
FROM (SELECT o.id, (SELECT min(t.scheduled_for) FROM crawl_tasks t
                    WHERE t.domain_id = o.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending') AS at
      FROM domains o WHERE o.id = ANY ($1::bigint[]) AND o.status = 'exhausted' ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED) n
WHERE d.id = n.id AND d.ready_at IS DISTINCT FROM n.at AND COALESCE(n.at > now(), true);

-- name: wake_exhausted
-- Sets those of these exhausted domains that have a due task to pending, with a new score.
WITH rested AS MATERIALIZED (
    SELECT d.id FROM domains d
    WHERE d.id = ANY ($1::bigint[]) AND d.status = 'exhausted' AND d.next_crawl_after <= now() AND d.is_active
      AND (SELECT t.id FROM crawl_tasks t WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.locked_at IS NULL
           AND t.status = 'pending' AND t.scheduled_for <= now() LIMIT 1) IS NOT NULL
    ORDER BY d.id
    FOR NO KEY UPDATE OF d SKIP LOCKED
), woken AS (
    UPDATE domains d
    SET status = 'pending', ready_at = now(), priority_score = CASE WHEN $2 THEN domain_score(d, now()) ELSE 0 END,
        priority_computed_at = now()
    FROM rested WHERE d.id = rested.id
    RETURNING d.id
)
SELECT count(*)::int FROM woken;

-- name: put_off
-- Defers those of these exhausted domains that are due but have no work until their next revisit or refresh.
WITH idle AS MATERIALIZED (
    SELECT d.id FROM domains d
    WHERE d.id = ANY ($1::bigint[]) AND d.status = 'exhausted' AND d.next_crawl_after <= now()
    ORDER BY d.id
    FOR NO KEY UPDATE OF d SKIP LOCKED
)
UPDATE domains d
SET next_crawl_after = LEAST(now() + make_interval(secs => COALESCE(d.refresh_every_s, $2)),
    (SELECT min(t.scheduled_for) FROM crawl_tasks t
     WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending'))
FROM idle WHERE d.id = idle.id;

-- name: close_windows
-- Updates due domains whose maintenance window has begun: the trigger defers them to its end.
WITH closing AS MATERIALIZED (
    SELECT id FROM domains
    WHERE maintenance_start IS NOT NULL AND window_end(now(), maintenance_start, maintenance_end, time_zone) IS NOT NULL
      AND claimed_by IS NULL AND is_due AND status IN ('pending', 'active') AND is_active
    LIMIT $1
    FOR NO KEY UPDATE SKIP LOCKED
), closed AS (
    UPDATE domains d SET is_due = false FROM closing WHERE d.id = closing.id RETURNING d.id
)
SELECT count(*)::int FROM closed;

-- name: find_adaptive
-- Returns adaptive domains after an id, with the inputs of their revisit price.
SELECT id, pages_discovered AS pages, revisit_every_s, revisits_per_day, revisit_price, crawl_delay_s
FROM domains WHERE is_adaptive AND id > $1 ORDER BY id LIMIT $2;

-- name: set_prices
-- Sets the minimum value of a request in these domains if it changed. In id order, as workers lock.
WITH news AS MATERIALIZED (
    SELECT d.id, n.price FROM unnest($1::bigint[], $2::float8[]) AS n (domain_id, price)
    JOIN domains d ON d.id = n.domain_id AND d.revisit_price IS DISTINCT FROM n.price
    ORDER BY d.id FOR NO KEY UPDATE OF d
)
UPDATE domains d SET revisit_price = news.price FROM news WHERE d.id = news.id;

-- name: refresh_now
-- Makes exhausted domains due for a refresh now, on an operator's request: named ones, or all.
UPDATE domains SET next_crawl_after = now() WHERE id IN (
    SELECT id FROM domains WHERE status = 'exhausted' AND is_active AND ($1::text[] IS NULL OR name = ANY ($1))
    ORDER BY id FOR NO KEY UPDATE);

-- name: hasten_tries
-- Makes deferred retries due now, on an operator's request, of named domains or all. A site's own request to wait is still respected.
WITH hastened AS (
    UPDATE crawl_tasks t SET scheduled_for = now()
    FROM domains d
    WHERE d.id = t.domain_id AND d.status IN ('pending', 'active') AND d.is_active AND ($1::text[] IS NULL OR d.name = ANY ($1))
      AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending' AND t.retry_count > 0 AND t.scheduled_for > now()
    RETURNING t.domain_id
)
UPDATE domains d SET ready_at = now() WHERE d.id IN (SELECT h.domain_id FROM hastened h) AND d.claimed_by IS NULL;

-- name: find_revisitable
-- Returns finished runs that have domains with due revisits, deferred retries, or visits an operator requested, and the number of these
-- domains. The caller reads their config again and applies it.
SELECT d.run_id, count(*)::int AS domains
FROM domains d JOIN runs r ON r.id = d.run_id AND r.status <> 'running'
WHERE d.claimed_by IS NULL AND d.status IN ('pending', 'active') AND d.is_active AND ($1::text[] IS NULL OR d.name = ANY ($1))
  AND COALESCE(d.due_at, GREATEST(d.ready_at, d.next_crawl_after)) <= now()
  AND EXISTS (SELECT FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
              WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending'
                AND t.scheduled_for <= now()
                AND (p.status = 'fetched' OR t.retry_count > 0 OR t.created_by <> 'system'))
GROUP BY d.run_id ORDER BY d.run_id;

-- name: assign_due_revisits
-- Moves the domains of an earlier run that have such visits due to another run.
UPDATE domains SET run_id = $1, run_pages = 0, round = 0 WHERE id IN (
    SELECT d.id FROM domains d
    WHERE d.run_id = $2 AND d.claimed_by IS NULL AND d.status IN ('pending', 'active') AND d.is_active
      AND ($3::text[] IS NULL OR d.name = ANY ($3))
      AND COALESCE(d.due_at, GREATEST(d.ready_at, d.next_crawl_after)) <= now()
      AND EXISTS (SELECT FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
                  WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending'
                    AND t.scheduled_for <= now()
                AND (p.status = 'fetched' OR t.retry_count > 0 OR t.created_by <> 'system'))
    ORDER BY d.id FOR NO KEY UPDATE);

-- name: next_revisit
-- Returns the seconds until the first exhausted domain wakes; NULL: none will.
SELECT EXTRACT(EPOCH FROM next_crawl_after - now())::float8 AS wait_s
FROM domains
WHERE status IN ('exhausted', 'blocked', 'unreachable') AND next_crawl_after IS NOT NULL
  AND status = 'exhausted' AND is_active AND ($1::text[] IS NULL OR name = ANY ($1))
ORDER BY next_crawl_after LIMIT 1;
