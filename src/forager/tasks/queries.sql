-- name: tasks_by_id
-- Tasks, newest first: open ones are the queue, closed ones the history. Tasks of a batch include all their retries.
SELECT t.id, t.page_id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.blame, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at, t.scheduled_for,
       t.locked_by, t.locked_at, t.requested_at, t.completed_at, t.response_time_ms, t.bytes, t.is_changed, t.proxy_id,
       t.body_ref IS NOT NULL AS has_body, t.batch_id, CASE WHEN t.is_image THEN 'image' ELSE 'page' END AS kind
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = t.domain_id
WHERE t.id < COALESCE($1::bigint, 9223372036854775807)
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
ORDER BY t.id DESC
LIMIT $11::bigint;

-- name: tasks_of_domain
-- Tasks of one domain, newest first: the history by its index, the queue by the index of open tasks.
SELECT t.id, t.page_id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.blame, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at, t.scheduled_for,
       t.locked_by, t.locked_at, t.requested_at, t.completed_at, t.response_time_ms, t.bytes, t.is_changed, t.proxy_id,
       t.body_ref IS NOT NULL AS has_body, t.batch_id, CASE WHEN t.is_image THEN 'image' ELSE 'page' END AS kind
FROM (
    (SELECT c.* FROM crawl_tasks c
     WHERE c.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2) AND c.outcome IS NOT NULL AND c.id < COALESCE($1::bigint, 9223372036854775807)
       AND ($3::text IS NULL OR c.status = $3::text::task_status)
       AND ($3 IS NULL OR $3 IN ('pending', 'completed') OR c.status NOT IN ('pending', 'completed'))
       AND ($3 IS DISTINCT FROM 'pending' OR c.outcome IS NULL)
       AND ($4::text IS NULL OR c.outcome = $4::text::task_outcome)
       AND ($4 IS NULL OR $4 = 'success' OR c.outcome <> 'success')
       AND ($5::text IS NULL OR c.error_code = $5)
       AND ($6::bigint IS NULL OR c.run_id = $6)
       AND ($7::boolean IS NULL OR (c.outcome IS NULL) = $7)
       AND ($8::boolean IS NULL OR c.is_image = $8)
     ORDER BY c.id DESC LIMIT $9::bigint)
    UNION ALL
    (SELECT c.* FROM crawl_tasks c
     WHERE c.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2) AND c.outcome IS NULL AND c.id < COALESCE($1::bigint, 9223372036854775807)
       AND ($3::text IS NULL OR c.status = $3::text::task_status)
       AND ($3 IS NULL OR $3 IN ('pending', 'completed') OR c.status NOT IN ('pending', 'completed'))
       AND ($3 IS DISTINCT FROM 'pending' OR c.outcome IS NULL)
       AND ($4::text IS NULL OR c.outcome = $4::text::task_outcome)
       AND ($4 IS NULL OR $4 = 'success' OR c.outcome <> 'success')
       AND ($5::text IS NULL OR c.error_code = $5)
       AND ($6::bigint IS NULL OR c.run_id = $6)
       AND ($7::boolean IS NULL OR (c.outcome IS NULL) = $7)
       AND ($8::boolean IS NULL OR c.is_image = $8)
     ORDER BY c.id DESC LIMIT $9::bigint)
) t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = t.domain_id
ORDER BY t.id DESC
LIMIT $9::bigint;

-- name: page_of_url
-- The page of a URL, by its domain and its key.
SELECT p.id FROM pages p JOIN domains d ON d.id = p.domain_id WHERE d.name = $1 AND p.url_hash = $2;

-- name: find_task
-- One task.
SELECT t.id, t.page_id, p.url, d.name AS domain, t.run_id, t.status::text AS status, t.outcome::text AS outcome, t.status_code,
       t.error_code, t.error_message, t.blame, t.retry_count, t.parent_task_id, t.priority, t.created_by, t.created_at, t.scheduled_for,
       t.locked_by, t.locked_at, t.requested_at, t.completed_at, t.response_time_ms, t.bytes, t.is_changed, t.proxy_id,
       t.body_ref IS NOT NULL AS has_body
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = t.domain_id
WHERE t.id = $1;
