-- Statistics by domain and day, rolled up from the closed tasks. Days are UTC.

-- name: find_days
-- Where the roll-up resumes: at the newest day it wrote, which may be incomplete, or at the very first visit; today;
-- and the ids that divide the domains into batches of the given size, including the last id.
SELECT COALESCE((SELECT max(day) FROM domain_days),
                (SELECT (min(completed_at) AT TIME ZONE 'UTC')::date FROM crawl_tasks WHERE outcome IS NOT NULL)) AS first,
       (now() AT TIME ZONE 'UTC')::date AS today,
       ARRAY(SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) % $1 = 0 OR lead(id) OVER (ORDER BY id) IS NULL AS is_last
                             FROM domains) d WHERE is_last ORDER BY id) AS bounds;

-- name: roll_up
-- Statistics of one day for the domains of an id range. Correct rows are left unchanged; returns how many were written.
WITH written AS (
    INSERT INTO domain_days AS o (domain_id, day, visits, ok, changed, errors, bytes, time_ms)
    SELECT t.domain_id, ($1::timestamptz AT TIME ZONE 'UTC')::date, count(*), count(*) FILTER (WHERE t.outcome = 'success'),
           count(*) FILTER (WHERE t.is_changed), count(*) FILTER (WHERE t.blame IN ('site', 'network')),
           COALESCE(sum(t.bytes), 0), COALESCE(sum(t.response_time_ms), 0)
    FROM crawl_tasks t JOIN domains d ON d.id = t.domain_id
    WHERE t.completed_at >= $1 AND t.completed_at < $1 + interval '1 day' AND t.outcome <> 'cancelled'
      AND t.domain_id + 0 > $2 AND t.domain_id + 0 <= $3 -- by the day, not by the whole history of each domain
    GROUP BY t.domain_id
    ORDER BY t.domain_id
    ON CONFLICT (domain_id, day) DO UPDATE
    SET visits = EXCLUDED.visits, ok = EXCLUDED.ok, changed = EXCLUDED.changed, errors = EXCLUDED.errors, bytes = EXCLUDED.bytes,
        time_ms = EXCLUDED.time_ms
    WHERE (o.visits, o.ok, o.changed, o.errors, o.bytes, o.time_ms)
       IS DISTINCT FROM (EXCLUDED.visits, EXCLUDED.ok, EXCLUDED.changed, EXCLUDED.errors, EXCLUDED.bytes, EXCLUDED.time_ms)
    RETURNING o.domain_id
)
SELECT count(*)::int FROM written;
