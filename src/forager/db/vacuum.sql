-- The weekly vacuum.

-- name: be_gentle
-- Sets the pause of a vacuum between two portions of work.
SELECT set_config('vacuum_cost_delay', $1, false);

-- name: vacuum
-- Vacuums every table that the role may vacuum, without waiting for locks and without truncating files.
VACUUM (ANALYZE, SKIP_LOCKED, TRUNCATE false);
