-- Tasks as lists show them. A list is read in two steps: statements that return ids, newest first, find rows by an index;
-- task_rows then reads these rows, and applies the filters that no index serves.

-- name: tasks_by_id
-- Ids of tasks, newest first: open ones are the queue, closed ones the history. Tasks of a batch include all their
-- retries. $11: only ids from this one on. Filters by a rare value repeat the condition of the partial index that holds
-- it. Only tasks that a worker works on have a worker.
SELECT t.id
FROM crawl_tasks t
WHERE t.id < COALESCE($1::bigint, 9223372036854775807) AND t.id >= COALESCE($11::bigint, 0)
  AND ($2::text IS NULL OR t.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2))
  AND ($3::text IS NULL OR t.status = $3::text::task_status)
  AND ($3 IS NULL OR $3 IN ('pending', 'completed') OR t.status NOT IN ('pending', 'completed'))
  AND ($3 IS DISTINCT FROM 'pending' OR t.outcome IS NULL)
  AND ($4::text IS NULL OR t.outcome = $4::text::task_outcome)
  AND ($4 IS NULL OR $4 = 'success' OR t.outcome <> 'success')
  AND ($5::text IS NULL OR t.error_code = $5)
  AND ($6::bigint IS NULL OR t.run_id = $6)
  AND ($7::boolean IS NULL OR (t.outcome IS NULL) = $7)
  AND ($8::boolean IS NULL OR t.is_image = $8)
  AND ($9::bigint IS NULL OR t.batch_id = $9)
  AND ($10::bigint IS NULL OR t.page_id = $10)
  AND ($12::bigint IS NULL OR t.locked_by = $12 AND t.status IN ('crawling', 'paused'))
  AND ($13::int IS NULL OR t.status_code BETWEEN $13 AND $14::int)
  AND ($13 IS DISTINCT FROM $14 OR $13 IS NULL OR t.status_code = $13)
  AND ($13 IS NULL OR 200 BETWEEN $13 AND $14 OR t.status_code <> 200)
  AND ($15::text IS NULL OR t.created_by = $15)
  AND ($15 IS NULL OR $15 IN ('system', 'revisit') OR t.created_by NOT IN ('system', 'revisit'))
  AND ($16::timestamptz IS NULL OR t.created_at >= $16) AND ($17::timestamptz IS NULL OR t.created_at < $17)
  AND ($18::timestamptz IS NULL OR t.completed_at >= $18) AND ($19::timestamptz IS NULL OR t.completed_at < $19)
ORDER BY t.id DESC
LIMIT $20::bigint;

-- name: tasks_of_domain
-- Ids of tasks of one domain, newest first: the history by its index, the queue by the index of open tasks.
SELECT t.id FROM (
    (SELECT c.id FROM crawl_tasks c
     WHERE c.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2) AND c.outcome IS NOT NULL
       AND c.id < COALESCE($1::bigint, 9223372036854775807) AND c.id >= COALESCE($9::bigint, 0)
       AND ($3::text IS NULL OR c.status = $3::text::task_status)
       AND ($3 IS NULL OR $3 IN ('pending', 'completed') OR c.status NOT IN ('pending', 'completed'))
       AND ($3 IS DISTINCT FROM 'pending' OR c.outcome IS NULL)
       AND ($4::text IS NULL OR c.outcome = $4::text::task_outcome)
       AND ($4 IS NULL OR $4 = 'success' OR c.outcome <> 'success')
       AND ($5::text IS NULL OR c.error_code = $5)
       AND ($6::bigint IS NULL OR c.run_id = $6)
       AND ($7::boolean IS NULL OR (c.outcome IS NULL) = $7)
       AND ($8::boolean IS NULL OR c.is_image = $8)
     ORDER BY c.id DESC LIMIT $10::bigint)
    UNION ALL
    (SELECT c.id FROM crawl_tasks c
     WHERE c.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2) AND c.outcome IS NULL
       AND c.id < COALESCE($1::bigint, 9223372036854775807) AND c.id >= COALESCE($9::bigint, 0)
       AND ($3::text IS NULL OR c.status = $3::text::task_status)
       AND ($3 IS NULL OR $3 IN ('pending', 'completed') OR c.status NOT IN ('pending', 'completed'))
       AND ($4::text IS NULL OR c.outcome = $4::text::task_outcome)
       AND ($4 IS NULL OR $4 = 'success' OR c.outcome <> 'success')
       AND ($5::text IS NULL OR c.error_code = $5)
       AND ($6::bigint IS NULL OR c.run_id = $6)
       AND ($7::boolean IS NULL OR (c.outcome IS NULL) = $7)
       AND ($8::boolean IS NULL OR c.is_image = $8)
     ORDER BY c.id DESC LIMIT $10::bigint)
) t
ORDER BY t.id DESC
LIMIT $10::bigint;

