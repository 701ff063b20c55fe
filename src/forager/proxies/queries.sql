-- Proxies in use: pools of leased domains, health, probes. Owner of proxies, domain_proxies.

-- name: find_pools
-- The proxies that these domains use, each with its health for the domain and its own. With $2 also those of the
-- default pool that were used for them.
SELECT dp.domain_id, dp.is_assigned, dp.priority, dp.is_active AS is_member_active,
       dp.consecutive_failures AS member_failures, dp.avg_response_time_ms AS average_ms,
       EXTRACT(EPOCH FROM now() - dp.last_used_at)::float8 AS unused_s, dp.hour_requests AS member_hour_requests,
       COALESCE(GREATEST(0, EXTRACT(EPOCH FROM dp.hour_began_at + interval '1 hour' - now())), 0)::float8 AS member_hour_left_s,
       p.id, p.protocol, p.host, p.port, p.username, p.sealed_password, p.is_forwarding, p.country_code, p.is_active,
       p.consecutive_failures, p.max_requests_per_hour, p.hour_requests,
       GREATEST(0, EXTRACT(EPOCH FROM p.hour_began_at + interval '1 hour' - now()))::float8 AS hour_left_s
FROM domain_proxies dp JOIN proxies p ON p.id = dp.proxy_id
WHERE dp.domain_id = ANY ($1::bigint[]) AND (dp.is_assigned OR $2::boolean AND p.is_default)
ORDER BY dp.domain_id, p.id;

-- name: find_defaults
-- The default pool.
SELECT p.id, p.protocol, p.host, p.port, p.username, p.sealed_password, p.is_forwarding, p.country_code, p.is_active,
       p.consecutive_failures, p.max_requests_per_hour, p.hour_requests,
       GREATEST(0, EXTRACT(EPOCH FROM p.hour_began_at + interval '1 hour' - now()))::float8 AS hour_left_s
FROM proxies p WHERE p.is_default
ORDER BY p.id;

-- name: find_route
-- A domain by name, known or not, with the crawl settings that were chosen for it or that its profile gives it.
SELECT d.id AS domain_id, COALESCE(s.effective, f.settings)::text AS chosen
FROM (SELECT $1::text AS name) n
LEFT JOIN domains d ON d.name = n.name
LEFT JOIN domain_settings s ON s.domain_id = d.id
LEFT JOIN profiles f ON d.id IS NULL AND f.id = profile_for(n.name);

-- name: add_pairs
-- Proxies of the default pool that were used for a domain for the first time: from now on this pair has its own
-- health and counters. Proxies and domains that were removed meanwhile are left out.
WITH held AS MATERIALIZED (
    SELECT id FROM proxies WHERE id = ANY ($2::bigint[]) ORDER BY id FOR KEY SHARE
)
INSERT INTO domain_proxies (domain_id, proxy_id, is_assigned)
SELECT n.domain_id, n.proxy_id, false
FROM unnest($1::bigint[], $2::bigint[]) AS n (domain_id, proxy_id)
JOIN held ON held.id = n.proxy_id
JOIN domains d ON d.id = n.domain_id
ORDER BY n.domain_id, n.proxy_id
ON CONFLICT (domain_id, proxy_id) DO NOTHING;

-- name: delete_old_pairs
-- Deletes pairs of the default pool that were not used for a week: their counters say nothing any more.
WITH old AS MATERIALIZED (
    SELECT domain_id, proxy_id FROM domain_proxies
    WHERE NOT is_assigned AND last_used_at < now() - interval '7 days' ORDER BY last_used_at LIMIT $1 FOR UPDATE SKIP LOCKED
)
DELETE FROM domain_proxies dp USING old WHERE dp.domain_id = old.domain_id AND dp.proxy_id = old.proxy_id;

