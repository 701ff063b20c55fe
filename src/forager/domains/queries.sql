-- Domains: identity, lease renewal, counters, robots.txt. Owner of domains, origins, domain_transitions.

-- name: add_domains
-- Adds newly discovered domains, in name order so that workers do not deadlock.
INSERT INTO domains (name, parent_domain, base_url, source, run_id, round)
SELECT n.name, n.parent_domain, n.base_url, $4, $5, COALESCE((SELECT round + 1 FROM runs WHERE id = $5), 0)
FROM unnest($1::text[], $2::text[], $3::text[]) AS n (name, parent_domain, base_url)
ORDER BY n.name
ON CONFLICT (name) DO NOTHING;

-- name: add_seed_domains
-- Adds new domains of a seed list, in list order. Their pages are counted at once: no other transaction can add a page to a domain that
-- is not committed yet.
INSERT INTO domains (name, parent_domain, base_url, seed_rank, pages_discovered, frontier_size, source, run_id, ready_at,
                     priority_score, priority_computed_at)
SELECT n.name, n.parent_domain, n.base_url, n.seed_rank, n.pages, n.pages, $6, $7, now(),
       CASE WHEN $8 THEN domain_score(jsonb_populate_record(NULL::domains, jsonb_build_object(
           'seed_rank', n.seed_rank, 'frontier_size', n.pages, 'error_rate', 0, 'image_yield_rate', 0, 'first_seen_at', now())), now())
       ELSE 0 END, now()
FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[]) WITH ORDINALITY
     AS n (name, parent_domain, base_url, seed_rank, pages, position)
ORDER BY n.position
ON CONFLICT (name) DO NOTHING
RETURNING id, name;

-- name: raise_ranks
-- Updates known domains that a list ranks higher, or for the first time; their source stays the first one.
WITH better AS MATERIALIZED (
    SELECT d.id, n.seed_rank FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, seed_rank)
    JOIN domains d ON d.id = n.domain_id AND COALESCE(n.seed_rank < d.seed_rank, true)
    ORDER BY d.id FOR NO KEY UPDATE OF d
)
UPDATE domains d SET seed_rank = better.seed_rank FROM better WHERE d.id = better.id;

-- name: names_of_run
-- Returns the domains of a run, with their registrable domains.
SELECT name, parent_domain FROM domains WHERE run_id = $1;

-- name: find_domains
-- Returns the ids of domains by name.
SELECT id, name FROM domains WHERE name = ANY ($1::text[]);

-- name: count_discovered
-- Counts new pages of these domains, and makes the domains claimable. In id order, after all pages are inserted.
WITH more AS MATERIALIZED (
    SELECT d.id, n.pages FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) JOIN domains d ON d.id = n.domain_id
    ORDER BY d.id FOR NO KEY UPDATE OF d
)
UPDATE domains d
SET pages_discovered = d.pages_discovered + more.pages, frontier_size = d.frontier_size + more.pages,
    ready_at = LEAST(COALESCE(d.ready_at, now()), now()),
    status = CASE d.status WHEN 'exhausted' THEN 'active' ELSE d.status END,
    run_pages = CASE WHEN d.claimed_by IS NULL AND d.run_id IS DISTINCT FROM COALESCE($3, d.run_id) THEN 0 ELSE d.run_pages END,
    images_only = d.images_only AND NOT COALESCE(d.claimed_by IS NULL OR d.run_id = $3, true),
    run_id = CASE WHEN d.claimed_by IS NULL THEN COALESCE($3, d.run_id) ELSE d.run_id END
FROM more WHERE d.id = more.id;

-- name: wake_due
-- Updates domains of a run that became due since they were written: the trigger marks them as due.
UPDATE domains SET is_due = true WHERE id = ANY (ARRAY(
    SELECT id FROM domains
    WHERE claimed_by IS NULL AND NOT is_due AND status IN ('pending', 'active') AND is_active AND run_id = $1 AND due_at <= now()
    ORDER BY due_at LIMIT 1000
    FOR NO KEY UPDATE SKIP LOCKED));

