-- Domains: identity, lease renewal, counters, robots.txt. Owner of domains, origins, domain_transitions.

-- name: add_domains
-- Adds newly discovered domains, in name order so that workers do not deadlock; except for those of the deny list, and
-- hosts that belong to a domain above them, $6 and $7.
INSERT INTO domains (name, parent_domain, base_url, source, run_id, round)
SELECT n.name, n.parent_domain, n.base_url, $4, $5, COALESCE((SELECT round + 1 FROM runs WHERE id = $5), 0)
FROM unnest($1::text[], $2::text[], $3::text[]) AS n (name, parent_domain, base_url)
WHERE n.name NOT IN (SELECT a.name FROM unnest($6::text[], $7::text[]) AS a (name, above) JOIN domains d ON d.name = a.above AND d.strips_subdomains)
  AND NOT EXISTS (SELECT FROM denied_domains x WHERE x.name = n.name)
ORDER BY n.name
ON CONFLICT (name) DO NOTHING;

-- name: add_seed_domains
-- Adds new domains of a seed list, in list order. Their pages are counted at once: no other transaction can add a page to a domain that
-- is not committed yet.
INSERT INTO domains (name, parent_domain, base_url, seed_rank, pages_discovered, frontier_size, source, run_id, ready_at,
                     priority_score, priority_computed_at)
SELECT n.name, n.parent_domain, n.base_url, n.seed_rank, n.pages, n.pages, $6, $7, now(),
       CASE WHEN $8 THEN domain_score(jsonb_populate_record(NULL::domains, jsonb_build_object(
           'seed_rank', n.seed_rank, 'frontier_size', n.pages, 'image_yield_rate', 0, 'first_seen_at', now())), now())
       ELSE 0 END, now()
FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[]) WITH ORDINALITY
     AS n (name, parent_domain, base_url, seed_rank, pages, position)
WHERE n.name NOT IN (SELECT a.name FROM unnest($9::text[], $10::text[]) AS a (name, above) JOIN domains d ON d.name = a.above AND d.strips_subdomains)
  AND NOT EXISTS (SELECT FROM denied_domains x WHERE x.name = n.name)
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
-- Returns the ids of domains by name. A name without a row belongs to the nearest domain above it whose subdomains are
-- the same site, if there is one; $2 and $3 are the names above each, nearest first.
SELECT id, name FROM domains WHERE name = ANY ($1::text[])
UNION ALL
SELECT s.id, s.name FROM (
    SELECT DISTINCT ON (n.name) d.id, n.name
    FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS n (name, above, position)
    JOIN domains d ON d.name = n.above AND d.strips_subdomains
    WHERE NOT EXISTS (SELECT FROM domains o WHERE o.name = n.name)
    ORDER BY n.name, n.position) s;

-- name: owners_of
-- Returns the names of domains by their ids.
SELECT name FROM domains WHERE id = ANY ($1::bigint[]) ORDER BY name;

-- name: site_origins
-- Returns the scheme and host under which the sites of these domains are known, where that is known.
SELECT name, site_origin FROM domains WHERE name = ANY ($1::text[]) AND site_origin IS NOT NULL;

-- name: set_site_origins
-- Stores under which scheme and host sites are known. The caller holds their leases.
UPDATE domains d SET site_origin = n.origin FROM unnest($1::bigint[], $2::text[]) AS n (domain_id, origin)
WHERE d.id = n.domain_id AND d.site_origin IS DISTINCT FROM n.origin;

-- name: url_rules
-- Returns the URL rules of all domains that have some, if they differ from the state $1 that the caller knows.
WITH ruled AS MATERIALIZED (
    SELECT name, url_rules, strips_subdomains FROM domains WHERE url_rules IS NOT NULL OR strips_subdomains
), state AS MATERIALIZED (
    SELECT COALESCE(sum(hashtextextended(name || COALESCE(url_rules::text, '') || strips_subdomains, 0)::numeric), 0)::text AS state FROM ruled
)
SELECT s.state, r.name, r.url_rules::text AS url_rules, r.strips_subdomains FROM state s LEFT JOIN ruled r ON true WHERE s.state <> $1;

