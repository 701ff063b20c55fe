-- Alerts. Owner of alerts, alert_events, alert_watches, alert_mutes, alert_targets.

-- name: take_turn
-- Serializes concurrent evaluations.
SELECT pg_advisory_xact_lock(hashtext('forager.alerts'));

-- name: read_watches
-- Pending conditions and open alerts. Locks the alerts, so that operator actions and rule evaluations are serialized.
WITH open AS MATERIALIZED (SELECT id, rule, subject FROM alerts WHERE resolved_at IS NULL ORDER BY id FOR NO KEY UPDATE)
SELECT COALESCE(o.rule, w.rule) AS rule, COALESCE(o.subject, w.subject) AS subject, o.id AS alert_id, w.bad_since, w.quiet_since, w.seen_at
FROM open o FULL JOIN alert_watches w ON w.rule = o.rule AND w.subject = o.subject;

-- name: forget_watches
-- Deletes all watches; the current evaluation writes them again.
DELETE FROM alert_watches;

-- name: keep_watches
-- Stores conditions that have begun and have not lasted long enough yet.
INSERT INTO alert_watches (rule, subject, bad_since, quiet_since, seen_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[]);

-- name: raise
-- Inserts alerts that are not open yet; returns those inserted.
WITH raised AS (
    INSERT INTO alerts (rule, subject, severity, message, value)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[])
    ON CONFLICT (rule, subject) WHERE resolved_at IS NULL DO NOTHING
    RETURNING id, rule, subject, severity, message, value, raised_at
), noted AS (
    INSERT INTO alert_events (alert_id, what, by, note) SELECT id, 'raised', 'rule', message FROM raised
)
SELECT * FROM raised ORDER BY id;

-- name: update_open_alerts
-- Updates time, message and value of open alerts whose condition persists.
UPDATE alerts a SET seen_at = now(), message = n.message, value = n.value
FROM unnest($1::bigint[], $2::text[], $3::float8[]) AS n (id, message, value) WHERE a.id = n.id AND a.resolved_at IS NULL;

-- name: acknowledge
-- Marks alerts as acknowledged; the first operator who does so stays recorded.
WITH taken AS (
    UPDATE alerts SET acknowledged_at = now(), acknowledged_by = $2
    WHERE id = ANY ($1::bigint[]) AND resolved_at IS NULL AND acknowledged_at IS NULL RETURNING id
), noted AS (
    INSERT INTO alert_events (alert_id, what, by, note) SELECT id, 'acknowledged', $2, $3 FROM taken
)
SELECT id FROM taken ORDER BY id;

-- name: resolve
-- Resolves alerts and resets the timers of their rules.
WITH ended AS (
    UPDATE alerts SET resolved_at = now(), resolved_by = $2 WHERE id = ANY ($1::bigint[]) AND resolved_at IS NULL
    RETURNING id, rule, subject, severity, message, value, raised_at
), noted AS (
    INSERT INTO alert_events (alert_id, what, by, note) SELECT id, 'resolved', $2, $3 FROM ended
), calmed AS (
    DELETE FROM alert_watches w USING ended e WHERE w.rule = e.rule AND w.subject = e.subject
)
SELECT * FROM ended ORDER BY id;

-- name: calls_for
-- Webhook targets for these alerts, with the payload for each; muted alerts are left out.
SELECT t.url,
       jsonb_build_object('event', 'alert.' || $2::text, 'id', a.id, 'rule', a.rule, 'subject', a.subject, 'severity', a.severity,
                          'message', a.message, 'value', a.value, 'raised_at', a.raised_at, 'resolved_at', a.resolved_at,
                          'resolved_by', a.resolved_by)::text AS payload
FROM alerts a JOIN alert_targets t ON t.is_active AND (t.severity = 'warning' OR a.severity = 'critical')
WHERE a.id = ANY ($1::bigint[])
  AND NOT EXISTS (SELECT FROM alert_mutes m WHERE m.rule = a.rule AND m.subject IN ('', a.subject) AND m.muted_until > now())
