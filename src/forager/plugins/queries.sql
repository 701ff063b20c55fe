-- Failures of plug-ins. Owner of plugin_errors.

-- name: add_plugin_errors
-- Counts failures by plug-in and hook, and keeps what is known of the last one.
INSERT INTO plugin_errors AS e (plugin, hook, errors, error, traceback, url, first_at, last_at)
SELECT n.plugin, n.hook, n.errors, n.error, n.traceback, n.url, now(), now()
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[]) AS n (plugin, hook, errors, error, traceback, url)
ORDER BY n.plugin, n.hook
ON CONFLICT (plugin, hook) DO UPDATE
SET errors = e.errors + EXCLUDED.errors, error = EXCLUDED.error, traceback = EXCLUDED.traceback, url = EXCLUDED.url, last_at = EXCLUDED.last_at;

-- name: list_plugin_errors
-- All failures by plug-in and hook, the last first.
SELECT plugin, hook, errors, error, traceback, url, first_at, last_at FROM plugin_errors ORDER BY last_at DESC, plugin, hook;

-- name: clear_plugin_errors
-- Forgets the failures of one plug-in, or of all; returns how many rows there were.
WITH gone AS (DELETE FROM plugin_errors WHERE plugin = COALESCE($1::text, plugin) RETURNING 1) SELECT count(*)::int FROM gone;