-- name: count_discovered
-- Counts new pages of these domains, and makes the domains claimable. In id order, after all pages are inserted.
WITH more AS MATERIALIZED (
    SELECT d.id, d.run_id, n.pages FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) JOIN domains d ON d.id = n.domain_id
    ORDER BY d.id FOR NO KEY UPDATE OF d
)
UPDATE domains d
SET pages_discovered = d.pages_discovered + more.pages, frontier_size = d.frontier_size + more.pages,
    ready_at = CASE WHEN pages_left(d, r.max_pages_per_domain, now()) <= 0 AND (d.claimed_by IS NOT NULL OR d.run_id IS NOT DISTINCT FROM COALESCE($3, d.run_id))
                    THEN LEAST(d.ready_at, d.budget_until) ELSE LEAST(COALESCE(d.ready_at, now()), now()) END,
    status = CASE d.status WHEN 'exhausted' THEN 'active' ELSE d.status END,
    run_pages = CASE WHEN d.claimed_by IS NULL AND d.run_id IS DISTINCT FROM COALESCE($3, d.run_id) AND d.budget_period = 'run' THEN 0 ELSE d.run_pages END,
    images_only = d.images_only AND NOT COALESCE(d.claimed_by IS NULL OR d.run_id = $3, true),
    run_id = CASE WHEN d.claimed_by IS NULL THEN COALESCE($3, d.run_id) ELSE d.run_id END
FROM more LEFT JOIN runs r ON r.id = more.run_id WHERE d.id = more.id;

-- name: wake_due
-- Updates domains of a run that became due, or urgent, since they were written: the trigger marks them as such.
UPDATE domains SET is_due = true WHERE id = ANY (ARRAY(
    SELECT id FROM domains
    WHERE claimed_by IS NULL AND NOT is_due AND status IN ('pending', 'active') AND is_active AND run_id = $1 AND due_at <= now()
    ORDER BY due_at LIMIT 1000
    FOR NO KEY UPDATE SKIP LOCKED) || ARRAY(
    SELECT id FROM domains
    WHERE claimed_by IS NULL AND urgency < 2 AND is_due AND run_id = $1 AND urgent_at <= now()
    ORDER BY urgent_at LIMIT 1000
    FOR NO KEY UPDATE SKIP LOCKED));

-- name: count_waiting
-- Counts domains of a run that a worker with the labels $2 could lease now, within a budget of $4 pages each; up to $3 per label.
SELECT count(*)::int FROM unnest($2::text[]) AS l (label) CROSS JOIN LATERAL (
    SELECT FROM domains d
    WHERE d.claimed_by IS NULL AND d.is_due AND d.status IN ('pending', 'active') AND d.is_active AND d.run_id = $1
      AND d.worker_label = l.label AND d.due_at <= now() AND has_budget(d, $4::int, now())
    LIMIT $3) waiting;

-- name: find_urgent
-- Returns the leases of a worker ($1) with an urgent task that is due, each with since when; and how many urgent domains
-- of its run it could lease, up to $4, and how many of these have waited for $6 seconds.
WITH urgent AS (
    SELECT GREATEST(d.urgent_at, d.due_at) AS since FROM domains d
    WHERE d.run_id = $2 AND d.urgent_at <= now() AND d.claimed_by IS NULL AND d.status IN ('pending', 'active') AND d.is_active
      AND d.due_at <= now() AND d.worker_label = ANY ($3::text[]) AND has_budget(d, $5::int, now())
    ORDER BY d.urgent_at LIMIT $4
), held AS (
    SELECT d.id, d.urgent_at FROM domains d WHERE d.run_id = $2 AND d.urgent_at <= now() AND d.claimed_by = $1
)
SELECT ARRAY(SELECT id FROM held ORDER BY id) AS held, ARRAY(SELECT urgent_at FROM held ORDER BY id) AS since,
       (SELECT count(*)::int FROM urgent) AS waiting,
       (SELECT count(*)::int FROM urgent u WHERE u.since <= now() - make_interval(secs => $6)) AS overdue;