ORDER BY a.id, t.id;

-- name: list_alerts
-- One page of alerts, newest first: all or only open ones, with ids below the given one.
SELECT a.id, a.rule, a.subject, a.severity, a.message, a.value, a.raised_at, a.seen_at, a.acknowledged_at, a.acknowledged_by,
       a.resolved_at, a.resolved_by,
       CASE WHEN a.resolved_at IS NOT NULL THEN 'resolved' WHEN a.acknowledged_at IS NOT NULL THEN 'acknowledged' ELSE 'open' END AS status,
       EXISTS (SELECT FROM alert_mutes m WHERE m.rule = a.rule AND m.subject IN ('', a.subject) AND m.muted_until > now()) AS is_muted
FROM alerts a
WHERE (NOT $1 OR a.resolved_at IS NULL) AND ($2::text IS NULL OR a.rule = $2) AND ($3::bigint IS NULL OR a.id < $3)
ORDER BY a.id DESC LIMIT $4;

-- name: find_alert
-- One alert by id.
SELECT a.*, CASE WHEN a.resolved_at IS NOT NULL THEN 'resolved' WHEN a.acknowledged_at IS NOT NULL THEN 'acknowledged' ELSE 'open' END AS status,
       EXISTS (SELECT FROM alert_mutes m WHERE m.rule = a.rule AND m.subject IN ('', a.subject) AND m.muted_until > now()) AS is_muted
FROM alerts a WHERE a.id = $1;

-- name: events_of
-- The history of an alert.
SELECT what, at, by, note FROM alert_events WHERE alert_id = $1 ORDER BY id;

-- name: mute
-- Suppresses notifications of a rule, or of one of its subjects, for the given number of seconds.
INSERT INTO alert_mutes (rule, subject, muted_until, muted_by, reason) VALUES ($1, $2, now() + make_interval(secs => $3), $4, $5)
ON CONFLICT (rule, subject) DO UPDATE
SET muted_until = EXCLUDED.muted_until, muted_by = EXCLUDED.muted_by, reason = EXCLUDED.reason
RETURNING rule, subject, muted_until, muted_by, reason;

-- name: unmute
-- Enables the notifications of a rule again.
DELETE FROM alert_mutes WHERE rule = $1 AND subject = $2 RETURNING rule;

-- name: list_mutes
-- Mutes that are in effect.
SELECT rule, subject, muted_until, muted_by, reason FROM alert_mutes WHERE muted_until > now() ORDER BY rule, subject;

-- name: end_mutes
-- Deletes expired mutes.
DELETE FROM alert_mutes WHERE muted_until <= now();

-- name: add_target
-- Adds a webhook target; an existing one gets the new severity and is enabled.
INSERT INTO alert_targets AS t (url, severity, created_by) VALUES ($1, $2, $3)
ON CONFLICT (url) DO UPDATE SET severity = EXCLUDED.severity, is_active = true
RETURNING id, url, severity, is_active, created_by, created_at;

-- name: remove_target
-- Deletes a webhook target.
DELETE FROM alert_targets WHERE id = $1 RETURNING url;

-- name: list_targets
-- All webhook targets.
SELECT id, url, severity, is_active, created_by, created_at FROM alert_targets ORDER BY id;

-- name: record_unavailable
-- Records an outage of the database that has ended, of $1 seconds, as a resolved alert, unless one is recorded for the same time.
WITH noted AS (
    INSERT INTO alerts (rule, subject, severity, message, value, raised_at, resolved_at, resolved_by)
    SELECT 'database_away', '', 'critical', $2, $1, now() - make_interval(secs => $1), now(), 'rule'
    WHERE NOT EXISTS (SELECT FROM alerts a WHERE a.rule = 'database_away' AND a.resolved_at > now() - make_interval(secs => $1 + $4))
    RETURNING id, raised_at, resolved_at
), events AS (
    INSERT INTO alert_events (alert_id, what, at, by, note)
    SELECT n.id, e.what, e.at, $3, e.note FROM noted n,
    LATERAL (VALUES ('raised', n.raised_at, $2), ('resolved', n.resolved_at, NULL)) e (what, at, note)
)
SELECT id FROM noted;

