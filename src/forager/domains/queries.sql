-- Domains as entities: identity, lease keeping, counters, robots.txt. Owner of domains, origins, domain_transitions.

-- name: add_domains
-- Domains met for the first time, in name order so that workers do not deadlock.
INSERT INTO domains (name, parent_domain, base_url, source, run_id, round)
SELECT n.name, n.parent_domain, n.base_url, $4, $5, COALESCE((SELECT round + 1 FROM runs WHERE id = $5), 0)
FROM unnest($1::text[], $2::text[], $3::text[]) AS n (name, parent_domain, base_url)
ORDER BY n.name
ON CONFLICT (name) DO NOTHING;

-- name: add_seed_domains
-- Domains of a list of seeds met for the first time, in its order. What they begin with is counted at once: nobody else can
-- add a page to a domain that is not committed yet.
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
-- Known domains that a list ranks higher, or for the first time; their source stays the first.
WITH better AS MATERIALIZED (
    SELECT d.id, n.seed_rank FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, seed_rank)
    JOIN domains d ON d.id = n.domain_id AND COALESCE(n.seed_rank < d.seed_rank, true)
    ORDER BY d.id FOR NO KEY UPDATE OF d
)
UPDATE domains d SET seed_rank = better.seed_rank FROM better WHERE d.id = better.id;

-- name: names_of_run
-- The domains a run has taken, with their registrable ones.
SELECT name, parent_domain FROM domains WHERE run_id = $1;

-- name: find_domains
-- Ids of domains by name.
SELECT id, name FROM domains WHERE name = ANY ($1::text[]);

-- name: count_discovered
-- New pages of these domains: count them, and make the domain claimable. In id order, after all pages are inserted.
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
-- Domains of a run whose time has come since they were written: the trigger sees that they are due.
UPDATE domains SET is_due = true WHERE id = ANY (ARRAY(
    SELECT id FROM domains
    WHERE claimed_by IS NULL AND NOT is_due AND status IN ('pending', 'active') AND is_active AND run_id = $1 AND due_at <= now()
    ORDER BY due_at LIMIT 1000
    FOR NO KEY UPDATE SKIP LOCKED));

-- name: count_waiting
-- How many domains of a run could be leased now by a worker with the labels of $2, within a budget of $4 pages each; counted up to $3.
SELECT count(*)::int FROM unnest($2::text[]) AS l (label) CROSS JOIN LATERAL (
    SELECT FROM domains d
    WHERE d.claimed_by IS NULL AND d.is_due AND d.status IN ('pending', 'active') AND d.is_active AND d.run_id = $1
      AND d.worker_label = l.label AND d.due_at <= now() AND COALESCE(d.run_pages < LEAST($4::int, d.max_pages_per_run), true)
    LIMIT $3) waiting;

-- name: wake
-- Something of these domains came into reach.
UPDATE domains SET ready_at = LEAST(COALESCE(ready_at, now()), now()) WHERE id = ANY ($1::bigint[]);

-- name: update_requeue_counts
-- Pages of these domains that got a new task.
UPDATE domains d SET frontier_size = d.frontier_size + n.pages, status = CASE d.status WHEN 'exhausted' THEN 'active' ELSE d.status END
FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id;

-- name: wake_unreachable
-- Domains asked for by name although nobody answered last time: a person knows better, so they are tried again now.
UPDATE domains SET status = 'pending', block_reason = NULL, block_reason_code = NULL, next_crawl_after = NULL
WHERE name = ANY ($1::text[]) AND status = 'unreachable';

-- name: allow_networks
-- The operator lets the address guard through to these networks, for these domains and as long as they are known. Answers their ids.
UPDATE domains SET allow_networks = $2::text[] WHERE id = ANY (ARRAY(
    SELECT id FROM domains WHERE name = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE))
RETURNING id;

-- name: reset_unreachable
-- Domains that failed only because our own network was down: their failures in a row are forgotten, and those that rest for it are ready again.
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
-- A run takes the domains it was asked to crawl: named ones, those below named parents, or all with something to do. With them come
-- those that an earlier run took for the images of their pages and did not finish. Found once, as an array: where statistics are older
-- than a long list, `id IN (SELECT … FOR UPDATE)` looked for all of them anew for each (18 s for 5,000).
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
-- The standing run takes domains that belong to no run, or to one that is over, some at a time. One whose pages are known is not there
-- for its images only, although the run that is over had it for them.
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
-- Domains that are there for their pages, in the order they came.
SELECT id, name FROM domains WHERE id > $1 AND NOT images_only ORDER BY id;

-- name: hold_leases
-- Which of these leases are still ours; their rows stay locked until the transaction ends, in id order.
SELECT d.id, d.version,
       d.is_active AND NOT d.has_new_settings AND window_end(now(), d.maintenance_start, d.maintenance_end) IS NULL AS may_go_on
FROM unnest($1::bigint[], $2::bigint[]) AS n (domain_id, version)
JOIN domains d ON d.id = n.domain_id AND d.version = n.version AND d.claimed_by = $3
ORDER BY d.id
FOR NO KEY UPDATE OF d;

-- name: lastmods_of
-- How often the sitemaps of a domain said that a page had changed, and how often it had.
SELECT d.lastmod_claims, d.lastmod_truths FROM domains d WHERE d.id = $1;