-- name: count_uses
-- Updates the health of proxies from request results and returns their state. Last in its transaction and in id order:
-- workers share these rows. A success resets consecutive failures, and switches on what failures had switched off; what
-- an operator switched off stays off.
WITH held AS MATERIALIZED (
    SELECT id FROM proxies WHERE id = ANY ($1::bigint[]) ORDER BY id FOR NO KEY UPDATE
), noted AS (
    SELECT n.*, p.is_active AS was_active, p.probe_at AS was_probe_at,
           CASE WHEN n.successes > 0 THEN n.last_failures ELSE p.consecutive_failures + n.failures END AS in_a_row,
           p.hour_began_at > now() - interval '1 hour' AS is_same_hour
    FROM unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::int[], $6::float8[], $7::float8[], $8::float8[], $9::timestamptz[],
                $10::timestamptz[], $11::timestamptz[], $12::text[])
         AS n (id, uses, successes, failures, last_failures, average_ms, kept_share, added_ms, last_used_at, last_success_at,
               last_failure_at, last_error)
    JOIN held ON held.id = n.id
    JOIN proxies p ON p.id = n.id
)
UPDATE proxies p
SET consecutive_failures = n.in_a_row, failures = p.failures + n.failures, successes = p.successes + n.successes,
    avg_response_time_ms = CASE WHEN p.avg_response_time_ms IS NULL THEN n.average_ms
                                ELSE p.avg_response_time_ms * n.kept_share + n.added_ms END,
    last_used_at = GREATEST(p.last_used_at, n.last_used_at), last_success_at = GREATEST(p.last_success_at, n.last_success_at),
    last_failure_at = GREATEST(p.last_failure_at, n.last_failure_at), last_error = COALESCE(n.last_error, p.last_error),
    hour_began_at = CASE WHEN n.is_same_hour THEN p.hour_began_at ELSE now() END,
    hour_requests = CASE WHEN n.is_same_hour THEN p.hour_requests ELSE 0 END + n.uses,
    is_active = n.in_a_row < $13::int AND (n.was_active OR (n.successes > 0 AND n.was_probe_at IS NOT NULL)),
    probe_at = CASE WHEN n.in_a_row >= $13 AND n.was_active THEN now() + make_interval(secs => $14)
                    WHEN n.in_a_row < $13 AND n.successes > 0 THEN NULL
                    ELSE p.probe_at END,
    failed_probes = CASE WHEN n.successes > 0 THEN 0 ELSE p.failed_probes END, updated_at = now()
FROM noted n WHERE p.id = n.id
RETURNING p.id, p.is_active, p.consecutive_failures, p.hour_requests,
          GREATEST(0, EXTRACT(EPOCH FROM p.hour_began_at + interval '1 hour' - now()))::float8 AS hour_left_s;

-- name: count_pair_uses
-- The same for pairs of proxy and domain; the domains are under the writer's own leases.
WITH noted AS (
    SELECT n.*, p.is_active AS was_active, p.probe_at AS was_probe_at,
           CASE WHEN n.successes > 0 THEN n.last_failures ELSE p.consecutive_failures + n.failures END AS in_a_row,
           COALESCE(p.hour_began_at > now() - interval '1 hour', false) AS is_same_hour
    FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::int[], $5::int[], $6::int[], $7::float8[], $8::float8[], $9::float8[],
                $10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::text[])
         AS n (domain_id, proxy_id, uses, successes, failures, last_failures, average_ms, kept_share, added_ms, last_used_at,
               last_success_at, last_failure_at, last_error)
    JOIN domain_proxies p ON p.domain_id = n.domain_id AND p.proxy_id = n.proxy_id
)
UPDATE domain_proxies p
SET consecutive_failures = n.in_a_row, failures = p.failures + n.failures, successes = p.successes + n.successes,
    avg_response_time_ms = CASE WHEN p.avg_response_time_ms IS NULL THEN n.average_ms
                                ELSE p.avg_response_time_ms * n.kept_share + n.added_ms END,
    last_used_at = GREATEST(p.last_used_at, n.last_used_at), last_success_at = GREATEST(p.last_success_at, n.last_success_at),
    last_failure_at = GREATEST(p.last_failure_at, n.last_failure_at), last_error = COALESCE(n.last_error, p.last_error),
    hour_began_at = CASE WHEN n.is_same_hour THEN p.hour_began_at ELSE now() END,
    hour_requests = CASE WHEN n.is_same_hour THEN p.hour_requests ELSE 0 END + n.uses,
    is_active = n.in_a_row < $14::int AND (n.was_active OR (n.successes > 0 AND n.was_probe_at IS NOT NULL)),
    probe_at = CASE WHEN n.in_a_row >= $14 AND n.was_active THEN now() + make_interval(secs => $15)
                    WHEN n.in_a_row < $14 AND n.successes > 0 THEN NULL
                    ELSE p.probe_at END,
    failed_probes = CASE WHEN n.successes > 0 THEN 0 ELSE p.failed_probes END, updated_at = now()
FROM noted n WHERE p.domain_id = n.domain_id AND p.proxy_id = n.proxy_id;