-- name: count_waiting
-- Counts domains of a run that a worker with the labels $2 could lease now, within a budget of $4 pages each; up to $3 per label.
SELECT count(*)::int FROM unnest($2::text[]) AS l (label) CROSS JOIN LATERAL (
    SELECT FROM domains d
    WHERE d.claimed_by IS NULL AND d.is_due AND d.status IN ('pending', 'active') AND d.is_active AND d.run_id = $1
      AND d.worker_label = l.label AND d.due_at <= now() AND COALESCE(d.run_pages < LEAST($4::int, d.max_pages_per_run), true)
    LIMIT $3) waiting;

-- name: wake
-- Makes domains ready because one of their pages is now within the scope.
UPDATE domains SET ready_at = LEAST(COALESCE(ready_at, now()), now()) WHERE id = ANY ($1::bigint[]);

-- name: update_requeue_counts
-- Counts pages of these domains that got a new task.
UPDATE domains d SET frontier_size = d.frontier_size + n.pages, status = CASE d.status WHEN 'exhausted' THEN 'active' ELSE d.status END
FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id;

-- name: wake_unreachable
-- Retries unreachable domains now because an operator named them explicitly.
UPDATE domains SET status = 'pending', block_reason = NULL, block_reason_code = NULL, next_crawl_after = NULL
WHERE name = ANY ($1::text[]) AND status = 'unreachable';

-- name: allow_networks
-- Allows these networks in the address guard for these domains, as long as the domains exist. Returns their ids.
UPDATE domains SET allow_networks = $2::text[] WHERE id = ANY (ARRAY(
    SELECT id FROM domains WHERE name = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE))
RETURNING id;

-- name: reset_unreachable
-- Clears the failure streak of domains that failed only because our own network was down, and ends the cooldown of those in one for it.
UPDATE domains d
SET consecutive_error_count = 0, error_streak_code = NULL,
    unreachable_cooldowns = GREATEST(0, d.unreachable_cooldowns - (d.status = 'unreachable')::int),
    status = CASE WHEN d.status = 'unreachable' THEN 'pending' ELSE d.status END,
    block_reason = CASE WHEN d.status = 'unreachable' THEN NULL ELSE d.block_reason END,
    block_reason_code = CASE WHEN d.status = 'unreachable' THEN NULL ELSE d.block_reason_code END,
    next_crawl_after = CASE WHEN d.status = 'unreachable' THEN NULL ELSE d.next_crawl_after END
FROM (SELECT id, status FROM domains
      WHERE id = ANY ($1::bigint[]) AND (status = 'unreachable' OR error_streak_code = 'unreachable')
      ORDER BY id FOR NO KEY UPDATE) held
WHERE d.id = held.id
RETURNING held.status = 'unreachable' AS was_resting;

