-- Failures grouped by problem, and what failed for good. Reads only.

-- name: patterns
-- Failures between two moments ($2 NULL: until now), by code and shape: their number, the number of domains, the first
-- and last time, and one sample. Cancelled tasks are not failures, and neither are pages that a robots.txt forbids:
-- these are listed by their code or fingerprint only. $3: only these codes, $4: only fingerprints with this prefix, $5
-- and $6: only rows after this one. Messages are grouped before they are shaped: a thousand equal ones are shaped once
-- for each domain.
WITH failed AS (
    SELECT t.error_code AS code, COALESCE(t.blame, 'nobody') AS blame, COALESCE(t.error_message, '') AS message, e.stack, t.domain_id,
           count(*) AS failures, min(t.completed_at) AS first_at, max(t.completed_at) AS last_at, max(t.id) AS task_id
    FROM crawl_tasks t LEFT JOIN errors e ON e.task_id = t.id
    WHERE t.completed_at >= $1 AND ($2::timestamptz IS NULL OR t.completed_at <= $2) AND t.error_code IS NOT NULL AND t.outcome <> 'cancelled'
      AND CASE WHEN $3::text[] IS NOT NULL THEN t.error_code = ANY ($3) ELSE $4::text IS NOT NULL OR t.error_code <> 'robots_denied' END
    GROUP BY 1, 2, 3, 4, 5
    UNION ALL
    SELECT 'invalid_product', 'site', problem, NULL, p.domain_id, count(*), min(p.updated_at), max(p.updated_at), max(p.crawl_task_id)
    FROM products p CROSS JOIN LATERAL unnest(p.problems) AS problem
    WHERE NOT p.is_valid AND p.updated_at >= $1 AND ($2 IS NULL OR p.updated_at <= $2) AND ($3 IS NULL OR 'invalid_product' = ANY ($3))
    GROUP BY problem, p.domain_id
), shaped AS (
    SELECT *, failure_shape(code, message, stack) AS shape FROM failed
), found AS (
    SELECT left(md5(code || ' ' || shape), 12) AS fingerprint, code, min(blame) AS blame, shape, sum(failures)::bigint AS failures,
           count(DISTINCT domain_id)::int AS domains, min(first_at) AS first_at, max(last_at) AS last_at,
           (array_agg(message ORDER BY last_at DESC))[1] AS sample, (array_agg(task_id ORDER BY last_at DESC))[1] AS sample_task
    FROM shaped GROUP BY code, shape
)
SELECT f.fingerprint, f.code, f.blame, f.shape, f.failures, f.domains, f.last_at,
       LEAST(f.first_at, (SELECT min(d.first_at) FROM error_days d WHERE d.fingerprint = f.fingerprint)) AS first_at, f.sample, f.sample_task
FROM found f
WHERE ($4::text IS NULL OR starts_with(f.fingerprint, $4))
  AND ($5::bigint IS NULL OR f.failures < $5 OR f.failures = $5 AND f.fingerprint > $6::text)
ORDER BY f.failures DESC, f.fingerprint LIMIT $7;

-- name: find_fingerprint
-- One problem from the daily statistics, by a prefix of its fingerprint.
SELECT fingerprint, (array_agg(code))[1] AS code, (array_agg(blame))[1] AS blame, (array_agg(shape))[1] AS shape, sum(failures)::bigint AS failures,
       max(domains)::int AS domains, min(first_at) AS first_at, max(last_at) AS last_at,
       (array_agg(sample ORDER BY last_at DESC))[1] AS sample, (array_agg(sample_task ORDER BY last_at DESC))[1] AS sample_task
FROM error_days WHERE starts_with(fingerprint, $1) GROUP BY fingerprint ORDER BY max(last_at) DESC LIMIT 2;

-- name: days_of_pattern
-- A problem day by day.
SELECT day, failures, domains FROM error_days WHERE fingerprint = $1 ORDER BY day DESC LIMIT $2;

-- name: domains_of_pattern
-- Domains in which a problem occurs, since a moment.
SELECT d.name AS domain, count(*) AS failures, max(t.completed_at) AS last_at
FROM crawl_tasks t JOIN domains d ON d.id = t.domain_id LEFT JOIN errors e ON e.task_id = t.id
WHERE t.completed_at >= $1 AND t.error_code = $2 AND failure_shape(t.error_code, COALESCE(t.error_message, ''), e.stack) = $3
GROUP BY d.name ORDER BY count(*) DESC, d.name LIMIT $4;

-- name: stack_of_task
-- The traceback of a failure, where it is a bug of ours.
SELECT e.stack, p.url FROM crawl_tasks t JOIN pages p ON p.id = t.page_id LEFT JOIN errors e ON e.task_id = t.id WHERE t.id = $1 LIMIT 1;

