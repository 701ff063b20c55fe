-- Runs, workers and their counters. Owner of runs, run_outcomes, run_drops, workers.

-- name: start_run
-- Creates a run. The process that starts it owns it: the run is lost when that process is gone.
INSERT INTO runs (spec, max_pages, max_pages_per_domain, max_depth, created_by, kept_by, kept_at)
VALUES ($1::jsonb, $2, $3, $4, $5, $6, now()) RETURNING id;

-- name: open_run
-- Starts a run after a long list of seeds was added; until then it is stopped, so that a kill leaves it stopped.
UPDATE runs SET status = 'running', ended_at = NULL, started_at = now(), kept_at = now(), spec = $2::jsonb WHERE id = $1;

-- name: find_run
-- The config of a run.
SELECT id, status::text AS status, spec::text AS spec, started_at FROM runs WHERE id = $1;

-- name: end_run
-- Ends a run. An end recorded before stays, unless the process that owns the run ($3) reports another one: the run had
-- been taken for lost.
UPDATE runs SET status = $2::text::run_status, ended_at = now() WHERE id = $1 AND (ended_at IS NULL OR kept_by = $3);

-- name: acquire_pages
-- Reserves up to $2 pages of a run's limit; returns how many were granted. Only for runs that have a limit.
WITH run AS (SELECT id, GREATEST(0, LEAST($2, max_pages - pages_claimed)) AS granted FROM runs WHERE id = $1 FOR NO KEY UPDATE)
UPDATE runs SET pages_claimed = pages_claimed + run.granted FROM run WHERE runs.id = run.id RETURNING run.granted;

-- name: return_pages
-- Returns reserved pages that were not used. Applies only to runs with a limit.
UPDATE runs SET pages_claimed = pages_claimed - $2 WHERE id = $1 AND max_pages IS NOT NULL;

-- name: count_outcomes
-- Counts outcomes of visits, in the transaction that closes them. Keys are sorted, so that workers do not deadlock.
INSERT INTO run_outcomes (run_id, outcome, reason, pages, bytes, time_ms)
SELECT $1, n.outcome::task_outcome, n.reason, n.pages, n.bytes, n.time_ms
FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[]) AS n (outcome, reason, pages, bytes, time_ms)
ORDER BY n.outcome, n.reason
ON CONFLICT (run_id, outcome, reason) DO UPDATE
SET pages = run_outcomes.pages + EXCLUDED.pages, bytes = run_outcomes.bytes + EXCLUDED.bytes, time_ms = run_outcomes.time_ms + EXCLUDED.time_ms;

-- name: count_drops
-- Counts links that were seen and dropped, by reason.
INSERT INTO run_drops (run_id, reason, links)
SELECT $1, n.reason, n.links FROM unnest($2::text[], $3::bigint[]) AS n (reason, links) ORDER BY n.reason
ON CONFLICT (run_id, reason) DO UPDATE SET links = run_drops.links + EXCLUDED.links;

-- name: count_links
-- Counts links seen and pages enqueued by a run.
UPDATE runs SET links_seen = links_seen + $2, pages_learned = pages_learned + $3 WHERE id = $1;

-- name: add_worker
-- Registers a worker process.
INSERT INTO workers (run_id, host, pid, pid_started, labels) VALUES ($1, $2, $3, $4, $5::text[]) RETURNING id;

-- name: drain_workers
-- Asks one running worker, or all of a machine, to take nothing new and to stop. A worker asked before keeps the first
-- time.
UPDATE workers SET drain_asked_at = COALESCE(drain_asked_at, now())
WHERE status = 'running' AND (id = $1::bigint OR split_part(host, '/', 1) = $2::text)
RETURNING id, run_id, split_part(host, '/', 1) AS host, pid, drain_asked_at;

-- name: worker_status
-- Whether a worker is running, stopped or dead.
SELECT status::text FROM workers WHERE id = $1;

-- name: is_draining
-- Whether this worker has been asked to stop.
SELECT drain_asked_at IS NOT NULL FROM workers WHERE id = $1;

-- name: are_all_draining
-- Whether every worker of a run that stopped cleanly was asked to. The first that stopped by itself had found nothing
-- left to do.
SELECT bool_and(drain_asked_at IS NOT NULL) FROM workers WHERE run_id = $1 AND status = 'stopped';

