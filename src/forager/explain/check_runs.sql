-- Checks of the promises as jobs of the API. Owner of checks.

-- name: begin
-- A new check, unless one is under way: its process writes every few seconds that it is. Callers hold the lock of `take_turn`.
INSERT INTO checks (started_by, has_files, total, is_deep)
SELECT $1, $2, $3, $5
WHERE NOT EXISTS (SELECT FROM checks c WHERE c.ended_at IS NULL AND c.heard_at > now() - make_interval(secs => $4))
RETURNING id, started_at, started_by, has_files, is_deep, heard_at, done, total, ended_at, error, result, true AS is_running;

-- name: take_turn
-- One starts at a time, until the end of the transaction.
SELECT pg_advisory_xact_lock(hashtext('forager.checks'));

-- name: forget_old
-- Only the newest few are kept.
DELETE FROM checks WHERE id <= (SELECT c.id FROM checks c ORDER BY c.id DESC OFFSET $1 LIMIT 1);

-- name: beat
-- The check is under way, and so far.
UPDATE checks SET heard_at = now(), done = $2, total = GREATEST(total, $2) WHERE id = $1 AND ended_at IS NULL;

-- name: finish
-- What came of it.
UPDATE checks SET heard_at = now(), ended_at = now(), done = $2, total = GREATEST(total, $2), error = $3, result = $4::text::jsonb
WHERE id = $1 AND ended_at IS NULL;

-- name: newest
-- The last check, and whether it is still under way.
SELECT c.id, c.started_at, c.started_by, c.has_files, c.is_deep, c.heard_at, c.done, c.total, c.ended_at, c.error, c.result,
       c.ended_at IS NULL AND c.heard_at > now() - make_interval(secs => $1) AS is_running
FROM checks c ORDER BY c.id DESC LIMIT 1;