-- name: list_stale_workers
-- Workers without a heartbeat for $1 seconds, by host: those with status running, and dead ones whose last heartbeat is at most $2 seconds
-- old. A worker whose death was recorded sooner than $3 after its last heartbeat was never silent: its supervisor saw it die and has
-- replaced it. A dead worker is no longer reported once its run has as many live workers as at its last heartbeat: it came back, or another
-- one replaced it.
SELECT split_part(d.host, '/', 1) AS host, array_agg(d.id ORDER BY d.id) AS workers,
       EXTRACT(EPOCH FROM now() - min(d.heartbeat_at))::float8 AS silent_s
FROM workers d
WHERE d.heartbeat_at < now() - make_interval(secs => $1)
  AND (d.status = 'running'
       OR (d.status = 'dead' AND d.heartbeat_at > now() - make_interval(secs => $2)
           AND d.ended_at - d.heartbeat_at >= make_interval(secs => $3)
           AND (d.run_id IS NULL OR
                (SELECT count(*) FROM workers w
                 WHERE w.run_id = d.run_id AND w.status = 'running' AND w.heartbeat_at > now() - make_interval(secs => $1))
                < (SELECT count(*) FROM workers w
                   WHERE w.run_id = d.run_id AND w.started_at <= d.heartbeat_at AND COALESCE(w.ended_at >= d.heartbeat_at, true)))))
GROUP BY 1 ORDER BY 1;

-- name: paused_workers
-- Running workers that are paused for a fault of our own, by reason, with the detail of the worker that was paused first.
SELECT pause_reason AS reason, COALESCE((array_agg(pause_detail ORDER BY paused_since, id))[1], '') AS detail,
       array_agg(id ORDER BY id) AS workers, EXTRACT(EPOCH FROM now() - min(paused_since))::float8 AS paused_s
FROM workers WHERE status = 'running' AND pause_reason IS NOT NULL
GROUP BY 1 ORDER BY 1;

-- name: list_failed_logins
-- Domains that are blocked because their login failed, with the reason; $1 at most.
SELECT d.name AS domain, s.login_failures AS failures, COALESCE(d.block_reason, '') AS reason
FROM domain_sessions s JOIN domains d ON d.id = s.domain_id
WHERE s.login_failures > 0 AND d.is_active AND d.status = 'blocked' AND d.block_reason_code = 'login_failed'
ORDER BY d.name LIMIT $1;

-- name: get_pool_stats
-- Domains that have proxies of their own: the number of active proxies, and the results of their recent visits.
SELECT d.name, count(*) FILTER (WHERE dp.is_active AND p.is_active AND (d.proxy_country IS NULL OR p.country_code = d.proxy_country))::int AS active,
       COALESCE(v.requests, 0)::int AS requests, COALESCE(v.failed, 0)::int AS failed
FROM domain_proxies dp JOIN domains d ON d.id = dp.domain_id AND dp.is_assigned JOIN proxies p ON p.id = dp.proxy_id
LEFT JOIN (SELECT domain_id, count(*) AS requests, count(*) FILTER (WHERE error_code = 'proxy_error') AS failed
           FROM crawl_tasks
           WHERE completed_at >= now() - make_interval(secs => $1) AND (proxy_id IS NOT NULL OR error_code = 'proxy_error')
             AND EXISTS (SELECT FROM domain_proxies)
           GROUP BY domain_id) v ON v.domain_id = d.id
WHERE d.is_active AND d.status IN ('pending', 'active')
GROUP BY d.id, d.name, v.requests, v.failed ORDER BY d.name;

