-- Operator actions on proxies, and what operators see of them. Passwords are read only to encrypt them again.

-- name: add_proxy
-- Adds a proxy, or updates a known one: given values replace the previous ones.
INSERT INTO proxies AS p (protocol, host, port, username, sealed_password, is_forwarding, country_code, city, provider, monthly_cost,
                          max_requests_per_hour, is_default)
VALUES ($1, $2, $3, $4, $5, COALESCE($6, false), $7, $8, $9, $10, COALESCE($11, 1000), COALESCE($12, false))
ON CONFLICT (protocol, host, port, username) DO UPDATE
SET sealed_password = COALESCE($5, p.sealed_password), is_forwarding = COALESCE($6, p.is_forwarding),
    country_code = COALESCE($7, p.country_code), city = COALESCE($8, p.city), provider = COALESCE($9, p.provider),
    monthly_cost = COALESCE($10, p.monthly_cost), max_requests_per_hour = COALESCE($11, p.max_requests_per_hour),
    is_default = COALESCE($12, p.is_default), updated_at = now()
RETURNING p.id, p.xmax = 0 AS is_new;

-- name: change_proxies
-- Changes the details of proxies that $2 names; null clears one. A flag or an hourly limit that is null gets its
-- default.
UPDATE proxies p
SET country_code = CASE WHEN n.new ? 'country' THEN n.new->>'country' ELSE p.country_code END,
    city = CASE WHEN n.new ? 'city' THEN n.new->>'city' ELSE p.city END,
    provider = CASE WHEN n.new ? 'provider' THEN n.new->>'provider' ELSE p.provider END,
    monthly_cost = CASE WHEN n.new ? 'monthly_cost' THEN (n.new->>'monthly_cost')::numeric ELSE p.monthly_cost END,
    max_requests_per_hour = CASE WHEN n.new ? 'max_requests_per_hour' THEN COALESCE((n.new->>'max_requests_per_hour')::integer, 1000) ELSE p.max_requests_per_hour END,
    is_forwarding = CASE WHEN n.new ? 'is_forwarding' THEN COALESCE((n.new->>'is_forwarding')::boolean, false) ELSE p.is_forwarding END,
    is_default = CASE WHEN n.new ? 'is_default' THEN COALESCE((n.new->>'is_default')::boolean, false) ELSE p.is_default END,
    sealed_password = COALESCE($3, p.sealed_password), updated_at = now()
FROM (SELECT $2::jsonb AS new) n
WHERE p.id IN (SELECT id FROM proxies WHERE id = ANY ($1::bigint[]) ORDER BY id FOR NO KEY UPDATE)
RETURNING p.id;

-- name: list_proxies
-- All proxies with their health, or those of a country or provider.
SELECT p.id, p.protocol, p.host, p.port, p.username, p.sealed_password IS NOT NULL AS has_password, p.is_forwarding, p.country_code,
       p.city, p.provider, p.monthly_cost::float8 AS monthly_cost, p.max_requests_per_hour, p.is_default,
       CASE WHEN p.hour_began_at > now() - interval '1 hour' THEN p.hour_requests ELSE 0 END AS hour_requests, p.is_active,
       p.probe_at, p.consecutive_failures, p.failures, p.successes,
       round(100.0 * p.successes / NULLIF(p.successes + p.failures, 0), 2)::float8 AS success_rate_percent,
       p.avg_response_time_ms, p.last_used_at, p.last_success_at, p.last_failure_at, p.last_error,
       (SELECT count(*)::int FROM domain_proxies dp WHERE dp.proxy_id = p.id AND dp.is_assigned) AS domains, p.created_at, p.updated_at
FROM proxies p
WHERE ($1::text IS NULL OR p.country_code = $1) AND ($2::text IS NULL OR p.provider = $2)
ORDER BY p.id;

-- name: list_pool
-- The pool of one domain, its own or the default one, with the health of each proxy there.
SELECT p.id, p.protocol, p.host, p.port, p.username, p.sealed_password IS NOT NULL AS has_password, p.country_code, p.provider,
       COALESCE(dp.is_assigned, false) AS is_assigned, COALESCE(dp.priority, 5)::smallint AS priority, COALESCE(dp.is_active, true) AS is_active,
       p.is_active AS is_proxy_active, dp.probe_at, COALESCE(dp.consecutive_failures, 0) AS consecutive_failures,
       COALESCE(dp.failures, 0) AS failures, COALESCE(dp.successes, 0) AS successes,
       CASE WHEN dp.hour_began_at > now() - interval '1 hour' THEN dp.hour_requests ELSE 0 END AS hour_requests,
       (s.effective->>'proxy_max_per_hour')::int AS max_per_hour,
       CASE WHEN dp.last_used_at > now() - make_interval(secs => (s.effective->>'proxy_rotation')::float8)
            THEN dp.last_used_at + make_interval(secs => (s.effective->>'proxy_rotation')::float8) END AS rests_until,
       round(100.0 * dp.successes / NULLIF(dp.successes + dp.failures, 0), 2)::float8 AS success_rate_percent,
       dp.avg_response_time_ms, dp.last_used_at, dp.last_success_at, dp.last_failure_at, dp.last_error,
       COALESCE(dp.created_at, p.created_at) AS created_at, COALESCE(dp.updated_at, p.updated_at) AS updated_at