-- name: find_least_urgent
-- Returns up to $4 domains that a worker ($1) holds for a run, those first that would be claimed last; not those of $3.
SELECT d.id FROM domains d WHERE d.claimed_by = $1 AND d.run_id = $2 AND d.id <> ALL ($3::bigint[])
ORDER BY d.urgency, d.round DESC, d.priority_score, d.id LIMIT $4;

-- name: wake
-- Makes domains ready because one of their pages is now within the scope.
UPDATE domains SET ready_at = LEAST(COALESCE(ready_at, now()), now()) WHERE id = ANY ($1::bigint[]);

-- name: update_requeue_counts
-- Counts pages of these domains that got a new task.
UPDATE domains d SET frontier_size = d.frontier_size + n.pages, status = CASE d.status WHEN 'exhausted' THEN 'active' ELSE d.status END
FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id;

-- name: uncount_pages
-- Subtracts pages of these domains that turned out to be sitemaps or feeds. In id order.
UPDATE domains d SET pages_discovered = d.pages_discovered - n.pages FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id;

-- name: wake_unreachable
-- Retries unreachable domains now because an operator named them explicitly.
UPDATE domains SET status = 'pending', block_reason = NULL, block_reason_code = NULL, next_crawl_after = NULL
WHERE name = ANY ($1::text[]) AND status = 'unreachable';

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
SET run_id = $1, run_pages = CASE budget_period WHEN 'run' THEN 0 ELSE run_pages END,
    budget_until = CASE budget_period WHEN 'run' THEN NULL ELSE budget_until END, round = 0,
    has_new_settings = has_new_settings OR claimed_by IS NOT NULL,
    status = CASE WHEN status = 'exhausted' AND (frontier_size > 0 OR EXISTS (SELECT FROM crawl_tasks t WHERE t.domain_id = domains.id AND t.outcome IS NULL
        AND t.locked_at IS NULL AND t.status = 'pending' AND t.scheduled_for <= now())) THEN 'active' ELSE status END,
    images_only = images_only AND NOT (name = ANY ($2::text[]) OR parent_domain = ANY ($3::text[]) OR $4),
    ready_at = CASE WHEN frontier_size > 0 THEN LEAST(COALESCE(ready_at, now()), now())
    ELSE (SELECT min(t.scheduled_for) FROM crawl_tasks t
          WHERE t.domain_id = domains.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending') END
WHERE id = ANY (ARRAY(SELECT id FROM taken));

-- name: adopt_domains
-- Takes domains into a run because seeds of it lead there. The continuous run ($3) takes none from a run that goes on.
UPDATE domains d
SET run_id = $1, run_pages = 0, round = COALESCE((SELECT r.round FROM runs r WHERE r.id = $1), 0), images_only = false,
    ready_at = LEAST(COALESCE(d.ready_at, now()), now())
FROM (SELECT id FROM domains WHERE id = ANY ($2::bigint[]) ORDER BY id FOR NO KEY UPDATE) led
WHERE d.id = led.id AND (d.run_id IS DISTINCT FROM $1 OR d.images_only)
  AND NOT ($3 AND EXISTS (SELECT FROM runs r WHERE r.id = d.run_id AND r.id <> $1 AND r.status = 'running'));

-- name: adopt_settings
-- Gives domains of which nothing was fetched yet the profile and settings of the domain whose seed leads to them; the array positions
-- correspond.
INSERT INTO domain_settings (domain_id, profile_id, settings, has_implied_scope, updated_by)
SELECT DISTINCT ON (d.id) d.id, s.profile_id, s.settings, s.has_implied_scope, 'redirect'
FROM unnest($1::bigint[], $2::bigint[]) AS n (domain_id, from_id)
JOIN domains d ON d.id = n.domain_id AND d.pages_crawled = 0 AND d.id <> n.from_id
JOIN domain_settings s ON s.domain_id = n.from_id
ORDER BY d.id, n.from_id
ON CONFLICT (domain_id) DO NOTHING;

-- name: adopt_prefixes
-- Adds the folders of adopted seeds to the scope of domains that are crawled by prefixes; the array positions correspond.
UPDATE domain_settings s
SET settings = s.settings || jsonb_build_object('prefixes', COALESCE(s.effective -> 'prefixes', '[]') || to_jsonb(n.folder))
FROM unnest($1::bigint[], $2::text[]) AS n (domain_id, folder)
WHERE s.domain_id = n.domain_id AND s.effective ->> 'scope' = 'prefix' AND NOT COALESCE(s.effective -> 'prefixes', '[]') @> to_jsonb(n.folder);

-- name: guess_schemes
-- Notes which domains were named without a scheme ($1), and which with https ($2). Of a domain that was fetched before the scheme is known.
UPDATE domains SET guesses_scheme = name = ANY ($1::text[])
WHERE id = ANY (ARRAY(SELECT id FROM domains WHERE name = ANY ($1::text[] || $2::text[]) ORDER BY id FOR NO KEY UPDATE))
  AND guesses_scheme <> (name = ANY ($1::text[])) AND (pages_crawled = 0 OR guesses_scheme);

-- name: move_bases
-- Notes the origin that is tried instead of the one that did not work; the array positions correspond.
UPDATE domains d SET base_url = n.base_url FROM unnest($1::bigint[], $2::text[]) AS n (domain_id, base_url)
WHERE d.id = n.domain_id AND d.guesses_scheme AND d.pages_crawled = 0;

-- name: known_bases
-- Returns the origins of these domains of which something was fetched.
SELECT name, base_url FROM domains WHERE name = ANY ($1::text[]) AND pages_crawled > 0;

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
    SET run_id = $1, run_pages = CASE d.budget_period WHEN 'run' THEN 0 ELSE d.run_pages END,
        budget_until = CASE d.budget_period WHEN 'run' THEN NULL ELSE d.budget_until END, round = (SELECT r.round FROM runs r WHERE r.id = $1),
        images_only = d.images_only AND d.pages_discovered = 0,
        ready_at = CASE WHEN d.frontier_size > 0 THEN LEAST(COALESCE(d.ready_at, now()), now())
        ELSE (SELECT min(t.scheduled_for) FROM crawl_tasks t
              WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending') END
    FROM strays s WHERE d.id = s.id
    RETURNING d.id
)
SELECT count(*)::int FROM adopted;

-- name: known_names
-- Returns domains that links may lead to, in id order: not those of which only images or ordered pages are wanted.
SELECT d.id, d.name FROM domains d
WHERE d.id > $1 AND NOT d.images_only AND NOT EXISTS (SELECT FROM domain_settings s WHERE s.domain_id = d.id AND s.url_folders = '{}')
ORDER BY d.id;

-- name: hold_leases
-- Returns which of these leases are still ours; locks their rows until the transaction ends, in id order.
SELECT d.id, d.version,
       d.is_active AND NOT d.has_new_settings AND window_end(now(), d.maintenance_start, d.maintenance_end, d.time_zone) IS NULL AS may_go_on
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
    recent_error_rate = recent.weight * d.recent_error_rate
                        + (1 - recent.weight) * n.errors / GREATEST(n.ok + n.errors, 1),
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
CROSS JOIN LATERAL (SELECT power(0.98::float8, n.ok + n.errors) AS weight) recent
WHERE d.id = n.domain_id;

-- name: sitemaps_of_run
-- Returns sitemaps named in the robots.txt files of a run's domains that were not followed, one per origin, up to $2.
SELECT o.sitemaps[1] AS url FROM origins o JOIN domains d ON d.id = o.domain_id
WHERE d.run_id = $1 AND cardinality(o.sitemaps) > 0 AND NOT EXISTS (SELECT FROM sitemaps s WHERE s.site_id = d.id AND s.found_by = 'robots')
ORDER BY o.domain_id LIMIT $2;

-- name: note_waits
-- Stores why a leased domain makes no requests and until when: the site asked us to wait, or requests failed. The next claim clears it.
UPDATE domains d SET block_reason = n.reason, next_allowed_at = GREATEST(d.next_allowed_at, now() + make_interval(secs => n.wait_s))
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::float8[]) AS n (domain_id, version, reason, wait_s)
WHERE d.id = n.domain_id AND d.version = n.version AND d.claimed_by = $5;

