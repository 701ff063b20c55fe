-- How long what routes ask may take.

-- name: extend_timeout
-- Until the transaction ends, each of its statements may take so long.
SELECT set_config('statement_timeout', $1, true);
