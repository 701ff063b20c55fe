-- Failures grouped by problem. Owner of error_days.

-- name: find_error_days
-- Where the roll-up resumes: at the newest day it wrote, or yesterday; and today.
SELECT LEAST(COALESCE((SELECT max(day) FROM error_days), t.today), t.today - 1) AS first, t.today
FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) t;

-- name: roll_up_errors
-- The failures of one day; cancelled tasks are not failures. Correct rows are left unchanged; returns how many were
-- written. Messages are grouped before they are shaped: a thousand equal ones are shaped once for each domain.
WITH failed AS (
    SELECT t.error_code AS code, COALESCE(t.blame, 'nobody') AS blame, COALESCE(t.error_message, '') AS message, e.stack, t.domain_id,
           count(*) AS failures, min(t.completed_at) AS first_at, max(t.completed_at) AS last_at, max(t.id) AS task_id
    FROM crawl_tasks t LEFT JOIN errors e ON e.task_id = t.id
    WHERE t.completed_at >= $1 AND t.completed_at < $1 + interval '1 day' AND t.error_code IS NOT NULL AND t.outcome <> 'cancelled'
    GROUP BY 1, 2, 3, 4, 5
    UNION ALL
    SELECT 'invalid_product', 'site', problem, NULL, p.domain_id, count(*), min(p.updated_at), max(p.updated_at), max(p.crawl_task_id)
    FROM products p CROSS JOIN LATERAL unnest(p.problems) AS problem
    WHERE NOT p.is_valid AND p.updated_at >= $1 AND p.updated_at < $1 + interval '1 day'
    GROUP BY problem, p.domain_id
), shaped AS (
    SELECT *, failure_shape(code, message, stack) AS shape FROM failed
), written AS (
    INSERT INTO error_days AS o (day, fingerprint, code, blame, shape, failures, domains, first_at, last_at, sample, sample_task)
    SELECT ($1::timestamptz AT TIME ZONE 'UTC')::date, left(md5(code || ' ' || shape), 12), code, min(blame), shape, sum(failures), count(DISTINCT domain_id),
           min(first_at), max(last_at), (array_agg(message ORDER BY last_at DESC))[1], (array_agg(task_id ORDER BY last_at DESC))[1]
    FROM shaped GROUP BY code, shape ORDER BY 2
    ON CONFLICT (fingerprint, day) DO UPDATE
    SET failures = EXCLUDED.failures, domains = EXCLUDED.domains, first_at = EXCLUDED.first_at, last_at = EXCLUDED.last_at,
        sample = EXCLUDED.sample, sample_task = EXCLUDED.sample_task
    WHERE (o.failures, o.last_at) IS DISTINCT FROM (EXCLUDED.failures, EXCLUDED.last_at)
    RETURNING o.day
)
SELECT count(*)::int FROM written;