FROM domain_pools o
JOIN proxies p ON o.has_own OR p.is_default
LEFT JOIN domain_proxies dp ON dp.proxy_id = p.id AND dp.domain_id = o.domain_id
LEFT JOIN domain_settings s ON s.domain_id = o.domain_id
WHERE o.domain_id = $1 AND (CASE WHEN o.has_own THEN COALESCE(dp.is_assigned, false) ELSE o.proxy_mode <> 'never' END)
ORDER BY 10, dp.last_used_at NULLS FIRST, p.id;

-- name: find_ids
-- The ids of these proxies that exist, or of those of a country or provider.
SELECT id FROM proxies
WHERE ($1::bigint[] IS NULL OR id = ANY ($1)) AND ($2::text IS NULL OR country_code = $2) AND ($3::text IS NULL OR provider = $3)
ORDER BY id;

-- name: only_ones_of
-- Domains that would have no proxy left if these were removed, and would be requested directly.
SELECT d.name FROM domains d
JOIN domain_pools o ON o.domain_id = d.id
WHERE EXISTS (SELECT FROM domain_proxies dp WHERE dp.domain_id = d.id AND dp.is_assigned AND dp.proxy_id = ANY ($1::bigint[]))
  AND NOT EXISTS (SELECT FROM domain_proxies dp WHERE dp.domain_id = d.id AND dp.is_assigned AND dp.proxy_id <> ALL ($1))
  AND o.proxy_mode = 'auto' AND NOT EXISTS (SELECT FROM proxies p WHERE p.is_default AND p.id <> ALL ($1))
ORDER BY d.name LIMIT 3;

-- name: note_emptied
-- Remembers which domains lose their last proxy with these: of one domain (all of its proxies without any named), or of
-- all domains.
INSERT INTO emptied_pools (domain_id)
SELECT DISTINCT dp.domain_id FROM domain_proxies dp
WHERE dp.is_assigned AND ($1::bigint IS NULL OR dp.domain_id = $1) AND ($2::bigint[] IS NULL OR dp.proxy_id = ANY ($2))
  AND NOT EXISTS (SELECT FROM domain_proxies o WHERE o.domain_id = dp.domain_id AND o.is_assigned AND $2 IS NOT NULL AND o.proxy_id <> ALL ($2))
ORDER BY dp.domain_id
ON CONFLICT (domain_id) DO NOTHING;

-- name: delete_emptied
-- These domains have a pool again.
DELETE FROM emptied_pools WHERE domain_id = ANY ($1::bigint[]);

-- name: remove_proxies
-- Deletes proxies and their memberships in all pools. The history keeps their ids.
DELETE FROM proxies WHERE id = ANY ($1::bigint[]) RETURNING id;

-- name: assign
-- Adds proxies to the pools of domains; existing members stay unchanged, except for a new priority. Returns which are
-- new.
WITH before AS MATERIALIZED (
    SELECT dp.domain_id, dp.proxy_id FROM domain_proxies dp
    WHERE dp.domain_id = ANY ($1::bigint[]) AND dp.proxy_id = ANY ($2::bigint[]) AND dp.is_assigned
), added AS (
    INSERT INTO domain_proxies AS dp (domain_id, proxy_id, priority)
    SELECT d.id, n.id, COALESCE($3::smallint, 5) FROM unnest($1) AS d (id) CROSS JOIN unnest($2) AS n (id) ORDER BY d.id, n.id
    ON CONFLICT (domain_id, proxy_id) DO UPDATE SET priority = COALESCE($3, dp.priority), is_assigned = true, updated_at = now()
    RETURNING domain_id, proxy_id
)
SELECT domain_id, proxy_id FROM added EXCEPT SELECT domain_id, proxy_id FROM before;

-- name: match_domains
-- Ids and names of domains: those that one of the patterns $1 matches, those of the profile $2, or all.
SELECT d.id, d.name FROM domains d
LEFT JOIN domain_settings s ON s.domain_id = d.id
LEFT JOIN profiles f ON f.id = s.profile_id
WHERE ($1::text[] IS NULL OR d.name LIKE ANY ($1)) AND ($2::text IS NULL OR f.name = $2)
ORDER BY d.id;

