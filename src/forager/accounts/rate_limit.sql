-- Requests of the last minute of all API processes. Owner of rate_counts.

-- name: tell
-- Adds the requests that this process accepted to the totals; in a fixed order, so that two processes do not deadlock.
INSERT INTO rate_counts AS c (subject, slot, requests)
SELECT n.subject, n.slot, n.requests FROM unnest($1::text[], $2::bigint[], $3::int[]) AS n (subject, slot, requests)
ORDER BY n.subject, n.slot
ON CONFLICT (subject, slot) DO UPDATE SET requests = c.requests + EXCLUDED.requests;

-- name: learn
-- Accepted requests of all processes, by second.
SELECT subject, array_agg(slot) AS slots, array_agg(requests) AS requests
FROM rate_counts WHERE subject = ANY ($1::text[]) AND slot >= $2 GROUP BY subject;

-- name: clear_out
-- Deletes seconds outside every window.
DELETE FROM rate_counts WHERE slot < $1;
