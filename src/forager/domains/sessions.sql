-- Sessions of domains: their cookies, encrypted, and their logins. Written under a lease.

-- name: find_sessions
-- Returns the sessions of leased domains, and whether a domain is known to serve https; domains with neither are left out.
SELECT d.id AS domain_id, s.sealed, COALESCE(s.login_failures, 0) AS login_failures, o.domain_id IS NOT NULL AS serves_https
FROM unnest($1::bigint[]) AS d (id)
LEFT JOIN domain_sessions s ON s.domain_id = d.id
LEFT JOIN LATERAL (SELECT r.domain_id FROM origins r
                   WHERE r.domain_id = d.id AND r.origin LIKE 'https://%' AND r.robots_status_code IS NOT NULL LIMIT 1) o ON true
WHERE s.domain_id IS NOT NULL OR o.domain_id IS NOT NULL;

-- name: save_sessions
-- Stores sessions, after hold_leases.
INSERT INTO domain_sessions (domain_id, sealed, login_failures, logged_in_at, saved_at)
SELECT n.domain_id, n.sealed, n.login_failures, n.logged_in_at, now()
FROM unnest($1::bigint[], $2::text[], $3::int[], $4::timestamptz[]) AS n (domain_id, sealed, login_failures, logged_in_at)
ORDER BY n.domain_id
ON CONFLICT (domain_id) DO UPDATE
SET sealed = EXCLUDED.sealed, login_failures = EXCLUDED.login_failures, logged_in_at = EXCLUDED.logged_in_at, saved_at = EXCLUDED.saved_at;

-- name: add_login_requests
-- Records requests of logins, as evidence of the crawl delay.
INSERT INTO robots_requests (domain_id, origin, requested_at, pace_ms, purpose)
SELECT n.domain_id, n.origin, n.requested_at, n.pace_ms, 'login'
FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::int[]) AS n (domain_id, origin, requested_at, pace_ms)
JOIN domains d ON d.id = n.domain_id;

-- name: delete_old_sessions
-- Deletes sessions that did not change for $1 seconds, up to $2 of them: cookies that a browser would keep that long are rare.
WITH old AS (SELECT domain_id FROM domain_sessions WHERE saved_at < now() - make_interval(secs => $1::float8) LIMIT $2), gone AS (
    DELETE FROM domain_sessions s USING old WHERE s.domain_id = old.domain_id RETURNING 1
)
SELECT count(*) AS deleted FROM gone;

-- name: is_blocked_by_login
-- Returns whether a domain is blocked because its login failed.
SELECT status = 'blocked' AND block_reason_code = 'login_failed' AS is_blocked FROM domains WHERE id = $1;