-- name: count_claims
-- Charges pages to the budgets of their domains; the first page after the end of a period begins the next one.
-- In the continuous run, which never ends, a period is the time between two refreshes, by default $3 seconds. Returns what
-- is left of each budget; $4 is the limit of the run.
UPDATE domains d
SET run_pages = CASE WHEN d.budget_until <= now() THEN 0 ELSE d.run_pages END + n.pages,
    budget_until = CASE WHEN d.budget_until > now() THEN d.budget_until
                        ELSE COALESCE(period_end(now(), d.budget_period, d.time_zone),
                                      (SELECT now() + make_interval(secs => COALESCE(d.refresh_every_s, $3::float8)) FROM runs r WHERE r.id = d.run_id AND r.keeper = 'standing')) END
FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id
RETURNING d.name, d.run_pages AS pages, d.budget_until AS until, pages_left(d, $4::int, now()) AS pages_left;

-- name: return_claims
-- Subtracts pages that a run claimed and did not visit.
UPDATE domains d SET run_pages = GREATEST(0, d.run_pages - n.pages)
FROM unnest($1::bigint[], $2::bigint[], $3::int[]) AS n (run_id, domain_id, pages) WHERE d.id = n.domain_id AND d.run_id = n.run_id;

-- name: renew_leases
-- Heartbeat: extends all leases of this worker, including those that expired while the database was unavailable: until another worker
-- claims such a domain, no other worker has worked on it, and what was fetched under the lease is recorded.
UPDATE domains SET claim_expires_at = now() + make_interval(secs => $2) WHERE claimed_by = $1
RETURNING id, version, breaker_resets,
          is_active AND NOT has_new_settings AND window_end(now(), maintenance_start, maintenance_end, time_zone) IS NULL AS may_go_on;

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
             ORDER BY d.urgency, d.priority_score, d.id LIMIT GREATEST(0, share.mine - share.each)) AS domains,
       ARRAY(SELECT a.id FROM workers_alive a WHERE a.held * 4 < share.each ORDER BY a.id) AS workers,
       ARRAY(SELECT a.held FROM workers_alive a WHERE a.held * 4 < share.each ORDER BY a.id) AS held
