-- Statement timeouts of routes.

-- name: extend_timeout
-- Sets the statement timeout until the end of the transaction.
SELECT set_config('statement_timeout', $1, true);
