-- The weekly vacuum.

-- name: be_gentle
-- How long a vacuum rests between two portions of work.
SELECT set_config('vacuum_cost_delay', $1, false);

-- name: vacuum
-- Every table we may vacuum, without waiting for locks and without cutting files short.
VACUUM (ANALYZE, SKIP_LOCKED, TRUNCATE false);
