-- Retention of domain records: requests for robots.txt, and status changes.

-- name: allow
-- Allows deletions in this transaction; deleted rows leave their seals.
SELECT set_config('forager.purge', 'on', true);

-- name: drop_robots_requests
-- Deletes expired robots.txt requests of the next $2 domains after an id; a domain with a longer history retention keeps them as long.
-- Returns the number deleted, and the last id.
WITH these AS MATERIALIZED (
    SELECT d.id, now() - make_interval(secs => GREATEST($3::float8, d.history_retention_s)) AS since FROM domains d WHERE d.id > $1 ORDER BY d.id LIMIT $2
), gone AS (
    DELETE FROM robots_requests r USING these WHERE r.domain_id = these.id AND r.requested_at < these.since RETURNING 1
)
SELECT (SELECT count(*) FROM gone)::int AS rows, (SELECT max(id) FROM these) AS last_id;

-- name: drop_moves
-- Deletes expired status changes of the next domains after an id. Keeps the last $5 of a domain, and those a refresh needs. Deletes only
-- the oldest, so that each remaining change starts with the status the previous one ended with. Returns the number deleted, and the last
-- id.
WITH these AS MATERIALIZED (
    SELECT d.id, now() - make_interval(secs => GREATEST($3::float8, 2 * COALESCE(d.refresh_every_s, $4::float8))) AS since
    FROM domains d WHERE d.id > $1 ORDER BY d.id LIMIT $2
), gone AS (
    DELETE FROM domain_history h USING these
    WHERE h.domain_id = these.id AND h.moved_at < these.since
      AND h.id <= (SELECT m.id FROM domain_history m WHERE m.domain_id = these.id ORDER BY m.id DESC OFFSET $5 LIMIT 1)
    RETURNING 1
)
SELECT (SELECT count(*) FROM gone)::int AS rows, (SELECT max(id) FROM these) AS last_id;

-- name: count_old
-- Counts the rows of both that would be deleted now.
SELECT (SELECT count(*) FROM robots_requests r JOIN domains d ON d.id = r.domain_id
        WHERE r.requested_at < now() - make_interval(secs => GREATEST($1::float8, d.history_retention_s))) AS robots_requests,
       (SELECT count(*) FROM (SELECT h.domain_id, h.moved_at, row_number() OVER (PARTITION BY h.domain_id ORDER BY h.id DESC) AS number
                              FROM domain_history h) m JOIN domains d ON d.id = m.domain_id
        WHERE m.number > $4 AND m.moved_at < now() - make_interval(secs => GREATEST($2::float8, 2 * COALESCE(d.refresh_every_s, $3::float8)))
       ) AS domain_history;