-- name: get_missing_proxies
-- Domains that wait because they are never requested directly and no proxy works, and domains that are requested
-- directly since their pool lost its last proxy.
SELECT d.name, o.proxy_mode = 'always' AS is_waiting
FROM (SELECT s.domain_id FROM domain_settings s WHERE s.effective->>'proxy' = 'always' UNION SELECT e.domain_id FROM emptied_pools e) n
JOIN domains d ON d.id = n.domain_id
JOIN domain_pools o ON o.domain_id = d.id
WHERE d.is_active AND d.status IN ('pending', 'active')
  AND (o.proxy_mode = 'always' AND o.proxies_on = 0 OR o.proxy_mode = 'auto' AND o.proxies = 0)
ORDER BY d.name;

-- name: get_parse_stats
-- Number of pages that gave a product without a serious problem, such as an unreadable price: yesterday and today against the week before.
SELECT d.name, sum(p.attempts) FILTER (WHERE p.day >= t.today - 1)::int AS attempts, sum(p.valid) FILTER (WHERE p.day >= t.today - 1)::int AS valid,
       sum(p.attempts) FILTER (WHERE p.day < t.today - 1)::int AS attempts_before, sum(p.valid) FILTER (WHERE p.day < t.today - 1)::int AS valid_before
FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) t
JOIN product_days p ON p.day >= t.today - 8
JOIN domains d ON d.id = p.domain_id
GROUP BY d.id, d.name
HAVING count(*) FILTER (WHERE p.day >= t.today - 1) > 0 AND count(*) FILTER (WHERE p.day < t.today - 1) > 0
ORDER BY d.name;

-- name: get_field_stats
-- In how many records each extractor found each field of a domain: yesterday and today against the week before.
SELECT d.name, sum(g.found + g.missing) FILTER (WHERE g.day >= t.today - 1)::int AS attempts, sum(g.valid) FILTER (WHERE g.day >= t.today - 1)::int AS valid,
       sum(g.found + g.missing) FILTER (WHERE g.day < t.today - 1)::int AS attempts_before, sum(g.valid) FILTER (WHERE g.day < t.today - 1)::int AS valid_before,
       g.extractor, g.field
FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) t
JOIN extractor_days g ON g.day >= t.today - 8
JOIN domains d ON d.id = g.domain_id
GROUP BY d.id, d.name, g.extractor, g.field
HAVING count(*) FILTER (WHERE g.day >= t.today - 1) > 0 AND count(*) FILTER (WHERE g.day < t.today - 1) > 0
ORDER BY d.name, g.extractor, g.field;

-- name: count_dead
-- Failures of our own in the last $1 seconds: visits that were not retried, visits that hit a bug and are retried, and webhook calls that
-- were given up.
SELECT (SELECT count(*)::int FROM crawl_tasks t
        WHERE t.completed_at >= now() - make_interval(secs => $1) AND t.outcome = 'failed' AND t.blame IN ('us', 'parser') AND t.error_code <> 'broken'
          AND NOT EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id)) AS visits,
       (SELECT count(*)::int FROM crawl_tasks t
        WHERE t.completed_at >= now() - make_interval(secs => $1) AND t.outcome = 'failed' AND t.blame IN ('us', 'parser') AND t.error_code = 'broken') AS bugs,
       (SELECT count(*)::int FROM webhook_calls WHERE died_at >= now() - make_interval(secs => $1)) AS webhooks;

-- name: get_job_status
-- How late each job is, and the error of its last run.
SELECT name, every_s, EXTRACT(EPOCH FROM now() - next_at)::float8 AS late_s, error FROM jobs ORDER BY name;

-- name: challenged_domains
-- Counts the domains that are blocked because they show a check of their visitors; with the name and reason of one of them.
SELECT count(*)::int AS domains, COALESCE((array_agg(d.name || ': ' || COALESCE(d.block_reason, '') ORDER BY d.id DESC))[1], '') AS example
FROM domains d WHERE d.block_reason_code = 'challenge';
