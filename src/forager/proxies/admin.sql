-- Operator actions on proxies, and what operators see of them. Passwords are read only to encrypt them again.

-- name: add_proxy
-- Adds a proxy, or updates a known one: given values replace the previous ones.
INSERT INTO proxies AS p (protocol, host, port, username, sealed_password, is_forwarding, country_code, city, provider, monthly_cost,
                          max_requests_per_hour)
VALUES ($1, $2, $3, $4, $5, COALESCE($6, false), $7, $8, $9, $10, COALESCE($11, 1000))
ON CONFLICT (protocol, host, port, username) DO UPDATE
SET sealed_password = COALESCE($5, p.sealed_password), is_forwarding = COALESCE($6, p.is_forwarding),
    country_code = COALESCE($7, p.country_code), city = COALESCE($8, p.city), provider = COALESCE($9, p.provider),
    monthly_cost = COALESCE($10, p.monthly_cost), max_requests_per_hour = COALESCE($11, p.max_requests_per_hour), updated_at = now()
RETURNING p.id, p.xmax = 0 AS is_new;

-- name: list_proxies
-- All proxies with their health, or those of a country or provider.
SELECT p.id, p.protocol, p.host, p.port, p.username, p.sealed_password IS NOT NULL AS has_password, p.is_forwarding, p.country_code,
       p.city, p.provider, p.monthly_cost::float8 AS monthly_cost, p.max_requests_per_hour,
       CASE WHEN p.hour_began_at > now() - interval '1 hour' THEN p.hour_requests ELSE 0 END AS hour_requests, p.is_active,
       p.probe_at, p.consecutive_failures, p.failures, p.successes,
       round(100.0 * p.successes / NULLIF(p.successes + p.failures, 0), 2)::float8 AS success_rate_percent,
       p.avg_response_time_ms, p.last_used_at, p.last_success_at, p.last_failure_at, p.last_error,
       (SELECT count(*)::int FROM domain_proxies dp WHERE dp.proxy_id = p.id) AS domains, p.created_at, p.updated_at
FROM proxies p
WHERE ($1::text IS NULL OR p.country_code = $1) AND ($2::text IS NULL OR p.provider = $2)
ORDER BY p.id;

-- name: list_pool
-- The pool of one domain, with the health of each proxy there.
SELECT p.id, p.protocol, p.host, p.port, p.username, p.sealed_password IS NOT NULL AS has_password, p.country_code, p.provider,
       dp.priority, dp.is_active, p.is_active AS is_proxy_active, dp.probe_at, dp.consecutive_failures, dp.failures, dp.successes,
       round(100.0 * dp.successes / NULLIF(dp.successes + dp.failures, 0), 2)::float8 AS success_rate_percent,
       dp.avg_response_time_ms, dp.last_used_at, dp.last_success_at, dp.last_failure_at, dp.last_error, dp.created_at, dp.updated_at
FROM domain_proxies dp JOIN proxies p ON p.id = dp.proxy_id
WHERE dp.domain_id = $1
ORDER BY dp.priority, dp.last_used_at NULLS FIRST, p.id;

-- name: find_ids
-- The ids of these proxies that exist, or of those of a country or provider.
SELECT id FROM proxies
WHERE ($1::bigint[] IS NULL OR id = ANY ($1)) AND ($2::text IS NULL OR country_code = $2) AND ($3::text IS NULL OR provider = $3)
ORDER BY id;

-- name: only_ones_of
-- Domains that would have no proxy left if these were removed.
SELECT d.name FROM domains d
WHERE EXISTS (SELECT FROM domain_proxies dp WHERE dp.domain_id = d.id AND dp.proxy_id = ANY ($1::bigint[]))
  AND NOT EXISTS (SELECT FROM domain_proxies dp WHERE dp.domain_id = d.id AND dp.proxy_id <> ALL ($1))
ORDER BY d.name LIMIT 3;

-- name: remove_proxies
-- Deletes proxies and their memberships in all pools. The history keeps their ids.
DELETE FROM proxies WHERE id = ANY ($1::bigint[]) RETURNING id;

-- name: assign
-- Adds proxies to a domain's pool; existing members stay unchanged, except for a new priority.
INSERT INTO domain_proxies AS dp (domain_id, proxy_id, priority)
SELECT $1, n.id, COALESCE($3::smallint, 5) FROM unnest($2::bigint[]) AS n (id) ORDER BY n.id
ON CONFLICT (domain_id, proxy_id) DO UPDATE SET priority = COALESCE($3, dp.priority), updated_at = now()
RETURNING proxy_id, xmax = 0 AS is_new;

-- name: unassign
-- Removes proxies from a domain's pool; all of them where none is given.
DELETE FROM domain_proxies WHERE domain_id = $1 AND ($2::bigint[] IS NULL OR proxy_id = ANY ($2)) RETURNING proxy_id;

-- name: move_pools
-- Merges domains: the remaining one gets the proxies of all, with the health of each membership reset.
INSERT INTO domain_proxies (domain_id, proxy_id, priority)
SELECT $1, proxy_id, min(priority) FROM domain_proxies WHERE domain_id = ANY ($2::bigint[]) GROUP BY proxy_id
ON CONFLICT (domain_id, proxy_id) DO NOTHING;

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
-- Each domain that has a pool, or one domain: the pool's size and health, what its pace allows and the limits of its
-- proxies.
SELECT d.id, d.name, d.proxy_country, d.paces_per_proxy, d.crawl_delay_s,
       count(dp.proxy_id)::int AS proxies,
       count(*) FILTER (WHERE dp.is_active AND p.is_active AND (d.proxy_country IS NULL OR p.country_code = d.proxy_country))::int AS active,
       count(*) FILTER (WHERE dp.consecutive_failures >= $2)::int AS failing,
       COALESCE(sum(dp.successes), 0)::bigint AS successes, COALESCE(sum(dp.failures), 0)::bigint AS failures,
       avg(dp.avg_response_time_ms)::float8 AS avg_response_time_ms,
       avg(p.max_requests_per_hour)::float8 AS requests_per_proxy_hour,
       sum(p.monthly_cost)::float8 AS monthly_cost
FROM domains d LEFT JOIN domain_proxies dp ON dp.domain_id = d.id LEFT JOIN proxies p ON p.id = dp.proxy_id
WHERE d.id = $1 OR ($1::bigint IS NULL AND dp.proxy_id IS NOT NULL)
GROUP BY d.id
ORDER BY d.name;

-- name: costs
-- Monthly cost of proxies, and of those that no domain uses.
SELECT count(*)::int AS proxies, count(*) FILTER (WHERE is_active)::int AS active, sum(monthly_cost)::float8 AS monthly_cost,
       count(*) FILTER (WHERE is_idle)::int AS idle, (sum(monthly_cost) FILTER (WHERE is_idle))::float8 AS idle_cost
FROM (SELECT p.is_active, p.monthly_cost,
             COALESCE(p.last_used_at, p.created_at) < now() - make_interval(secs => $1) AS is_idle
      FROM proxies p) each;