-- name: dead_tasks
-- Visits that were given up, newest first, whose pages have no later task: those that failed by our own fault, and those
-- that failed after all retries with an error that may pass. $2: only of this problem, $3: only older ones, $5: codes of
-- errors that may pass, $6: only these codes. Responses such as 404 and what a robots.txt forbids are not given up: they
-- are results. Each outcome is an ordered range of its index.
WITH given_up AS (
    SELECT c.id
    FROM unnest('{failed,timeout,blocked_5xx}'::task_outcome[]) AS o (outcome)
    CROSS JOIN LATERAL (
        SELECT t.id FROM crawl_tasks t
        WHERE t.outcome = o.outcome AND t.outcome <> 'success' AND t.completed_at >= $1 AND ($3::bigint IS NULL OR t.id < $3)
          AND (o.outcome <> 'failed' OR t.blame IN ('us', 'parser') OR t.error_code = ANY ($5::text[]))
          AND ($6::text[] IS NULL OR t.error_code = ANY ($6))
          AND NOT EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id)
          AND ($2::text IS NULL OR left(md5(t.error_code || ' ' || failure_shape(t.error_code, COALESCE(t.error_message, ''),
                                            (SELECT e.stack FROM errors e WHERE e.task_id = t.id LIMIT 1))), 12) = $2)
        ORDER BY t.id DESC LIMIT $4
    ) c
    UNION ALL
    SELECT c.id
    FROM unnest('{408,425,429}'::smallint[]) AS n (code)
    CROSS JOIN LATERAL (
        SELECT t.id FROM crawl_tasks t
        WHERE t.status_code = n.code AND t.status_code <> 200 AND t.outcome = 'blocked_4xx' AND t.completed_at >= $1 AND ($3 IS NULL OR t.id < $3)
          AND ($6 IS NULL OR t.error_code = ANY ($6))
          AND NOT EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id)
          AND ($2 IS NULL OR left(md5(t.error_code || ' ' || failure_shape(t.error_code, COALESCE(t.error_message, ''), NULL)), 12) = $2)
        ORDER BY t.id DESC LIMIT $4
    ) c
)
SELECT t.id AS task_id, p.url, d.name AS domain, t.error_code AS code, t.status_code, t.error_message AS message, COALESCE(t.blame, 'nobody') AS blame,
       t.completed_at AS died_at, t.retry_count,
       left(md5(t.error_code || ' ' || failure_shape(t.error_code, COALESCE(t.error_message, ''), e.stack)), 12) AS fingerprint
FROM (SELECT g.id FROM given_up g ORDER BY g.id DESC LIMIT $4) g
JOIN crawl_tasks t ON t.id = g.id
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = t.domain_id
LEFT JOIN LATERAL (SELECT x.stack FROM errors x WHERE x.task_id = t.id LIMIT 1) e ON true
ORDER BY t.id DESC;

-- name: failed_of_pattern
-- The last visits of pages that failed with one problem, whatever the cause, and have no later task.
SELECT t.id FROM crawl_tasks t LEFT JOIN errors e ON e.task_id = t.id
WHERE t.status = 'failed' AND t.completed_at >= $1 AND t.error_code = $2
  AND failure_shape(t.error_code, COALESCE(t.error_message, ''), e.stack) = $3
  AND NOT EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id)
ORDER BY t.id DESC LIMIT $4;

-- name: failures_by_code
-- Number of failures by code since a moment; counted as `patterns` counts them, without reading messages.
SELECT t.error_code AS code, count(*) AS failures FROM crawl_tasks t
WHERE t.completed_at >= $1 AND t.error_code IS NOT NULL AND t.outcome <> 'cancelled' GROUP BY t.error_code
UNION ALL
SELECT 'invalid_product', COALESCE(sum(cardinality(p.problems)), 0)::bigint FROM products p WHERE NOT p.is_valid AND p.updated_at >= $1;

-- name: dead_calls
-- Abandoned webhook calls, the newest $1.
SELECT id FROM webhook_calls WHERE died_at IS NOT NULL ORDER BY id DESC LIMIT $1;

-- name: count_dead_calls
-- Counts abandoned webhook calls, up to $1.
SELECT count(*)::int FROM (SELECT FROM webhook_calls WHERE died_at IS NOT NULL LIMIT $1) AS dead;

-- name: dead_webhooks
-- Abandoned webhook calls; $1: only older ones.
SELECT id, kind, task_id, url, created_at, died_at, tries, status_code, error FROM webhook_calls
WHERE died_at IS NOT NULL AND ($1::bigint IS NULL OR id < $1) ORDER BY id DESC LIMIT $2;
