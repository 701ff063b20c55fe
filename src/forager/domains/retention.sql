-- What domains leave behind, and when it goes: requests for robots.txt, and moves from state to state.

-- name: allow
-- What retention deletes in this transaction leaves its seals.
SELECT set_config('forager.purge', 'on', true);

-- name: drop_robots_requests
-- Requests for robots.txt of so many domains behind an id that are older than they have to be; a domain that keeps its visits longer keeps
-- them as long. Answers how many went, and the last id.
WITH these AS MATERIALIZED (
    SELECT d.id, now() - make_interval(secs => GREATEST($3::float8, d.history_retention_s)) AS since FROM domains d WHERE d.id > $1 ORDER BY d.id LIMIT $2
), gone AS (
    DELETE FROM robots_requests r USING these WHERE r.domain_id = these.id AND r.requested_at < these.since RETURNING 1
)
SELECT (SELECT count(*) FROM gone)::int AS rows, (SELECT max(id) FROM these) AS last_id;

-- name: drop_moves
-- Moves of so many domains behind an id that are older than they have to be. The last $5 of a domain stay, and what a refresh looks back at;
-- only the oldest go, so that each move still begins where the one before it ended. Answers how many went, and the last id.
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
-- How many of both would go now.
SELECT (SELECT count(*) FROM robots_requests r JOIN domains d ON d.id = r.domain_id
        WHERE r.requested_at < now() - make_interval(secs => GREATEST($1::float8, d.history_retention_s))) AS robots_requests,
       (SELECT count(*) FROM (SELECT h.domain_id, h.moved_at, row_number() OVER (PARTITION BY h.domain_id ORDER BY h.id DESC) AS number
                              FROM domain_history h) m JOIN domains d ON d.id = m.domain_id
        WHERE m.number > $4 AND m.moved_at < now() - make_interval(secs => GREATEST($2::float8, 2 * COALESCE(d.refresh_every_s, $3::float8)))
       ) AS domain_history;
