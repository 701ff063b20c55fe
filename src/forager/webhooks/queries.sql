-- Webhook calls: an outbox. A trigger adds the calls for tasks when a task is closed; whatever raises an alert adds its call.

-- name: take_due_calls
-- Takes due calls, at most $2 per URL. Each counts as an attempt now: if the process that takes them dies, they are due again after $3
-- seconds. The payload of a task call is the task as it was closed.
WITH due AS MATERIALIZED (
    SELECT c.id, row_number() OVER (PARTITION BY c.url ORDER BY c.next_try_at, c.id) AS place
    FROM webhook_calls c WHERE c.next_try_at <= now() ORDER BY c.next_try_at LIMIT $4
), mine AS MATERIALIZED (
    SELECT c.id FROM webhook_calls c JOIN due ON due.id = c.id WHERE due.place <= $2
    ORDER BY c.next_try_at LIMIT $1
    FOR NO KEY UPDATE OF c SKIP LOCKED
)
UPDATE webhook_calls c SET tries = c.tries + 1, tried_at = now(), next_try_at = now() + make_interval(secs => $3)
FROM mine
LEFT JOIN webhook_calls o ON o.id = mine.id
LEFT JOIN crawl_tasks t ON t.id = o.task_id
LEFT JOIN pages p ON p.id = t.page_id
LEFT JOIN domains d ON d.id = t.domain_id
LEFT JOIN batches b ON b.id = t.batch_id
WHERE c.id = mine.id
RETURNING c.id, c.kind, c.url, c.tries, EXTRACT(EPOCH FROM now() - c.created_at)::float8 AS age_s,
          COALESCE(c.payload, jsonb_build_object(
              'event', 'task.closed', 'task_id', t.id, 'url', p.url, 'domain', d.name, 'status', t.status, 'outcome', t.outcome,
              'status_code', t.status_code, 'error_code', t.error_code, 'error_message', t.error_message, 'priority', t.priority,
              'retry_count', t.retry_count, 'recrawl_count', t.recrawl_count, 'parent_task_id', t.parent_task_id, 'batch_id', t.batch_id,
              'batch', b.name, 'created_by', t.created_by, 'scheduled_for', t.scheduled_for, 'requested_at', t.requested_at,
              'completed_at', t.completed_at, 'response_time_ms', t.response_time_ms, 'bytes', t.bytes, 'is_changed', t.is_changed,
              'title', p.title))::text AS payload;

-- name: note_delivered
-- Marks calls as accepted by their receivers.
UPDATE webhook_calls c SET delivered_at = now(), next_try_at = NULL, status_code = n.status_code, error = NULL
FROM unnest($1::bigint[], $2::smallint[]) AS n (id, status_code) WHERE c.id = n.id AND c.next_try_at IS NOT NULL;

-- name: note_undelivered
-- Schedules failed calls again after a pause, or gives them up if the pause is NULL.
UPDATE webhook_calls c
SET status_code = n.status_code, error = n.error, died_at = CASE WHEN n.wait_s IS NULL THEN now() END,
    next_try_at = now() + make_interval(secs => n.wait_s)
FROM unnest($1::bigint[], $2::smallint[], $3::text[], $4::float8[]) AS n (id, status_code, error, wait_s)
WHERE c.id = n.id AND c.next_try_at IS NOT NULL;

-- name: revive_calls
-- Retries calls that were given up as if they were new: the given ones, or all.
WITH revived AS (
    UPDATE webhook_calls SET died_at = NULL, next_try_at = now(), tries = 0, created_at = now()
    WHERE died_at IS NOT NULL AND ($1::bigint[] IS NULL OR id = ANY ($1))
    RETURNING id
)
SELECT count(*)::int FROM revived;

-- name: add_call
-- Adds a call for an event that is not a task.
INSERT INTO webhook_calls (kind, payload, url) VALUES ($1, $2::jsonb, $3) RETURNING id;

-- name: list_calls
-- Lists calls, newest first.
SELECT c.id, c.kind, c.task_id, c.url, c.created_at, c.tries, c.tried_at, c.next_try_at, c.delivered_at, c.died_at, c.status_code, c.error,
       CASE WHEN c.delivered_at IS NOT NULL THEN 'delivered' WHEN c.died_at IS NOT NULL THEN 'dead' ELSE 'waiting' END AS state
FROM webhook_calls c
WHERE ($1::text IS NULL OR CASE $1 WHEN 'delivered' THEN c.delivered_at IS NOT NULL WHEN 'dead' THEN c.died_at IS NOT NULL
                                   ELSE c.next_try_at IS NOT NULL END)
  AND ($2::bigint IS NULL OR c.id < $2)
ORDER BY c.id DESC LIMIT $3;