-- name: find_probes
-- What failures switched off and is due for a probe: proxies, each with one of its sites to probe with, and working
-- proxies with domains for which they failed. Blocked, unreachable and paused sites are not contacted.
(SELECT p.id, p.protocol, p.host, p.port, p.username, p.sealed_password, p.is_forwarding, p.failed_probes, NULL::bigint AS domain_id,
        (SELECT d.base_url FROM domain_proxies dp JOIN domains d ON d.id = dp.domain_id
         WHERE dp.proxy_id = p.id AND d.is_active AND d.status NOT IN ('blocked', 'unreachable')
         ORDER BY dp.last_success_at DESC NULLS LAST, dp.domain_id LIMIT 1) AS url
 FROM proxies p WHERE p.probe_at <= now() ORDER BY p.probe_at LIMIT $1)
UNION ALL
(SELECT p.id, p.protocol, p.host, p.port, p.username, p.sealed_password, p.is_forwarding, dp.failed_probes, dp.domain_id, d.base_url
 FROM domain_proxies dp JOIN proxies p ON p.id = dp.proxy_id JOIN domains d ON d.id = dp.domain_id
 WHERE dp.probe_at <= now() AND p.is_active AND d.is_active AND d.status NOT IN ('blocked', 'unreachable')
 ORDER BY dp.probe_at LIMIT $1);

-- name: find_for_probe
-- These proxies, switched on or off, each with one of its sites to probe with.
SELECT p.id, p.protocol, p.host, p.port, p.username, p.sealed_password, p.is_forwarding, p.failed_probes, NULL::bigint AS domain_id,
       (SELECT d.base_url FROM domain_proxies dp JOIN domains d ON d.id = dp.domain_id
        WHERE dp.proxy_id = p.id AND d.is_active AND d.status NOT IN ('blocked', 'unreachable')
        ORDER BY dp.last_success_at DESC NULLS LAST, dp.domain_id LIMIT 1) AS url
FROM proxies p WHERE $1::bigint[] IS NULL OR p.id = ANY ($1)
ORDER BY p.id;

-- name: end_probes
-- Records probe results: switched on, or off until the next probe. A proxy that an operator switched meanwhile stays
-- unchanged.
WITH held AS MATERIALIZED (
    SELECT id FROM proxies WHERE id = ANY ($1::bigint[]) AND probe_at IS NOT NULL ORDER BY id FOR NO KEY UPDATE
)
UPDATE proxies p
SET is_active = n.is_good, consecutive_failures = CASE WHEN n.is_good THEN 0 ELSE p.consecutive_failures END,
    probe_at = CASE WHEN NOT n.is_good THEN now() + make_interval(secs => n.wait_s) END,
    failed_probes = CASE WHEN n.is_good THEN 0 ELSE LEAST(p.failed_probes + 1, 1000) END,
    last_error = COALESCE(n.error, p.last_error), updated_at = now()
FROM unnest($1::bigint[], $2::boolean[], $3::float8[], $4::text[]) AS n (id, is_good, wait_s, error)
JOIN held ON held.id = n.id
WHERE p.id = n.id
RETURNING p.id;

-- name: end_pair_probes
-- The same for pairs of proxy and domain.
WITH held AS MATERIALIZED (
    SELECT dp.domain_id, dp.proxy_id FROM domain_proxies dp
    JOIN unnest($1::bigint[], $2::bigint[]) AS n (domain_id, proxy_id) ON dp.domain_id = n.domain_id AND dp.proxy_id = n.proxy_id
    WHERE dp.probe_at IS NOT NULL ORDER BY dp.domain_id, dp.proxy_id FOR NO KEY UPDATE OF dp
)
UPDATE domain_proxies p
SET is_active = n.is_good, consecutive_failures = CASE WHEN n.is_good THEN 0 ELSE p.consecutive_failures END,
    probe_at = CASE WHEN NOT n.is_good THEN now() + make_interval(secs => n.wait_s) END,
    failed_probes = CASE WHEN n.is_good THEN 0 ELSE LEAST(p.failed_probes + 1, 1000) END,
    last_error = COALESCE(n.error, p.last_error), updated_at = now()
FROM unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::float8[], $5::text[]) AS n (domain_id, proxy_id, is_good, wait_s, error)
JOIN held ON held.domain_id = n.domain_id AND held.proxy_id = n.proxy_id
WHERE p.domain_id = n.domain_id AND p.proxy_id = n.proxy_id
RETURNING p.proxy_id;
