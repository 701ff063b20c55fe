-- name: last_heard_of_run
-- Returns the last heartbeat of the process or a worker of a run.
SELECT GREATEST(r.started_at, r.kept_at, (SELECT max(w.heartbeat_at) FROM workers w WHERE w.run_id = r.id)) FROM runs r WHERE r.id = $1;

-- name: find_run
-- Returns whether a run exists.
SELECT r.id FROM runs r WHERE r.id = $1;

-- name: seeds_read
-- Returns those of these pages, by domain and key, that were read before: a run does not visit them again.
SELECT p.url FROM unnest($1::text[], $2::bytea[]) AS n (domain, key)
JOIN domains d ON d.name = n.domain JOIN pages p ON p.domain_id = d.id AND p.url_hash = n.key
WHERE p.status = 'fetched';

-- name: waiting_of
-- Counts the pages that wait in these domains.
SELECT COALESCE(sum(d.frontier_size), 0)::bigint FROM domains d WHERE d.name = ANY ($1::text[]);

-- name: runs_by_id
-- Returns runs, newest first, with what they did.
SELECT r.id, r.status::text AS status, r.spec, r.max_pages, r.max_pages_per_domain, r.max_depth, r.started_at, r.ended_at,
       r.links_seen, r.pages_learned, r.created_by, o.pages_done, o.pages_ok, o.bytes, r.keeper, r.kept_by
FROM runs r
CROSS JOIN LATERAL (
    SELECT coalesce(sum(c.pages) FILTER (WHERE NOT starts_with(c.reason, 'image ')), 0)::bigint AS pages_done,
           coalesce(sum(c.pages) FILTER (WHERE c.outcome = 'success' AND NOT starts_with(c.reason, 'image ')), 0)::bigint AS pages_ok,
           coalesce(sum(c.bytes), 0)::bigint AS bytes
    FROM run_outcomes c
    WHERE c.run_id = r.id
) o
WHERE r.id < COALESCE($1::bigint, 9223372036854775807)
  AND ($2::text IS NULL OR r.status = $2::text::run_status)
ORDER BY r.id DESC
LIMIT $3::bigint;