-- name: count_lastmods
-- Claims of sitemaps that visits tested. The caller holds the domains.
UPDATE domains d SET lastmod_claims = d.lastmod_claims + n.claims, lastmod_truths = d.lastmod_truths + n.truths
FROM unnest($1::bigint[], $2::int[], $3::int[]) AS n (domain_id, claims, truths)
WHERE d.id = n.domain_id;

-- name: without_links
-- Of these domains, those whose links are not to be stored.
SELECT d.id FROM domains d WHERE d.id = ANY ($1::bigint[]) AND NOT d.stores_links;

-- name: count_visits
-- Closed tasks of leased domains: counters, pace and breaker for a successor, lease renewed. What the holder thinks of a breaker that
-- somebody closed by hand since is not written.
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
-- Sitemaps that the robots.txt files of a run's domains name, some of them.
SELECT o.sitemaps[1] AS url FROM origins o JOIN domains d ON d.id = o.domain_id
WHERE d.run_id = $1 AND cardinality(o.sitemaps) > 0
ORDER BY o.domain_id LIMIT $2;

-- name: note_waits
-- Leased domains whose site asked for silence, or whose requests failed: why nothing is asked now, and until when. The claim forgets it.
UPDATE domains d SET block_reason = n.reason, next_allowed_at = GREATEST(d.next_allowed_at, now() + make_interval(secs => n.wait_s))
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::float8[]) AS n (domain_id, version, reason, wait_s)
WHERE d.id = n.domain_id AND d.version = n.version AND d.claimed_by = $5;

-- name: count_claims
-- What a run took from its domains, where it has a limit per domain.
UPDATE domains d SET run_pages = d.run_pages + n.pages FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id;

-- name: return_claims
-- What a run took from its domains and did not visit.
UPDATE domains d SET run_pages = GREATEST(0, d.run_pages - n.pages)
FROM unnest($1::bigint[], $2::bigint[], $3::int[]) AS n (run_id, domain_id, pages) WHERE d.id = n.domain_id AND d.run_id = n.run_id;

-- name: renew_leases
-- The heartbeat: everything this worker holds stays its own for another lease. Also what ran out meanwhile, while the database was away: until
-- another worker took it, nobody else worked on it, and what was fetched under it is recorded.
UPDATE domains SET claim_expires_at = now() + make_interval(secs => $2) WHERE claimed_by = $1
RETURNING id, version, breaker_resets,
          is_active AND NOT has_new_settings AND window_end(now(), maintenance_start, maintenance_end) IS NULL AS may_go_on;

-- name: find_extra_domains
-- What a worker ($1) has more than its even share of a run's domains, the least urgent first, and the workers who have less than a quarter of
-- one. A worker counts if it was heard of within $3 seconds and is not sent away. Domains that want a label stay: not everybody may have them.
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
-- Hand domains back, after hold_leases: exhausted when nothing is left to visit now or to try again, ready when something is in reach.
-- Exhausted rests until its next revisit or refresh. Blocked once more after too many returns has no end. Who had its
-- turn goes to the back of the queue. The score is made anew.
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
-- Domains whose lease ran out or whose worker is dead or silent become claimable again; the new version refuses its late results.
-- Their last requests are on no record: the pace counts from now. So do strays: leases of a worker that knows of none.
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
-- robots.txt of leased domains that may still be trusted.
SELECT domain_id, origin, robots_txt, robots_status_code, EXTRACT(EPOCH FROM robots_expires_at - now())::float8 AS ttl_s
FROM origins WHERE domain_id = ANY ($1::bigint[]) AND robots_expires_at > now() AND robots_error IS NULL;

-- name: store_robots
-- What an origin's robots.txt said, or why it could not be had: then the last copy stays, and is not used for crawling.
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
-- When robots.txt files were asked for: evidence of the pace.
INSERT INTO robots_requests (domain_id, origin, requested_at, pace_ms)
SELECT n.* FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::int[]) AS n (domain_id, origin, requested_at, pace_ms)
JOIN domains d ON d.id = n.domain_id; -- one that was purged meanwhile has no history

-- name: next_ready
-- When a run's next unleased domain may be claimed by who has the labels of $3, and whether any of its domains is leased now. A domain
-- of which nothing is ready before $4 seconds have passed does not count: it waits for tries that were put off, and they keep. Nor does
-- one that is due later than in $5 seconds, so that those that sleep for long are not looked through.
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
-- The scores of the next domains after an id. A score that moved by half a point or is a day old is written, the others are not worth
-- a new row; whoever is being written to now has its turn in an hour. Answers the last id, and how many were written.
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
-- The scores that new domains with these ranks and frontiers would have, in their order.
SELECT domain_score(jsonb_populate_record(NULL::domains, jsonb_build_object(
           'seed_rank', n.seed_rank, 'frontier_size', n.frontier_size, 'image_yield_rate', 0, 'error_rate', 0, 'first_seen_at', now())), now())
FROM unnest($1::int[], $2::bigint[]) WITH ORDINALITY AS n (seed_rank, frontier_size, place)
ORDER BY n.place;

-- name: score_domain
-- The score of one domain, made anew whatever it was. Nothing where it stands still: who has no turn has no score.
UPDATE domains d SET priority_score = CASE WHEN $2 THEN domain_score(d, now()) ELSE 0 END, priority_computed_at = now()
WHERE d.id = $1 AND d.status IN ('pending', 'active', 'exhausted')
RETURNING d.priority_score;