-- name: assign_domains
-- Assigns to a run the domains it was asked to crawl: named ones, those below named parents, or all with work. With them come those that
-- an earlier run took for the images of their pages and did not finish. The ids are collected once, as an array: when statistics are
-- older than a long list, `id IN (SELECT … FOR UPDATE)` repeated the search for each row (18 s for 5,000).
WITH taken AS MATERIALIZED (
    SELECT id FROM domains
    WHERE name = ANY ($2::text[]) OR parent_domain = ANY ($3::text[]) OR ($4 AND frontier_size > 0)
       OR (images_only AND frontier_size > 0
           AND run_id IN (SELECT n.run_id FROM domains n WHERE n.name = ANY ($2::text[]) OR n.parent_domain = ANY ($3::text[])))
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE domains
SET run_id = $1, run_pages = 0, round = 0,
    images_only = images_only AND NOT (name = ANY ($2::text[]) OR parent_domain = ANY ($3::text[]) OR $4),
    ready_at = CASE WHEN frontier_size > 0 THEN LEAST(COALESCE(ready_at, now()), now())
    ELSE (SELECT min(t.scheduled_for) FROM crawl_tasks t
          WHERE t.domain_id = domains.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending') END
WHERE id = ANY (ARRAY(SELECT id FROM taken));

-- name: assign_free_domains
-- Assigns domains that belong to no run, or to a finished one, to the continuous run, up to $2 at a time. A domain with known pages is
-- no longer images-only, although the finished run had it only for images.
WITH strays AS (
    SELECT id FROM domains
    WHERE (run_id IS NULL OR run_id IN (SELECT r.id FROM runs r WHERE r.status <> 'running' AND r.id <> $1)) AND claimed_by IS NULL
    ORDER BY id LIMIT $2
    FOR NO KEY UPDATE SKIP LOCKED
), adopted AS (
    UPDATE domains d
    SET run_id = $1, run_pages = 0, round = (SELECT r.round FROM runs r WHERE r.id = $1),
        images_only = d.images_only AND d.pages_discovered = 0,
        ready_at = CASE WHEN d.frontier_size > 0 THEN LEAST(COALESCE(d.ready_at, now()), now())
        ELSE (SELECT min(t.scheduled_for) FROM crawl_tasks t
              WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending') END
    FROM strays s WHERE d.id = s.id
    RETURNING d.id
)
SELECT count(*)::int FROM adopted;

-- name: known_names
-- Returns domains that are not images-only, in id order.
SELECT id, name FROM domains WHERE id > $1 AND NOT images_only ORDER BY id;

-- name: hold_leases
-- Returns which of these leases are still ours; locks their rows until the transaction ends, in id order.
SELECT d.id, d.version,
       d.is_active AND NOT d.has_new_settings AND window_end(now(), d.maintenance_start, d.maintenance_end) IS NULL AS may_go_on
FROM unnest($1::bigint[], $2::bigint[]) AS n (domain_id, version)
JOIN domains d ON d.id = n.domain_id AND d.version = n.version AND d.claimed_by = $3
ORDER BY d.id
FOR NO KEY UPDATE OF d;

-- name: lastmods_of
-- Returns how often the sitemaps of a domain claimed that a page had changed, and how often it had.
SELECT d.lastmod_claims, d.lastmod_truths FROM domains d WHERE d.id = $1;

-- name: count_lastmods
-- Counts sitemap claims that visits verified. The caller has locked the domains.
UPDATE domains d SET lastmod_claims = d.lastmod_claims + n.claims, lastmod_truths = d.lastmod_truths + n.truths
FROM unnest($1::bigint[], $2::int[], $3::int[]) AS n (domain_id, claims, truths)
WHERE d.id = n.domain_id;

-- name: without_links
-- Returns those of these domains whose links are not stored.
SELECT d.id FROM domains d WHERE d.id = ANY ($1::bigint[]) AND NOT d.stores_links;

-- name: count_visits
-- Records closed tasks of leased domains: counters, delay and breaker for the next lease holder; renews the lease. The holder's breaker
-- state is ignored if an operator closed the breaker since.
UPDATE domains d
SET pages_crawled = d.pages_crawled + n.ok, total_error_count = d.total_error_count + n.errors,
    consecutive_error_count = CASE WHEN n.is_new_streak OR (n.streak_code IS NOT NULL AND n.streak_code IS DISTINCT FROM d.error_streak_code)
                                   THEN n.streak ELSE d.consecutive_error_count + n.streak END,
    error_streak_code = CASE WHEN n.is_new_streak THEN n.streak_code ELSE COALESCE(n.streak_code, d.error_streak_code) END,
    unreachable_cooldowns = CASE WHEN n.ok > 0 THEN 0 ELSE d.unreachable_cooldowns END,
    depth_reached = GREATEST(d.depth_reached, n.depth),
    frontier_size = d.frontier_size - n.closed + n.retries, images_found = d.images_found + n.images,
    next_allowed_at = COALESCE(now() + make_interval(secs => n.wait_s), d.next_allowed_at),
    pace_delay_s = COALESCE(n.delay_s, d.pace_delay_s), pace_extra_s = COALESCE(n.extra_s, d.pace_extra_s),
    response_s = COALESCE(n.response_s, d.response_s),
    breaker_state = CASE WHEN d.breaker_resets = n.resets THEN n.breaker_state ELSE d.breaker_state END,
    breaker_failures = CASE WHEN d.breaker_resets = n.resets THEN n.breaker_failures ELSE d.breaker_failures END,
    breaker_opened_at = CASE WHEN d.breaker_resets = n.resets THEN now() - make_interval(secs => n.open_s) ELSE d.breaker_opened_at END,
    claim_expires_at = now() + make_interval(secs => $10), last_crawled_at = now()
FROM unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::int[], $6::smallint[], $7::int[], $8::text[], $9::boolean[],
            $11::float8[], $12::float8[], $13::float8[], $14::float8[], $15::text[], $16::int[], $17::float8[], $18::int[], $19::int[])
     AS n (domain_id, closed, ok, errors, retries, depth, streak, streak_code, is_new_streak,
           wait_s, delay_s, extra_s, response_s, breaker_state, breaker_failures, open_s, resets, images)
WHERE d.id = n.domain_id;

-- name: sitemaps_of_run
-- Returns sitemaps named in the robots.txt files of a run's domains, one per origin, up to $2.
SELECT o.sitemaps[1] AS url FROM origins o JOIN domains d ON d.id = o.domain_id
WHERE d.run_id = $1 AND cardinality(o.sitemaps) > 0
ORDER BY o.domain_id LIMIT $2;

-- name: note_waits
-- Stores why a leased domain makes no requests and until when: the site asked us to wait, or requests failed. The next claim clears it.
UPDATE domains d SET block_reason = n.reason, next_allowed_at = GREATEST(d.next_allowed_at, now() + make_interval(secs => n.wait_s))
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::float8[]) AS n (domain_id, version, reason, wait_s)
WHERE d.id = n.domain_id AND d.version = n.version AND d.claimed_by = $5;

-- name: count_claims
-- Adds pages that a run claimed from its domains, if it has a limit per domain.
UPDATE domains d SET run_pages = d.run_pages + n.pages FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id;

-- name: return_claims
-- Subtracts pages that a run claimed and did not visit.
UPDATE domains d SET run_pages = GREATEST(0, d.run_pages - n.pages)
FROM unnest($1::bigint[], $2::bigint[], $3::int[]) AS n (run_id, domain_id, pages) WHERE d.id = n.domain_id AND d.run_id = n.run_id;

-- name: renew_leases
-- Heartbeat: extends all leases of this worker, including those that expired while the database was unavailable: until another worker
-- claims such a domain, no other worker has worked on it, and what was fetched under the lease is recorded.
UPDATE domains SET claim_expires_at = now() + make_interval(secs => $2) WHERE claimed_by = $1
RETURNING id, version, breaker_resets,
          is_active AND NOT has_new_settings AND window_end(now(), maintenance_start, maintenance_end) IS NULL AS may_go_on;

-- name: find_extra_domains
-- Returns the domains that a worker ($1) holds beyond its even share of a run, least urgent first, and the workers that hold less than a
-- quarter of a share. A worker counts if its heartbeat is younger than $3 seconds and it is not draining. Domains with a label stay: not
-- every worker may hold them.
WITH workers_alive AS (
    SELECT w.id, count(d.id) AS held
    FROM workers w LEFT JOIN domains d ON d.claimed_by = w.id AND d.run_id = $2 AND d.worker_label = ''
    WHERE w.run_id = $2 AND w.status = 'running' AND w.drain_asked_at IS NULL AND w.heartbeat_at > now() - make_interval(secs => $3)
    GROUP BY w.id
), share AS (
    SELECT CEIL(sum(held) / count(*))::int AS each, max(held) FILTER (WHERE id = $1) AS mine FROM workers_alive
)
SELECT ARRAY(SELECT d.id FROM domains d WHERE d.claimed_by = $1 AND d.run_id = $2 AND d.worker_label = ''
             ORDER BY d.priority_score, d.id LIMIT GREATEST(0, share.mine - share.each)) AS domains,
       ARRAY(SELECT a.id FROM workers_alive a WHERE a.held * 4 < share.each ORDER BY a.id) AS workers,
       ARRAY(SELECT a.held FROM workers_alive a WHERE a.held * 4 < share.each ORDER BY a.id) AS held
FROM share WHERE share.mine > share.each;

-- name: release
-- Releases domains, after hold_leases: exhausted if nothing is left to visit now or to retry, ready if something is within the scope. An
-- exhausted domain is in cooldown until its next revisit or refresh. A domain that is blocked again after too many returns stays
-- blocked. A domain that has used its turn goes to the end of the queue. The score is recomputed.
UPDATE domains d
SET claimed_by = NULL, claim_expires_at = NULL, version = d.version + 1,
    next_allowed_at = now() + make_interval(secs => n.wait_s),
    pace_delay_s = COALESCE(n.delay_s, d.pace_delay_s), pace_extra_s = COALESCE(n.extra_s, d.pace_extra_s),
    response_s = COALESCE(n.response_s, d.response_s),
    breaker_state = CASE WHEN d.breaker_resets = n.resets THEN n.breaker_state ELSE d.breaker_state END,
    breaker_failures = CASE WHEN d.breaker_resets = n.resets THEN n.breaker_failures ELSE d.breaker_failures END,
    breaker_opened_at = CASE WHEN d.breaker_resets = n.resets THEN now() - make_interval(secs => n.open_s) ELSE d.breaker_opened_at END,
    ready_at = left_over.since,
    status = CASE WHEN n.reason_code IS NOT NULL AND left_over.takes_status THEN n.status::domain_status WHEN left_over.is_none THEN 'exhausted' ELSE d.status END,
    next_crawl_after = CASE WHEN n.status = 'blocked' AND left_over.takes_status AND d.blocked_returns >= $11 THEN NULL
                            WHEN n.rest_s > 0 AND left_over.takes_status THEN now() + make_interval(secs => n.rest_s)
                            WHEN left_over.is_none
                            THEN LEAST(left_over.since, now() + make_interval(secs => COALESCE(d.refresh_every_s, $12)))
                            ELSE d.next_crawl_after END,
    blocked_returns = CASE WHEN left_over.is_none AND (n.reason_code IS NULL OR NOT left_over.takes_status) THEN 0 ELSE d.blocked_returns END,
    unreachable_cooldowns = LEAST(d.unreachable_cooldowns + (n.status = 'unreachable' AND n.reason_code IS NOT NULL AND left_over.takes_status)::int, 100),
    block_reason = CASE WHEN left_over.takes_status THEN n.reason END,
    block_reason_code = CASE WHEN left_over.takes_status THEN n.reason_code END,
    first_blocked_at = CASE WHEN n.reason_code IS NOT NULL AND left_over.takes_status THEN COALESCE(d.first_blocked_at, now()) ELSE d.first_blocked_at END,
    round = CASE WHEN n.is_spent THEN COALESCE((SELECT r.round + 1 FROM runs r WHERE r.id = d.run_id), 0) ELSE d.round END,
    priority_score = CASE WHEN $13 THEN domain_score(d, now()) ELSE 0 END, priority_computed_at = now()
FROM unnest($1::bigint[], $2::float8[], $3::float8[], $4::text[], $5::text[], $10::text[], $14::boolean[], $15::boolean[],
            $16::float8[], $17::float8[], $18::float8[], $19::text[], $20::int[], $21::float8[], $22::int[])
     AS n (domain_id, wait_s, rest_s, reason_code, reason, status, is_spent, is_fallback,
           delay_s, extra_s, response_s, breaker_state, breaker_failures, open_s, resets)
JOIN domains o ON o.id = n.domain_id
CROSS JOIN LATERAL (
    SELECT LEAST(
        (SELECT now() WHERE EXISTS (
            SELECT FROM pages p WHERE p.domain_id = o.id AND p.status = 'discovered'
              AND p.depth <= $6 AND (p.is_image OR NOT o.images_only)
              AND (p.is_image OR ($7::text[] IS NULL OR p.url LIKE ANY ($7)) AND ($8::text[] IS NULL OR p.url LIKE ANY ($8)))
              AND ($9::text[] IS NULL OR p.url NOT LIKE ALL ($9)))),
        (SELECT min(t.scheduled_for) FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
         WHERE t.domain_id = o.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending'
           AND p.depth <= $6 AND (p.is_image OR NOT o.images_only)
              AND (p.is_image OR ($7::text[] IS NULL OR p.url LIKE ANY ($7)) AND ($8::text[] IS NULL OR p.url LIKE ANY ($8)))
           AND ($9::text[] IS NULL OR p.url NOT LIKE ALL ($9)))) AS since
) ready
CROSS JOIN LATERAL (
    SELECT ready.since, o.frontier_size = 0 AND COALESCE(ready.since > now(), true) AS is_none,
           NOT n.is_fallback OR (o.frontier_size = 0 AND COALESCE(ready.since > now(), true)) AS takes_status
) left_over
WHERE d.id = n.domain_id;

-- name: free_lost_leases
-- Frees domains whose lease expired or whose worker is dead or silent; the new version rejects late results. Their last requests are not
-- recorded, so the crawl delay counts from now. Also frees the leases of the worker $3, which does not know of them.
WITH lost AS MATERIALIZED (
    SELECT d.id FROM domains d LEFT JOIN workers w ON w.id = d.claimed_by
    WHERE d.claimed_by IS NOT NULL
      AND (d.claim_expires_at < now() OR w.id IS NULL OR w.status <> 'running' OR w.heartbeat_at < now() - make_interval(secs => $1)
           OR d.claimed_by = $3)
    ORDER BY d.id
    FOR NO KEY UPDATE OF d SKIP LOCKED
)
UPDATE domains d
SET claimed_by = NULL, claim_expires_at = NULL, version = d.version + 1, ready_at = LEAST(COALESCE(d.ready_at, now()), now()),
    next_allowed_at = GREATEST(d.next_allowed_at,
                               now() + make_interval(secs => GREATEST(COALESCE(d.crawl_delay_s, $2), d.pace_delay_s)))
FROM lost WHERE d.id = lost.id
RETURNING d.id, d.name;

-- name: find_robots
-- Returns the robots.txt of leased domains that has not expired.
SELECT domain_id, origin, robots_txt, robots_status_code, EXTRACT(EPOCH FROM robots_expires_at - now())::float8 AS ttl_s
FROM origins WHERE domain_id = ANY ($1::bigint[]) AND robots_expires_at > now() AND robots_error IS NULL;

-- name: store_robots
-- Stores an origin's robots.txt, or why it could not be fetched: then the last copy is kept, and is not used for crawling.
INSERT INTO origins (domain_id, origin, robots_txt, robots_status_code, robots_error, robots_fetched_at, robots_expires_at, sitemaps)
SELECT n.domain_id, n.origin, n.robots_txt, n.status_code, n.error, now(), now() + make_interval(secs => n.ttl_s),
       COALESCE(string_to_array(n.sitemaps, E'\n'), '{}')
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::float8[], $7::text[])
     AS n (domain_id, origin, robots_txt, status_code, error, ttl_s, sitemaps)
