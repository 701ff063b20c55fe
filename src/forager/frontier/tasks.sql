-- Applies task commands. Owner of crawl_tasks, batches, task_orders, task_signals. The caller has locked the rows of
-- the domains before, in id order, as workers do.

-- name: hold_tasks
-- Returns the current tasks and locks them until the transaction ends.
SELECT t.id, t.page_id, t.domain_id, t.status::text AS status, t.priority, t.retry_count, t.is_waiting, t.depends_on, t.locked_by, t.is_urgent
FROM crawl_tasks t WHERE t.id = ANY ($1::bigint[]) ORDER BY t.id
FOR NO KEY UPDATE OF t;

-- name: domains_of_tasks
-- Returns the domains of these tasks, which are locked first.
SELECT DISTINCT t.domain_id FROM crawl_tasks t WHERE t.id = ANY ($1::bigint[]) ORDER BY t.domain_id;

-- name: note_orders
-- Logs a command: one row for each task.
INSERT INTO task_orders (task_id, verb, from_status, to_status, ordered_by, reason)
SELECT n.task_id, $4, n.from_status::task_status, n.to_status::task_status, $5, $6
FROM unnest($1::bigint[], $2::text[], $3::text[]) AS n (task_id, from_status, to_status);

-- name: note_changes
-- Logs what a command changed in open tasks, whose status stays: one row for each task, in its own words.
INSERT INTO task_orders (task_id, verb, from_status, to_status, ordered_by, reason)
SELECT n.task_id, $4, n.status::task_status, n.status::task_status, $5, n.reason
FROM unnest($1::bigint[], $2::text[], $3::text[]) AS n (task_id, status, reason);

-- name: pause_tasks
-- Pauses tasks: no worker claims them until they are resumed. A worker that holds one gets a signal, and keeps its lock
-- until it has abandoned the task.
WITH paused AS (
    UPDATE crawl_tasks SET status = 'paused', is_waiting = false WHERE id = ANY ($1::bigint[]) AND outcome IS NULL
    RETURNING id, locked_by
)
INSERT INTO task_signals (worker_id, task_id) SELECT locked_by, id FROM paused WHERE locked_by IS NOT NULL
ON CONFLICT DO NOTHING;

-- name: resume_tasks
-- Makes paused tasks pending again, from now on; the number of attempts stays.
UPDATE crawl_tasks SET status = 'pending', scheduled_for = now(), is_waiting = false
WHERE id = ANY ($1::bigint[]) AND status = 'paused'
RETURNING domain_id, scheduled_for;

-- name: set_waiting
-- Marks resumed tasks whose dependency is still open: they resume automatically when it is completed.
UPDATE crawl_tasks SET is_waiting = true WHERE id = ANY ($1::bigint[]) AND status = 'paused' AND depends_on IS NOT NULL;

-- name: cancel_tasks
-- Cancels tasks. A worker that holds one gets a signal; its result is rejected, because the task is closed. Returns
-- what to give back to the limits of runs.
WITH ended AS (
    UPDATE crawl_tasks t
    SET status = 'cancelled', outcome = 'cancelled', completed_at = now(), locked_at = NULL, locked_by = NULL, run_id = NULL,
        is_waiting = false, error_code = 'cancelled', error_message = $2, blame = 'nobody'
    FROM crawl_tasks before, pages p, domains d
    WHERE t.id = ANY ($1::bigint[]) AND t.outcome IS NULL AND before.id = t.id AND p.id = t.page_id AND d.id = t.domain_id
    RETURNING t.id, t.domain_id, before.run_id, before.locked_by, is_charged(before, p, d.counts_revisits) AS is_charged, NOT p.is_image AND NOT p.is_sitemap AS is_page
), called AS (
    INSERT INTO task_signals (worker_id, task_id) SELECT locked_by, id FROM ended WHERE locked_by IS NOT NULL
    ON CONFLICT DO NOTHING
)
SELECT run_id, domain_id, count(*) FILTER (WHERE is_page)::int AS pages, count(*) FILTER (WHERE is_charged)::int AS charged
FROM ended WHERE run_id IS NOT NULL GROUP BY run_id, domain_id ORDER BY run_id, domain_id;