FROM share WHERE share.mine > share.each;

-- name: release
-- Releases domains, after hold_leases: exhausted if nothing in scope is left to visit now or to retry, ready if something is. Pages that
-- the page budget holds back are ready when it renews. An exhausted domain is in cooldown until its next revisit or refresh. A domain that is blocked again after too many returns stays
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
LEFT JOIN runs r ON r.id = o.run_id
LEFT JOIN domain_settings s ON s.domain_id = o.id
CROSS JOIN LATERAL (
    SELECT COALESCE(pages_left(o, r.max_pages_per_domain, now()) <= 0, false) AS is_spent,
           EXISTS (SELECT FROM pages p WHERE p.domain_id = o.id AND p.status = 'discovered'
                     AND in_scope(p, s, $6) AND (p.is_image OR p.is_sitemap OR NOT o.images_only)
                     AND (p.is_image OR p.is_sitemap OR ($7::text[] IS NULL OR p.url LIKE ANY ($7)) AND ($8::text[] IS NULL OR p.url LIKE ANY ($8)))
                     AND ($9::text[] IS NULL OR p.url NOT LIKE ALL ($9))) AS has_pages
) frontier
CROSS JOIN LATERAL (
    SELECT LEAST(
        CASE WHEN frontier.has_pages THEN CASE WHEN frontier.is_spent THEN o.budget_until ELSE now() END END,
        (SELECT now() WHERE frontier.is_spent AND EXISTS (SELECT FROM pages p WHERE p.domain_id = o.id AND p.status = 'discovered' AND (p.is_image OR p.is_sitemap) AND in_scope(p, s, $6))),
        (SELECT min(CASE WHEN frontier.is_spent AND is_charged(t, p, o.counts_revisits) THEN o.budget_until ELSE t.scheduled_for END)
         FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
         WHERE t.domain_id = o.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending'
           AND in_scope(p, s, $6) AND (p.is_image OR p.is_sitemap OR NOT o.images_only)
           AND (p.is_image OR p.is_sitemap OR ($7::text[] IS NULL OR p.url LIKE ANY ($7)) AND ($8::text[] IS NULL OR p.url LIKE ANY ($8)))
           AND ($9::text[] IS NULL OR p.url NOT LIKE ALL ($9)))) AS since
) ready
CROSS JOIN LATERAL (
    SELECT ready.since, COALESCE(ready.since > now(), true) AND (o.frontier_size = 0 OR $7 IS NULL AND NOT frontier.has_pages AND NOT EXISTS (
               SELECT FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
               WHERE t.domain_id = o.id AND t.outcome IS NULL AND p.status = 'queued' AND in_scope(p, s, $6))) AS is_none
) rest
CROSS JOIN LATERAL (SELECT rest.since, rest.is_none, NOT n.is_fallback OR rest.is_none AS takes_status) left_over
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
SET claimed_by = NULL, claim_expires_at = NULL, version = d.version + 1,
    ready_at = CASE WHEN pages_left(d, (SELECT r.max_pages_per_domain FROM runs r WHERE r.id = d.run_id), now()) <= 0
                    THEN LEAST(d.budget_until, (SELECT min(t.scheduled_for) FROM crawl_tasks t
                                                WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.status IN ('pending', 'crawling')))
                    ELSE LEAST(COALESCE(d.ready_at, now()), now()) END,
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
                  AND d.due_at <= now() AND has_budget(d, $2::int, now())
                ORDER BY d.urgency DESC, d.round, d.priority_score DESC, d.id LIMIT 1) first
            LIMIT 1),
           (SELECT GREATEST(0, EXTRACT(EPOCH FROM d.due_at - now()))::float8 FROM domains d
            WHERE d.claimed_by IS NULL AND NOT d.is_due AND d.status IN ('pending', 'active') AND d.is_active
              AND d.due_at IS NOT NULL AND d.run_id = $1 AND has_budget(d, $2::int, d.due_at)
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
           'seed_rank', n.seed_rank, 'frontier_size', n.frontier_size, 'image_yield_rate', 0, 'first_seen_at', now())), now())
FROM unnest($1::int[], $2::bigint[]) WITH ORDINALITY AS n (seed_rank, frontier_size, place)
ORDER BY n.place;

-- name: score_domain
-- Recomputes the score of one domain. Returns nothing for a blocked or unreachable domain: it cannot be claimed and has no score.
UPDATE domains d SET priority_score = CASE WHEN $2 THEN domain_score(d, now()) ELSE 0 END, priority_computed_at = now()
WHERE d.id = $1 AND d.status IN ('pending', 'active', 'exhausted')
RETURNING d.priority_score;

-- name: has_images_due
-- Returns whether a run has a domain that was added for images and has some left that may be fetched now, or are being fetched.
SELECT EXISTS (SELECT FROM domains d WHERE d.run_id = $1 AND d.images_only AND d.frontier_size > 0 AND d.status IN ('pending', 'active')
               AND d.is_active AND (d.is_due OR d.claimed_by IS NOT NULL));