JOIN domains d ON d.id = n.domain_id
ORDER BY n.domain_id, n.origin
ON CONFLICT (domain_id, origin) DO UPDATE
SET robots_txt = CASE WHEN EXCLUDED.robots_error IS NULL THEN EXCLUDED.robots_txt ELSE origins.robots_txt END,
    robots_status_code = CASE WHEN EXCLUDED.robots_error IS NULL THEN EXCLUDED.robots_status_code ELSE origins.robots_status_code END,
    sitemaps = CASE WHEN EXCLUDED.robots_error IS NULL THEN EXCLUDED.sitemaps ELSE origins.sitemaps END,
    robots_error = EXCLUDED.robots_error, robots_fetched_at = EXCLUDED.robots_fetched_at, robots_expires_at = EXCLUDED.robots_expires_at;

-- name: add_robots_requests
-- Records requests for robots.txt, as evidence of the crawl delay.
INSERT INTO robots_requests (domain_id, origin, requested_at, pace_ms)
SELECT n.* FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::int[]) AS n (domain_id, origin, requested_at, pace_ms)
JOIN domains d ON d.id = n.domain_id; -- one that was purged meanwhile has no history

-- name: next_ready
-- Returns when a run's next unleased domain can be claimed by a worker with the labels $3, and whether any of its domains is leased now.
-- Ignores domains with nothing ready within $4 seconds: they wait for deferred retries, which stay queued. Ignores domains due later
-- than in $5 seconds, so that long cooldowns are not scanned.
SELECT EXISTS (SELECT FROM domains WHERE claimed_by IS NOT NULL AND run_id = $1) AS is_held,
       LEAST(
           (SELECT 0.0::float8 FROM unnest($3::text[]) AS l (label) CROSS JOIN LATERAL (
                SELECT FROM domains d
                WHERE d.claimed_by IS NULL AND d.is_due AND d.status IN ('pending', 'active') AND d.is_active AND d.run_id = $1
                  AND d.worker_label = l.label
                  AND d.due_at <= now() AND COALESCE(d.run_pages < LEAST($2::int, d.max_pages_per_run), true)
                ORDER BY d.round, d.priority_score DESC, d.id LIMIT 1) first
            LIMIT 1),
           (SELECT GREATEST(0, EXTRACT(EPOCH FROM d.due_at - now()))::float8 FROM domains d
            WHERE d.claimed_by IS NULL AND NOT d.is_due AND d.status IN ('pending', 'active') AND d.is_active
              AND d.due_at IS NOT NULL AND d.run_id = $1 AND COALESCE(d.run_pages < LEAST($2::int, d.max_pages_per_run), true)
              AND d.worker_label = ANY ($3::text[]) AND d.ready_at <= now() + make_interval(secs => $4)
              AND d.due_at <= now() + make_interval(secs => $5)
            ORDER BY d.due_at LIMIT 1)) AS wait_s;