-- name: settle_cancelled
-- Sets the status of pages whose visit was cancelled: that of the previous visit, or blocked if there was none. Returns
-- how many left the frontier of each domain.
WITH settled AS (
    UPDATE pages p
    SET status = COALESCE((
        SELECT CASE WHEN c.outcome = 'success' THEN 'fetched'
                    WHEN c.outcome = 'blocked_4xx' AND c.status_code IN (404, 410) THEN 'gone'
                    WHEN c.outcome IN ('blocked_4xx', 'blocked_robots') THEN 'blocked'
                    ELSE 'failed' END::page_status
        FROM crawl_tasks c WHERE c.page_id = p.id AND c.outcome <> 'cancelled' ORDER BY c.id DESC LIMIT 1), 'blocked')
    WHERE p.id = ANY ($1::bigint[]) AND p.status = 'queued'
      AND NOT EXISTS (SELECT FROM crawl_tasks o WHERE o.domain_id = p.domain_id AND o.page_id = p.id AND o.outcome IS NULL)
    RETURNING p.domain_id
)
SELECT domain_id, count(*)::int AS pages FROM settled GROUP BY domain_id ORDER BY domain_id;

-- name: set_priorities
-- Sets the priority of tasks of a domain, from the next claim on, and whether they lift their domain.
UPDATE crawl_tasks SET priority = $2, is_urgent = $3 WHERE id = ANY ($1::bigint[]) AND outcome IS NULL;

-- name: set_page_priorities
-- Sets the priority of pages of a domain that wait for their first visit.
WITH changed AS (
    UPDATE pages SET priority = $2 WHERE domain_id = $1 AND status = 'discovered' AND priority <> $2 RETURNING id
)
SELECT count(*)::int FROM changed;

-- name: queue_pages
-- Prepares pages that are to get a task: those that were read keep that status, the others wait for it. Returns how
-- many pages of each domain newly entered the frontier.
WITH queued AS (
    UPDATE pages p SET status = 'queued', trap_id = NULL
    FROM pages before
    WHERE p.id = ANY ($1::bigint[]) AND before.id = p.id AND p.status IN ('discovered', 'failed', 'blocked', 'gone')
    RETURNING p.domain_id, before.status AS was
)
SELECT domain_id, count(*) FILTER (WHERE was <> 'discovered')::int AS pages FROM queued GROUP BY domain_id ORDER BY domain_id;

-- name: add_tasks
-- Adds one new task for each of these pages that has no open one.
INSERT INTO crawl_tasks (page_id, domain_id, priority, scheduled_for, retry_count, parent_task_id, is_recurring, revisit_every_s,
                         max_retries, webhook_url, depends_on, is_waiting, status, batch_id, recrawl_count, created_by, is_urgent)
SELECT p.id, p.domain_id, COALESCE(n.priority, 5), COALESCE(n.scheduled_for, now()), n.retry_count, n.parent_task_id,
       COALESCE(n.is_recurring, true), n.revisit_every_s, n.max_retries, n.webhook_url, n.depends_on, n.is_waiting,
       CASE WHEN n.is_waiting THEN 'paused' ELSE 'pending' END::task_status, n.batch_id, n.recrawl_count, $14, n.is_urgent
FROM unnest($1::bigint[], $2::smallint[], $3::timestamptz[], $4::smallint[], $5::bigint[], $6::boolean[], $7::float8[], $8::smallint[],
            $9::text[], $10::bigint[], $11::boolean[], $12::bigint[], $13::int[], $15::boolean[])
     AS n (page_id, priority, scheduled_for, retry_count, parent_task_id, is_recurring, revisit_every_s, max_retries, webhook_url,
           depends_on, is_waiting, batch_id, recrawl_count, is_urgent)
JOIN pages p ON p.id = n.page_id
ORDER BY p.domain_id, p.id
ON CONFLICT (domain_id, page_id) WHERE outcome IS NULL DO NOTHING
RETURNING id, page_id;

