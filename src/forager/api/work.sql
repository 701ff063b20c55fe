-- How long what routes ask may take.

-- name: lengthen
-- Until the transaction ends, each of its statements may take so long.
SELECT set_config('statement_timeout', $1, true);