-- name: score_domains
-- Recomputes the scores of the next domains after an id. Writes a score only if it moved by half a point or is a day old: others are not
-- worth a new row version. Skips locked rows; they are scored an hour later. Returns the last id, and how many scores were written.
WITH batch AS MATERIALIZED (
    SELECT max(id) AS last_id FROM (SELECT id FROM domains WHERE id > $1 ORDER BY id LIMIT $2) next
), stale AS MATERIALIZED (
    SELECT d.id, s.score FROM domains d
    CROSS JOIN LATERAL (SELECT CASE WHEN $3 THEN domain_score(d, now()) ELSE 0 END AS score OFFSET 0) s
    WHERE d.id > $1 AND d.id <= (SELECT last_id FROM batch) AND d.status IN ('pending', 'active', 'exhausted')
      AND (abs(d.priority_score - s.score) > 0.5 OR COALESCE(d.priority_computed_at < now() - interval '1 day', true))
    ORDER BY d.id
    FOR NO KEY UPDATE OF d SKIP LOCKED
), written AS (
    UPDATE domains d SET priority_score = stale.score, priority_computed_at = now()
    FROM stale WHERE d.id = stale.id AND d.id > $1 AND d.id <= (SELECT last_id FROM batch)
    RETURNING d.id
)
SELECT (SELECT last_id FROM batch) AS last_id, (SELECT count(*) FROM written)::int AS written;

-- name: preview_score
-- Returns the scores that new domains with these ranks and frontier sizes would have, in the given order.
SELECT domain_score(jsonb_populate_record(NULL::domains, jsonb_build_object(
           'seed_rank', n.seed_rank, 'frontier_size', n.frontier_size, 'image_yield_rate', 0, 'error_rate', 0, 'first_seen_at', now())), now())
FROM unnest($1::int[], $2::bigint[]) WITH ORDINALITY AS n (seed_rank, frontier_size, place)
ORDER BY n.place;

-- name: score_domain
-- Recomputes the score of one domain. Returns nothing for a blocked or unreachable domain: it cannot be claimed and has no score.
UPDATE domains d SET priority_score = CASE WHEN $2 THEN domain_score(d, now()) ELSE 0 END, priority_computed_at = now()
WHERE d.id = $1 AND d.status IN ('pending', 'active', 'exhausted')
RETURNING d.priority_score;
