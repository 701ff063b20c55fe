-- Checks of the promises as jobs of the API. Owns the table checks.

-- name: begin
-- Starts a check, unless one is running: its process updates the row every few seconds. Callers hold the lock of
-- `take_turn`.
INSERT INTO checks (started_by, has_files, total, is_deep)
SELECT $1, $2, $3, $5
WHERE NOT EXISTS (SELECT FROM checks c WHERE c.ended_at IS NULL AND c.heard_at > now() - make_interval(secs => $4))
RETURNING id, started_at, started_by, has_files, is_deep, heard_at, done, total, ended_at, error, result, true AS is_running;

-- name: take_turn
-- Serializes starts until the end of the transaction.
SELECT pg_advisory_xact_lock(hashtext('forager.checks'));

-- name: forget_old
-- Deletes all but the newest few checks.
DELETE FROM checks WHERE id <= (SELECT c.id FROM checks c ORDER BY c.id DESC OFFSET $1 LIMIT 1);

-- name: beat
-- Reports that the check is running, and its progress.
UPDATE checks SET heard_at = now(), done = $2, total = GREATEST(total, $2) WHERE id = $1 AND ended_at IS NULL;

-- name: finish
-- Saves the result of the check.
UPDATE checks SET heard_at = now(), ended_at = now(), done = $2, total = GREATEST(total, $2), error = $3, result = $4::text::jsonb
WHERE id = $1 AND ended_at IS NULL;

-- name: newest
-- Returns the latest check, and whether it is still running.
SELECT c.id, c.started_at, c.started_by, c.has_files, c.is_deep, c.heard_at, c.done, c.total, c.ended_at, c.error, c.result,
       c.ended_at IS NULL AND c.heard_at > now() - make_interval(secs => $1) AS is_running
FROM checks c ORDER BY c.id DESC LIMIT 1;
