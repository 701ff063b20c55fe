-- Duties that are wanted now.

-- name: hasten
-- A duty is due at once, also one that was never posted; not one that is being done.
WITH free AS (
    SELECT name FROM duties WHERE name = $1 FOR NO KEY UPDATE SKIP LOCKED
), moved AS (
    UPDATE duties SET next_at = now() FROM free WHERE duties.name = free.name RETURNING duties.name
), posted AS (
    INSERT INTO duties (name, every_s) SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM duties WHERE name = $1)
    ON CONFLICT (name) DO NOTHING RETURNING name
)
SELECT name FROM moved UNION ALL SELECT name FROM posted;
