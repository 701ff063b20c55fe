-- Requests to a domain that no worker holds, one at a time: for single pages that a person or program asks for.

-- name: reserve_request
-- Reserves the next moment at which a request to a domain may leave, and returns how long to wait for it, and the delay
-- to the next one. Nothing is reserved while a worker holds the domain, whose memory has its pace, while it is paused or
-- blocked, or if the wait is longer than $4 seconds. $2 is the delay of a domain without one, $3 that of robots.txt.
WITH held AS (
    SELECT d.id, GREATEST(clock_timestamp(), COALESCE(d.next_allowed_at, '-infinity')) AS leaves_at,
           GREATEST(COALESCE(d.pace_delay_s, d.crawl_delay_s, $2::float8), $3::float8) AS delay_s,
           d.claimed_by IS NOT NULL AND d.claim_expires_at > now() AS is_leased, NOT d.is_active AS is_paused,
           CASE WHEN d.status = 'blocked' THEN COALESCE(d.block_reason, d.block_reason_code) END AS blocked_by
    FROM domains d WHERE d.name = $1 FOR NO KEY UPDATE
), timed AS (
    SELECT h.*, EXTRACT(EPOCH FROM h.leaves_at - clock_timestamp())::float8 AS wait_s FROM held h
), saved AS (
    UPDATE domains d SET next_allowed_at = t.leaves_at + make_interval(secs => t.delay_s)
    FROM timed t
    WHERE d.id = t.id AND NOT t.is_leased AND NOT t.is_paused AND t.blocked_by IS NULL AND t.wait_s <= $4::float8
    RETURNING d.id
)
SELECT t.id, GREATEST(t.wait_s, 0)::float8 AS wait_s, t.delay_s, t.is_leased, t.is_paused, t.blocked_by, s.id IS NOT NULL AS is_reserved
FROM timed t LEFT JOIN saved s ON true;

-- name: note_request
-- Records a request that was sent just now, as evidence of the crawl delay, and keeps the delay to the next one.
WITH kept AS (
    UPDATE domains SET next_allowed_at = GREATEST(next_allowed_at, $3::timestamptz + make_interval(secs => $4::float8))
    WHERE id = $1 AND claimed_by IS NULL
)
INSERT INTO robots_requests (domain_id, origin, requested_at, pace_ms, purpose)
SELECT d.id, $2, $3, round($4::float8 * 1000)::int, 'fetch' FROM domains d WHERE d.id = $1;