-- name: amend_tasks
-- Updates open tasks that are ordered again: earlier and with a higher priority, if the new command says so; values
-- that it omits stay. Returns the tasks that the command changed.
WITH wanted AS MATERIALIZED (
    SELECT t.id, t.priority AS was_priority, t.scheduled_for AS was_scheduled_for, LEAST(t.priority, n.priority) AS priority,
           t.is_urgent OR COALESCE(n.priority <= $9, false) AS is_urgent,
           CASE WHEN t.locked_at IS NULL THEN LEAST(t.scheduled_for, COALESCE(n.scheduled_for, now())) ELSE t.scheduled_for END AS scheduled_for,
           COALESCE(n.is_recurring, t.is_recurring) AS is_recurring, COALESCE(n.revisit_every_s, t.revisit_every_s) AS revisit_every_s,
           COALESCE(n.max_retries, t.max_retries) AS max_retries, COALESCE(n.webhook_url, t.webhook_url) AS webhook_url,
           COALESCE(t.batch_id, n.batch_id) AS batch_id
    FROM unnest($1::bigint[], $2::smallint[], $3::timestamptz[], $4::boolean[], $5::float8[], $6::smallint[], $7::text[], $8::bigint[])
         AS n (page_id, priority, scheduled_for, is_recurring, revisit_every_s, max_retries, webhook_url, batch_id)
    JOIN pages p ON p.id = n.page_id
    JOIN crawl_tasks t ON t.domain_id = p.domain_id AND t.page_id = p.id AND t.outcome IS NULL
)
UPDATE crawl_tasks t
SET priority = w.priority, is_urgent = w.is_urgent, scheduled_for = w.scheduled_for, is_recurring = w.is_recurring,
    revisit_every_s = w.revisit_every_s, max_retries = w.max_retries, webhook_url = w.webhook_url, batch_id = w.batch_id
FROM wanted w
WHERE t.id = w.id AND t.outcome IS NULL
  AND (t.priority, t.is_urgent, t.scheduled_for, t.is_recurring, t.revisit_every_s, t.max_retries, t.webhook_url, t.batch_id)
      IS DISTINCT FROM (w.priority, w.is_urgent, w.scheduled_for, w.is_recurring, w.revisit_every_s, w.max_retries, w.webhook_url, w.batch_id)
RETURNING t.id, t.status::text AS status, t.priority, t.scheduled_for, w.was_priority, w.was_scheduled_for;

-- name: reschedule_tasks
-- Gives the waiting tasks of pages that are restarted the time and the priority that the restart names; what it does
-- not name stays. Returns the tasks that this changed.
UPDATE crawl_tasks t
SET priority = COALESCE($2::smallint, t.priority), is_urgent = COALESCE($4::boolean, t.is_urgent),
    scheduled_for = COALESCE($3::timestamptz, t.scheduled_for)
FROM crawl_tasks o
WHERE t.id = ANY ($1::bigint[]) AND t.outcome IS NULL AND t.locked_at IS NULL AND o.id = t.id
  AND (COALESCE($2::smallint, t.priority), COALESCE($3::timestamptz, t.scheduled_for)) IS DISTINCT FROM (t.priority, t.scheduled_for)
RETURNING t.id, t.status::text AS status, t.priority, t.scheduled_for, o.priority AS was_priority, o.scheduled_for AS was_scheduled_for;

-- name: open_tasks_of
-- Returns the open tasks of these pages. Page by page, whatever the planner's statistics: joined the other way round,
-- each task would be looked up in the whole list of pages, which took two minutes for 5,000 of them in a database that
-- was never analyzed.
SELECT t.id, t.page_id, t.domain_id, t.status, t.scheduled_for, t.retry_count, t.priority, t.parent_task_id, t.depends_on
FROM pages p
CROSS JOIN LATERAL (
    SELECT c.id, c.page_id, c.domain_id, c.status::text AS status, c.scheduled_for, c.retry_count, c.priority, c.parent_task_id, c.depends_on
    FROM crawl_tasks c WHERE c.domain_id = p.domain_id AND c.page_id = p.id AND c.outcome IS NULL OFFSET 0
) t
WHERE p.id = ANY ($1::bigint[]);

-- name: closed_orders
-- Returns what the successors of closed tasks inherit from them.
SELECT t.id, t.page_id, t.domain_id, t.priority, t.retry_count, t.is_recurring, t.revisit_every_s, t.max_retries, t.webhook_url,
       t.batch_id, t.recrawl_count, t.is_urgent
FROM crawl_tasks t WHERE t.id = ANY ($1::bigint[]) ORDER BY t.id;