-- name: beat
-- Records a heartbeat, and the worker's own pause if there is one. Returns no row when the worker was declared dead.
UPDATE workers SET heartbeat_at = now(), pause_reason = $2, pause_detail = $3, paused_since = now() - make_interval(secs => $4)
WHERE id = $1 AND status = 'running' RETURNING id;

-- name: end_worker
-- Records that a worker stopped cleanly.
UPDATE workers SET status = 'stopped', ended_at = now() WHERE id = $1 AND status = 'running';

-- name: find_running_workers
-- Workers of this machine that are registered as running.
SELECT id, pid, pid_started FROM workers WHERE status = 'running' AND host = $1;

-- name: has_stale_workers
-- Whether a running worker sent no heartbeat within $1 seconds and still holds a lease, or is of another machine than
-- $3 and has sent none for $2 seconds. Each worker runs it every second; it uses the index of running workers.
SELECT EXISTS (
    SELECT FROM workers w
    WHERE w.status = 'running' AND w.heartbeat_at < now() - make_interval(secs => LEAST($1::float8, $2::float8))
      AND (EXISTS (SELECT FROM domains d WHERE d.claimed_by = w.id)
           OR (w.host <> $3 AND w.heartbeat_at < now() - make_interval(secs => $2))));

-- name: mark_stale_dead
-- Declares workers of other machines dead that sent no heartbeat within $1 seconds. Those of this machine are checked
-- by their process.
UPDATE workers SET status = 'dead', ended_at = now() WHERE id = ANY (ARRAY(
    SELECT w.id FROM workers w
    WHERE w.status = 'running' AND w.heartbeat_at < now() - make_interval(secs => $1) AND w.host <> $2
    ORDER BY w.id FOR NO KEY UPDATE SKIP LOCKED))
RETURNING id;

-- name: mark_workers_dead
-- Marks workers as dead.
UPDATE workers SET status = 'dead', ended_at = now() WHERE id = ANY ($1::bigint[]) AND status = 'running';

-- name: mark_all_dead
-- Marks all registered workers as dead: this database is a copy, and they work on the original. They ended with their
-- last heartbeat here, so that no alert reports them as silent since.
UPDATE workers SET status = 'dead', ended_at = heartbeat_at WHERE status = 'running';

-- name: ensure_continuous_run
-- Resumes the continuous run, whatever ended it; returns its id, or no row where there is none yet.
UPDATE runs SET status = 'running', ended_at = NULL
WHERE id = (SELECT min(id) FROM runs WHERE keeper = 'standing')
RETURNING id;

-- name: start_standing_run
-- Creates the continuous run. A second process waits for the lock, and then finds it.
INSERT INTO runs (spec, max_depth, created_by, keeper) VALUES ($1::jsonb, $2, $3, 'standing') RETURNING id;

-- name: set_continuous_networks
-- Stores which networks that are not public the continuous run may visit, so that every process decides as its workers.
UPDATE runs SET spec = jsonb_set(spec, '{allow_networks}', to_jsonb($2::text[]))
WHERE id = $1 AND spec -> 'allow_networks' IS DISTINCT FROM to_jsonb($2::text[]);

-- name: continuous_networks
-- Returns the networks that the continuous run may visit although they are not public.
SELECT n.network FROM runs r CROSS JOIN LATERAL jsonb_array_elements_text(r.spec -> 'allow_networks') n (network)
WHERE r.id = (SELECT min(id) FROM runs WHERE keeper = 'standing');

-- name: lock_standing_run
-- Serialises processes that look for the continuous run, or create it, at the same time.
SELECT pg_advisory_xact_lock(hashtext('forager standing run'));

-- name: assign_run
-- Assigns a run that was created through the API to a supervisor, instead of the process that created it.
UPDATE runs SET keeper = 'foreman', kept_by = NULL, kept_at = NULL WHERE id = $1;