-- name: unassign
-- Removes proxies from a domain's pool; all of them where none is given.
DELETE FROM domain_proxies WHERE domain_id = $1 AND is_assigned AND ($2::bigint[] IS NULL OR proxy_id = ANY ($2)) RETURNING proxy_id;

-- name: move_pools
-- Merges domains: the remaining one gets the proxies of all, with the health of each membership reset.
INSERT INTO domain_proxies (domain_id, proxy_id, priority)
SELECT $1, proxy_id, min(priority) FROM domain_proxies WHERE domain_id = ANY ($2::bigint[]) AND is_assigned GROUP BY proxy_id
ON CONFLICT (domain_id, proxy_id) DO UPDATE SET is_assigned = true;

-- name: switch_proxies
-- Switches proxies on or off; resets consecutive failures. A proxy that an operator switched off is not probed.
UPDATE proxies SET is_active = $2, consecutive_failures = 0, probe_at = NULL, failed_probes = 0, updated_at = now()
WHERE id IN (SELECT id FROM proxies WHERE id = ANY ($1::bigint[]) ORDER BY id FOR NO KEY UPDATE)
RETURNING id;

-- name: switch_members
-- The same for proxies in one domain's pool.
UPDATE domain_proxies SET is_active = $3, consecutive_failures = 0, probe_at = NULL, failed_probes = 0, updated_at = now()
WHERE domain_id = $1 AND proxy_id = ANY ($2::bigint[])
RETURNING proxy_id AS id;

-- name: sealed_passwords
-- All passwords as stored, to be encrypted with another key.
SELECT id, protocol, host, port, sealed_password FROM proxies WHERE sealed_password IS NOT NULL ORDER BY id FOR NO KEY UPDATE;

-- name: replace_sealed
-- Stores the same passwords under another key.
UPDATE proxies p SET sealed_password = n.sealed, updated_at = now()
FROM unnest($1::bigint[], $2::text[]) AS n (id, sealed) WHERE p.id = n.id;

-- name: pool_health
-- Each domain that has a pool of its own, or one domain with its own or the default pool: the pool's size and health,
-- what its pace allows and the limits of its proxies.
SELECT d.id, d.name, d.proxy_country, d.paces_per_proxy, d.crawl_delay_s,
       (s.effective->>'proxy_rotation')::float8 AS rotation_s, (s.effective->>'proxy_max_per_hour')::float8 AS pair_per_hour,
       count(p.id)::int AS proxies,
       count(p.id) FILTER (WHERE COALESCE(dp.is_active, true) AND p.is_active AND (d.proxy_country IS NULL OR p.country_code = d.proxy_country))::int AS active,
       count(*) FILTER (WHERE dp.consecutive_failures >= $2)::int AS failing,
       COALESCE(sum(dp.successes), 0)::bigint AS successes, COALESCE(sum(dp.failures), 0)::bigint AS failures,
       avg(dp.avg_response_time_ms)::float8 AS avg_response_time_ms,
       avg(p.max_requests_per_hour)::float8 AS requests_per_proxy_hour,
       sum(p.monthly_cost)::float8 AS monthly_cost
FROM domains d
LEFT JOIN domain_settings s ON s.domain_id = d.id
CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM domain_proxies a WHERE a.domain_id = d.id AND a.is_assigned) AS has_own) o
LEFT JOIN proxies p ON CASE WHEN o.has_own THEN EXISTS (SELECT FROM domain_proxies a WHERE a.domain_id = d.id AND a.proxy_id = p.id AND a.is_assigned)
                            ELSE p.is_default AND COALESCE(s.effective->>'proxy', 'auto') <> 'never' END
LEFT JOIN domain_proxies dp ON dp.domain_id = d.id AND dp.proxy_id = p.id
WHERE d.id = $1 OR ($1::bigint IS NULL AND d.id IN (SELECT a.domain_id FROM domain_proxies a WHERE a.is_assigned))
GROUP BY d.id, s.effective
ORDER BY d.name;

-- name: costs
-- Monthly cost of proxies, and of those that no domain uses.
SELECT count(*)::int AS proxies, count(*) FILTER (WHERE is_active)::int AS active, sum(monthly_cost)::float8 AS monthly_cost,
       count(*) FILTER (WHERE is_idle)::int AS idle, (sum(monthly_cost) FILTER (WHERE is_idle))::float8 AS idle_cost
FROM (SELECT p.is_active, p.monthly_cost,
             COALESCE(p.last_used_at, p.created_at) < now() - make_interval(secs => $1) AS is_idle
      FROM proxies p) each;