-- name: move_dependencies
-- Moves dependencies on these tasks to their successors.
UPDATE crawl_tasks w SET depends_on = n.new FROM unnest($1::bigint[], $2::bigint[]) AS n (old, new)
WHERE w.depends_on = n.old AND w.outcome IS NULL;

-- name: find_finished_dependencies
-- Returns open tasks whose dependency is closed, with its outcome. Tasks that a person paused stay paused if it was
-- completed.
SELECT w.id, w.domain_id, d.id AS depends_on, d.outcome::text AS outcome
FROM crawl_tasks w JOIN crawl_tasks d ON d.id = w.depends_on
WHERE w.depends_on IS NOT NULL AND w.outcome IS NULL AND d.outcome IS NOT NULL AND w.status = 'paused'
  AND (w.is_waiting OR d.outcome <> 'success')
ORDER BY w.id LIMIT $1;

-- name: release_waiting
-- Releases tasks whose dependency is completed: they wait for a worker, from the time they were ordered for.
UPDATE crawl_tasks SET status = 'pending', is_waiting = false, scheduled_for = GREATEST(scheduled_for, now())
WHERE id = ANY ($1::bigint[]) AND status = 'paused' AND is_waiting
RETURNING domain_id, scheduled_for;

-- name: poll_signals
-- Returns tasks of a worker that were paused or cancelled. A task that it no longer holds is reported once.
WITH over AS (
    DELETE FROM task_signals c
    WHERE c.worker_id = $1
      AND NOT EXISTS (SELECT FROM crawl_tasks t WHERE t.id = c.task_id AND t.outcome IS NULL AND t.locked_by = $1)
    RETURNING c.task_id
)
SELECT c.task_id, t.domain_id, c.task_id IN (SELECT o.task_id FROM over o) AS is_over
FROM task_signals c JOIN crawl_tasks t ON t.id = c.task_id
WHERE c.worker_id = $1;

-- name: put_down
-- Abandons tasks after a signal: the worker's lock ends and the visit counts for no run. Requests that were already
-- made stay on record.
WITH put AS (
    UPDATE crawl_tasks t
    SET locked_at = NULL, locked_by = NULL, run_id = NULL, pace_ms = LEAST(t.pace_ms, n.pace_ms),
        earlier_requests = CASE WHEN n.requests IS NULL THEN t.earlier_requests ELSE COALESCE(t.earlier_requests, '{}') || n.requests::timestamptz[] END
    FROM unnest($2::bigint[], $3::text[], $4::int[]) AS n (id, requests, pace_ms), crawl_tasks before, pages p, domains d
    WHERE t.id = n.id AND before.id = n.id AND p.id = t.page_id AND d.id = t.domain_id AND t.outcome IS NULL AND t.locked_by = $1 AND t.status IN ('paused', 'pending')
    RETURNING t.domain_id, before.run_id, is_charged(before, p, d.counts_revisits) AS is_charged, NOT p.is_image AND NOT p.is_sitemap AS is_page
), heard AS (
    DELETE FROM task_signals WHERE worker_id = $1 AND task_id = ANY ($2)
)
SELECT run_id, domain_id, count(*) FILTER (WHERE is_page)::int AS pages, count(*) FILTER (WHERE is_charged)::int AS charged
FROM put WHERE run_id IS NOT NULL GROUP BY run_id, domain_id ORDER BY run_id, domain_id;

-- name: take_up_paused
-- Keeps visits that were already finished when they were paused: sets them to pending, from where take_up moves them
-- on, so that they can be closed.
UPDATE crawl_tasks SET status = 'pending', is_waiting = false WHERE id = ANY ($2::bigint[]) AND status = 'paused' AND locked_by = $1;

-- name: take_up
-- Reclaims tasks that a worker finished and still holds. Runs after take_up_paused.
UPDATE crawl_tasks SET status = 'crawling' WHERE id = ANY ($2::bigint[]) AND status = 'pending' AND locked_by = $1 RETURNING id;

-- name: delete_stale_signals
-- Deletes signals to workers that are gone.
DELETE FROM task_signals c WHERE NOT EXISTS (SELECT FROM workers w WHERE w.id = c.worker_id AND w.status = 'running');

-- name: name_batch
-- Returns the batch of this name; using a name again adds to the batch.
INSERT INTO batches (name, created_by) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET name = EXCLUDED.name
RETURNING id, name, created_by, created_at, xmax = 0 AS is_new;
