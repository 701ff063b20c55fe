-- Requests of the last minute, of all API processes together. Owner of rate_counts.

-- name: tell
-- What this process let through, added to what the others did; in one order, so that two of them do not wait for each other.
INSERT INTO rate_counts AS c (subject, slot, requests)
SELECT n.subject, n.slot, n.requests FROM unnest($1::text[], $2::bigint[], $3::int[]) AS n (subject, slot, requests)
ORDER BY n.subject, n.slot
ON CONFLICT (subject, slot) DO UPDATE SET requests = c.requests + EXCLUDED.requests;

-- name: learn
-- What all of them let through, by second.
SELECT subject, array_agg(slot) AS slots, array_agg(requests) AS requests
FROM rate_counts WHERE subject = ANY ($1::text[]) AND slot >= $2 GROUP BY subject;

-- name: clear_out
-- Seconds no window reaches back to.
DELETE FROM rate_counts WHERE slot < $1;