-- name: tasks_by_codes
-- Ids of tasks that ended with one of these status codes, newest first: the newest of each code, by its index. 200 is not
-- in that index.
SELECT c.id
FROM generate_series($2::int, $3::int) AS n (code)
CROSS JOIN LATERAL (
    SELECT t.id FROM crawl_tasks t
    WHERE t.status_code = n.code AND t.status_code <> 200 AND t.id < COALESCE($1::bigint, 9223372036854775807) AND t.id >= COALESCE($4::bigint, 0)
    ORDER BY t.id DESC LIMIT $5::bigint
) c
ORDER BY c.id DESC
LIMIT $5::bigint;

-- name: task_rows
-- Tasks by their ids, newest first, without those that a filter leaves out. $2: a part of the URL, in any case. Row by
-- row, whatever the planner expects: for ten thousand ids it would read a table of a million rows from end to end.
SELECT t.id, t.page_id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.blame, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at, t.updated_at,
       t.scheduled_for, t.locked_by, t.locked_at, t.requested_at, t.completed_at, t.response_time_ms, t.bytes, t.is_changed, t.proxy_id,
       t.body_ref IS NOT NULL AS has_body, t.batch_id, CASE WHEN t.is_image THEN 'image' WHEN p.is_sitemap THEN 'sitemap' ELSE 'page' END AS kind
FROM unnest($1::bigint[]) AS n (id)
CROSS JOIN LATERAL (SELECT c.*, c.updated_at FROM crawl_tasks c WHERE c.id = n.id OFFSET 0) t
CROSS JOIN LATERAL (SELECT g.url, g.is_sitemap FROM pages g WHERE g.id = t.page_id OFFSET 0) p
JOIN domains d ON d.id = t.domain_id
WHERE ($2::text IS NULL OR strpos(lower(p.url), lower($2)) > 0)
  AND ($3::smallint IS NULL OR t.priority = $3)
  AND ($4::text IS NULL OR d.source = $4)
  AND ($5::text IS NULL OR d.parser_name = $5)
  AND ($6::text IS NULL OR t.created_by = $6)
  AND ($7::int IS NULL OR t.status_code BETWEEN $7 AND $8::int)
  AND ($9::timestamptz IS NULL OR t.created_at >= $9) AND ($10::timestamptz IS NULL OR t.created_at < $10)
  AND ($11::timestamptz IS NULL OR t.completed_at >= $11) AND ($12::timestamptz IS NULL OR t.completed_at < $12)
  AND ($13::text IS NULL OR t.status = $13::text::task_status)
  AND ($14::text IS NULL OR t.outcome = $14::text::task_outcome)
  AND ($15::text IS NULL OR t.error_code = $15)
  AND ($16::boolean IS NULL OR t.is_image = $16)
ORDER BY t.id DESC;

-- name: task_id_at
-- The first id of tasks made since about a moment, by bisection of the primary key: ids grow with time, but for rows of
-- transactions that were open together. NULL where the table is so small that no bound is needed.
WITH RECURSIVE ends AS (
    SELECT (SELECT min(id) FROM crawl_tasks) AS low, (SELECT max(id) + 1 FROM crawl_tasks) AS high
), step (low, high) AS (
    SELECT low, high FROM ends WHERE high - low > $2::bigint
    UNION ALL
    SELECT CASE WHEN t.created_at < $1::timestamptz THEN t.id + 1 ELSE s.low END, CASE WHEN t.created_at < $1 THEN s.high ELSE (s.low + s.high) / 2 END
    FROM step s
    CROSS JOIN LATERAL (SELECT c.id, c.created_at FROM crawl_tasks c WHERE c.id >= (s.low + s.high) / 2 ORDER BY c.id LIMIT 1) t
    WHERE s.low < s.high
)
SELECT max(low) FROM step;

-- name: page_of_url
-- The page of a URL, by its domain and its key.
SELECT p.id FROM pages p JOIN domains d ON d.id = p.domain_id WHERE d.name = $1 AND p.url_hash = $2;

-- name: find_task
-- Whether there is such a task.
SELECT t.id FROM crawl_tasks t WHERE t.id = $1;
