-- Tasks as an operator sees and selects them. Reads only.

-- name: describe_task
-- One task with its details, its page, its batch and its webhook call.
SELECT t.id, t.page_id, p.url, d.name AS domain, t.status::text AS status, t.outcome::text AS outcome, t.priority, t.retry_count, t.max_retries,
       t.recrawl_count, t.is_recurring, t.revisit_every_s, t.parent_task_id, t.depends_on, t.is_waiting, t.run_id, t.batch_id,
       b.name AS batch, t.created_by, t.created_at, t.updated_at, t.scheduled_for, t.locked_by, t.locked_at, t.requested_at, t.completed_at,
       t.status_code, t.error_code, t.error_message, t.blame, t.response_time_ms, t.bytes, t.is_changed, t.proxy_id, t.body_ref,
       p.status::text AS page_status, d.status::text AS domain_status, d.is_active AS domain_is_active,
       t.webhook_url, w.tries AS webhook_tries, w.delivered_at AS webhook_delivered_at, w.died_at AS webhook_died_at,
       w.next_try_at AS webhook_next_try_at, w.error AS webhook_error, e.stack,
       CASE WHEN t.error_code IS NOT NULL
            THEN left(md5(t.error_code || ' ' || failure_shape(t.error_code, COALESCE(t.error_message, ''), e.stack)), 12) END AS fingerprint
FROM crawl_tasks t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = t.domain_id
LEFT JOIN batches b ON b.id = t.batch_id
LEFT JOIN webhook_calls w ON w.task_id = t.id
LEFT JOIN LATERAL (SELECT stack FROM errors WHERE task_id = t.id AND t.error_code IS NOT NULL ORDER BY id DESC LIMIT 1) e ON true
WHERE t.id = $1;

-- name: redirects_of_task
-- The redirect target of a task, and the pages that redirect to its page. Links belong to a page, so the target is
-- known for the last response only.
SELECT true AS is_onward, p.id AS page_id, p.url
FROM crawl_tasks t
JOIN page_link_lists l ON l.from_page_id = t.page_id AND l.rels = 'redirect'
JOIN pages p ON p.id = l.to_page_ids[1]
WHERE t.id = $1 AND t.status_code BETWEEN 300 AND 399
  AND NOT EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id AND n.status_code IS NOT NULL)
UNION ALL
(SELECT false, f.id, f.url
 FROM crawl_tasks t
 JOIN pages p ON p.id = t.page_id AND p.redirects > 0
 JOIN page_link_lists l ON l.to_page_ids @> ARRAY[p.id] AND l.rels = 'redirect'
 JOIN pages f ON f.id = l.from_page_id
 WHERE t.id = $1
 LIMIT $2);

-- name: visits_of_page
-- All tasks of the page of one task, newest first: its retries, visits and restarts.
SELECT t.id, t.status::text AS status, t.outcome::text AS outcome, t.status_code, t.error_code, t.error_message, t.retry_count,
       t.parent_task_id, t.created_by, t.created_at, t.scheduled_for, t.requested_at, t.completed_at, t.response_time_ms
FROM crawl_tasks o JOIN crawl_tasks t ON t.page_id = o.page_id
WHERE o.id = $1 AND ($3::bigint IS NULL OR t.id < $3) ORDER BY t.id DESC LIMIT $2;

-- name: orders_of_task
-- Operator actions on one task, newest first.
SELECT o.verb, o.from_status::text AS from_status, o.to_status::text AS to_status, o.ordered_at, o.ordered_by, o.reason
FROM task_orders o WHERE o.task_id = $1 ORDER BY o.id DESC LIMIT $2;

-- name: read_states
-- The states of tasks.
SELECT t.id, p.url, d.name AS domain, t.status::text AS status, t.priority, t.scheduled_for, t.retry_count, t.is_waiting, t.depends_on
FROM crawl_tasks t JOIN pages p ON p.id = t.page_id JOIN domains d ON d.id = t.domain_id
WHERE t.id = ANY ($1::bigint[]) ORDER BY t.id;

-- name: choose_open
-- Open tasks in one of these states, of a domain or a batch, oldest first. Waiting for another task does not count as
-- paused by an operator.
SELECT t.id FROM crawl_tasks t
WHERE t.outcome IS NULL AND t.status = ANY ($1::text[]::task_status[])
  AND ($2::bigint IS NULL OR t.domain_id = $2) AND ($3::bigint IS NULL OR t.batch_id = $3)
  AND ($4::bigint[] IS NULL OR t.id = ANY ($4)) AND NOT (t.is_waiting AND $5)