-- name: take_orders
-- Claims assigned runs that have no supervisor, or whose supervisor stopped renewing them.
WITH free AS (
    SELECT id FROM runs WHERE keeper = 'foreman' AND status = 'running' AND (kept_at IS NULL OR kept_at < now() - make_interval(secs => $2))
    ORDER BY id LIMIT $3
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE runs r SET kept_by = $1, kept_at = now() FROM free WHERE r.id = free.id
RETURNING r.id;

-- name: list_owned_runs
-- Which supervisor owns which run.
SELECT id, kept_by FROM runs WHERE keeper = 'foreman' AND status = 'running' AND kept_by IS NOT NULL;

-- name: free_orders
-- Releases runs whose supervisor is gone: the next supervisor claims them.
UPDATE runs SET kept_by = NULL, kept_at = NULL WHERE id = ANY ($1::bigint[]) AND kept_by = ANY ($2::text[]);

-- name: keep_orders
-- Renews the ownership of these runs; returns for each whether it has been asked to stop.
UPDATE runs SET kept_at = now() WHERE id = ANY ($2::bigint[]) AND kept_by = $1
RETURNING id, stop_asked_at IS NOT NULL AS is_stopping;

-- name: request_stop
-- Asks a run to stop; its supervisor polls for it. A run without a supervisor would never receive it.
UPDATE runs SET stop_asked_at = COALESCE(stop_asked_at, now())
WHERE id = $1 AND status = 'running' AND keeper = 'foreman' RETURNING id;

-- name: keep_run
-- Records that the process that started a run still works on it.
UPDATE runs SET kept_at = now() WHERE id = $1 AND kept_by = $2;

-- name: find_kept_runs
-- Runs of `forager crawl` that are registered as running: the process that owns each, and the seconds since it last
-- renewed it. Runs of versions that did not record the process have none, and count from their start.
SELECT id, kept_by, EXTRACT(EPOCH FROM now() - COALESCE(kept_at, started_at))::float8 AS silent_s
FROM runs WHERE status = 'running' AND keeper = 'process';

-- name: end_lost_runs
-- Ends runs that were killed: no process owns them. A run that still has a worker continues. Each ended with its last
-- heartbeat.
UPDATE runs r
SET status = 'stopped',
    ended_at = GREATEST(r.started_at, r.kept_at, (SELECT max(w.heartbeat_at) FROM workers w WHERE w.run_id = r.id))
WHERE r.id = ANY ($1::bigint[]) AND r.status = 'running'
  AND NOT EXISTS (SELECT FROM workers w WHERE w.run_id = r.id AND w.status = 'running');

-- name: read_holders
-- Domains of a run that workers of other runs still hold: they release them within a second or two, or lose them when
-- their lease expires.
SELECT d.name AS domain, d.claimed_by AS worker, w.pid, split_part(w.host, '/', 1) AS host, w.run_id AS run,
       COALESCE(h.keeper = 'standing', false) AS is_standing, d.claim_expires_at AS until
FROM domains d JOIN workers w ON w.id = d.claimed_by LEFT JOIN runs h ON h.id = w.run_id
WHERE d.run_id = $1 AND d.claimed_by IS NOT NULL AND w.run_id IS DISTINCT FROM $1 AND d.claim_expires_at > now()
ORDER BY d.name LIMIT $2;

-- name: read_run
-- A run's totals for a display.
SELECT EXTRACT(EPOCH FROM COALESCE(r.ended_at, now()) - r.started_at)::float8 AS elapsed_s, r.links_seen, r.pages_learned,
       r.pages_claimed, r.max_pages,
       (SELECT count(*) FROM workers w WHERE w.run_id = r.id AND w.status = 'running') AS workers,
       p.pause_reason, p.pause_detail
FROM runs r
LEFT JOIN LATERAL (
    SELECT w.pause_reason, w.pause_detail FROM workers w
    WHERE w.run_id = r.id AND w.status = 'running' AND w.pause_reason IS NOT NULL ORDER BY w.paused_since LIMIT 1
) p ON true
WHERE r.id = $1;

-- name: read_outcomes
-- A run's outcomes.
SELECT outcome::text AS outcome, reason, pages, bytes, time_ms FROM run_outcomes WHERE run_id = $1 ORDER BY pages DESC;

-- name: read_drops
-- Links a run dropped.
SELECT reason, links FROM run_drops WHERE run_id = $1 ORDER BY links DESC;

-- name: read_domain_states
-- Number of a run's domains by state, and the size of their frontiers.
SELECT status::text AS status, count(*) AS domains, sum(frontier_size)::bigint AS frontier FROM domains WHERE run_id = $1 GROUP BY status;

-- name: count_due_revisits
-- For a refresh: visits that are due and not yet made. Counted up to a limit, because a display reads it twice a
-- second.
SELECT count(*)::bigint FROM (
    SELECT FROM domains d JOIN crawl_tasks t ON t.domain_id = d.id JOIN pages p ON p.id = t.page_id
    WHERE d.run_id = $1 AND t.outcome IS NULL AND t.status <> 'paused' AND t.scheduled_for <= now() AND p.status = 'fetched'
      AND EXISTS (SELECT FROM runs r WHERE r.id = $1 AND r.created_by = 'refresh')
    LIMIT 20000) due;

-- name: list_active_domains
-- The domains of a run with the most activity.
SELECT name, status::text AS status, pages_crawled, total_error_count, frontier_size, claimed_by IS NOT NULL AS is_leased,
       CASE WHEN claimed_by IS NOT NULL
            THEN CASE WHEN next_allowed_at > now() + interval '1 second' THEN block_reason || to_char(next_allowed_at AT TIME ZONE 'UTC', '", until "HH24:MI:SS" UTC"') END
            WHEN status IN ('pending', 'active') AND next_crawl_after > now()
            THEN COALESCE(block_reason || to_char(next_crawl_after AT TIME ZONE 'UTC', '", until "HH24:MI:SS" UTC"'), 'waits until ' || to_char(next_crawl_after, 'YYYY-MM-DD HH24:MI'))
            WHEN status IN ('pending', 'active') AND ready_at > now()
            THEN to_char(ready_at AT TIME ZONE 'UTC', '"pages that failed for now are tried again from "HH24:MI:SS" UTC on"')
            ELSE COALESCE(block_reason, CASE WHEN next_crawl_after > now() THEN 'waits until ' || to_char(next_crawl_after, 'YYYY-MM-DD HH24:MI') END)
       END AS reason
FROM domains WHERE run_id = $1 ORDER BY claimed_by IS NULL, frontier_size DESC, pages_crawled DESC, name LIMIT $2;

-- name: list_blocked_domains
-- Domains of a run that are blocked, unreachable or wait.
SELECT name, status::text AS status, pages_crawled, total_error_count, frontier_size, false AS is_leased,
       COALESCE(block_reason, 'waits until ' || to_char(next_crawl_after, 'YYYY-MM-DD HH24:MI:SS') || ' UTC') AS reason
FROM domains WHERE run_id = $1 AND (status IN ('blocked', 'unreachable') OR next_crawl_after > now()) ORDER BY frontier_size DESC, name LIMIT $2;

-- name: read_last_visit
-- A visit that ended recently, for a display; reads the newest tasks only, however long the history is.
SELECT p.url, t.status_code, t.response_time_ms
FROM (SELECT * FROM crawl_tasks ORDER BY id DESC LIMIT 5000) t JOIN pages p ON p.id = t.page_id
WHERE t.outcome IS NOT NULL AND t.run_id = $1
ORDER BY t.id DESC LIMIT 1;

-- name: read_waiting
-- Known pages a run did not visit, by reason.
SELECT reason, count(*) AS pages, min(due_at) AS due_at FROM (
    SELECT CASE WHEN d.status IN ('blocked', 'unreachable') THEN 'domain_blocked'
                WHEN p.status = 'discovered' AND p.depth > COALESCE(s.max_depth, $2) THEN 'too_deep'
                WHEN p.status = 'discovered' AND NOT in_scope(p, s, $2) THEN 'out_of_scope'
                WHEN d.next_crawl_after > now() THEN 'domain_waits'
                WHEN NOT d.is_active THEN 'domain_paused'
                WHEN t.is_waiting THEN 'waits_for_task'
                WHEN t.status = 'paused' THEN 'paused'
                WHEN p.status = 'queued' AND t.scheduled_for > now() THEN 'retry_later'
                WHEN p.depth > COALESCE(s.max_depth, $2) THEN 'too_deep'
                WHEN NOT in_scope(p, s, $2) THEN 'out_of_scope'
                WHEN $3 OR pages_left(d, NULL, now()) <= 0 THEN 'over_limit'
                ELSE 'stopped' END AS reason,
           CASE WHEN p.status = 'queued' THEN t.scheduled_for END AS due_at
    FROM domains d
    JOIN pages p ON p.domain_id = d.id AND p.status IN ('discovered', 'queued')
    LEFT JOIN crawl_tasks t ON t.domain_id = d.id AND t.page_id = p.id AND t.outcome IS NULL
    LEFT JOIN domain_settings s ON s.domain_id = d.id
    WHERE d.run_id = $1
      AND (p.is_image OR p.is_sitemap OR NOT d.images_only)
      AND (p.is_image OR p.is_sitemap OR ($4::text[] IS NULL OR p.url LIKE ANY ($4)) AND ($5::text[] IS NULL OR p.url LIKE ANY ($5)))
      AND ($6::text[] IS NULL OR p.url NOT LIKE ALL ($6))) waiting
GROUP BY reason;

-- name: adopt_seeds
-- Adds seeds to a run: where its seeds lead to. $3 says which seed leads where.
UPDATE runs r
SET spec = r.spec || jsonb_build_object('seeds', (r.spec -> 'seeds') || $2::jsonb, 'redirected', COALESCE(r.spec -> 'redirected', '{}') || $3::jsonb)
WHERE r.id = $1 AND NOT (r.spec -> 'seeds') @> $2::jsonb;

-- name: read_redirected
-- Which seeds of a run lead where.
SELECT (r.spec -> 'redirected')::text FROM runs r WHERE r.id = $1 AND r.spec -> 'redirected' <> '{}';

-- name: read_evidence
-- What the last thousand visits of a run show about pages that may not be what was asked for: pages that wait for
-- scripts, login forms with the URL of the first, and challenges for browsers; and whether a domain asked for a login.
SELECT count(*) FILTER (WHERE 'waits_for_scripts' = ANY (p.flags) AND NOT 'rendered' = ANY (p.flags))::int AS shells,
       count(*) FILTER (WHERE (p.flags && '{login_form,login_wall}'))::int AS login_forms,
       min(p.url) FILTER (WHERE (p.flags && '{login_form,login_wall}')) AS login_url,
       count(*) FILTER (WHERE t.error_code IN ('challenge', 'captcha', 'consent_wall'))::int AS challenges,
       EXISTS (SELECT FROM domains d WHERE d.run_id = $1 AND 'login_required' IN (d.block_reason_code, d.error_streak_code)) AS asks_for_login
FROM (SELECT * FROM crawl_tasks t WHERE t.run_id = $1 AND t.outcome IS NOT NULL AND NOT t.is_image ORDER BY t.id DESC LIMIT 1000) t
JOIN pages p ON p.id = t.page_id;

-- name: read_changes
-- How many pages a run visited again, by whether their content had changed.
SELECT count(*) FILTER (WHERE t.is_changed)::int AS changed, count(*) FILTER (WHERE NOT t.is_changed)::int AS unchanged
FROM crawl_tasks t JOIN pages p ON p.id = t.page_id AND NOT p.is_image AND NOT p.is_sitemap
WHERE t.run_id = $1 AND t.outcome = 'success' AND t.is_changed IS NOT NULL;

-- name: read_not_due
-- Counts the pages in a run's scope that were read before it began and that it did not visit, and returns when the
-- first of their domains is visited again. Only domains that are older than the run can have such pages.
SELECT count(p.id)::int AS pages, min(d.next_crawl_after) FILTER (WHERE d.status = 'exhausted') AS until
FROM runs r
JOIN domains d ON d.run_id = r.id AND d.first_seen_at < r.started_at
JOIN pages p ON p.domain_id = d.id AND p.status = 'fetched' AND p.fetched_at < r.started_at AND NOT p.is_image AND NOT p.is_sitemap
WHERE r.id = $1 AND p.depth <= $2
  AND ($3::text[] IS NULL OR p.url LIKE ANY ($3)) AND ($4::text[] IS NULL OR p.url LIKE ANY ($4))
  AND ($5::text[] IS NULL OR p.url NOT LIKE ALL ($5));

-- name: read_clock
-- The database clock, which decides leases.
SELECT clock_timestamp();

-- name: move_days
-- Adds up the daily statistics of domains that were merged.
INSERT INTO domain_days AS kept (domain_id, day, visits, ok, changed, errors, bytes, time_ms)
SELECT $1, day, sum(visits), sum(ok), sum(changed), sum(errors), sum(bytes), sum(time_ms)
FROM domain_days WHERE domain_id = ANY ($2::bigint[]) GROUP BY day
ON CONFLICT (domain_id, day) DO UPDATE
SET visits = kept.visits + EXCLUDED.visits, ok = kept.ok + EXCLUDED.ok, changed = kept.changed + EXCLUDED.changed,
    errors = kept.errors + EXCLUDED.errors, bytes = kept.bytes + EXCLUDED.bytes, time_ms = kept.time_ms + EXCLUDED.time_ms;