ORDER BY t.id LIMIT $6;

-- name: choose_failed
-- The last tasks of pages whose last visit failed, newest first. A page that has a newer task is left out; so are pages
-- that a robots.txt forbids, unless selected by that code: they would be forbidden again.
SELECT t.id FROM crawl_tasks t
WHERE t.status = 'failed' AND ($1::bigint IS NULL OR t.domain_id = $1) AND ($2::text IS NULL AND t.outcome <> 'blocked_robots' OR t.error_code = $2)
  AND ($3::timestamptz IS NULL OR t.completed_at >= $3)
  AND NOT EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id)
ORDER BY t.completed_at DESC, t.id DESC LIMIT $4;

-- name: choose_batch
-- The last task of each page of a batch, if it is closed.
SELECT t.id FROM (
    SELECT DISTINCT ON (c.page_id) c.id, c.page_id FROM crawl_tasks c WHERE c.batch_id = $1 ORDER BY c.page_id, c.id DESC) t
WHERE NOT EXISTS (SELECT FROM crawl_tasks o WHERE o.page_id = t.page_id AND o.outcome IS NULL)
ORDER BY t.id LIMIT $2;

-- name: outcomes_of
-- Outcomes of tasks, if they are closed.
SELECT t.id, t.outcome::text AS outcome FROM crawl_tasks t WHERE t.id = ANY ($1::bigint[]);

-- name: count_tasks
-- Number of tasks in each state, of open ones and those closed since; how long these took from their request to their
-- outcome, and how long they waited for that request from when they were due. A task without a request has neither.
SELECT t.status::text AS status, count(*) AS tasks,
       round(avg(EXTRACT(EPOCH FROM t.completed_at - t.requested_at))::numeric, 2)::float8 AS average_s,
       round(avg(CASE WHEN t.requested_at IS NOT NULL THEN GREATEST(EXTRACT(EPOCH FROM t.requested_at - t.due_at), 0) END)::numeric, 2)::float8 AS waiting_s
FROM (SELECT o.status, NULL::timestamptz AS due_at, NULL::timestamptz AS requested_at, NULL::timestamptz AS completed_at
      FROM crawl_tasks o WHERE o.outcome IS NULL
      UNION ALL
      SELECT c.status, c.scheduled_for, c.requested_at, c.completed_at FROM crawl_tasks c WHERE c.completed_at >= $1) t
GROUP BY t.status ORDER BY t.status;

-- name: find_batch
-- One batch, by its number or its name.
SELECT b.id, b.name, b.created_by, b.created_at FROM batches b WHERE b.id = $1::bigint OR b.name = $2::text;

-- name: list_batches
-- Batches, newest first, each with the state of the last task of each of its pages.
SELECT b.id, b.name, b.created_by, b.created_at, c.pages, c.open, c.paused, c.completed, c.failed, c.cancelled, c.last_at
FROM (SELECT * FROM batches WHERE ($1::bigint IS NULL OR id = $1) AND ($2::bigint IS NULL OR id < $2) ORDER BY id DESC LIMIT $3) b
CROSS JOIN LATERAL (
    SELECT count(*)::int AS pages, count(*) FILTER (WHERE l.outcome IS NULL)::int AS open, count(*) FILTER (WHERE l.status = 'paused')::int AS paused,
           count(*) FILTER (WHERE l.status = 'completed')::int AS completed, count(*) FILTER (WHERE l.status = 'failed')::int AS failed,
           count(*) FILTER (WHERE l.status = 'cancelled')::int AS cancelled, max(l.completed_at) AS last_at
    FROM (SELECT DISTINCT ON (t.page_id) t.status, t.outcome, t.completed_at FROM crawl_tasks t
          WHERE t.batch_id = b.id ORDER BY t.page_id, t.id DESC) l) c
ORDER BY b.id DESC;

-- name: domains_of_pages
-- The domains these pages belong to, which are locked first.
SELECT DISTINCT p.domain_id FROM pages p WHERE p.id = ANY ($1::bigint[]) ORDER BY p.domain_id;
