-- Storage sizes. Owner of storage_days.

-- name: note_sizes
-- The size of each table today, with its indexes; if recorded twice in a day, the last value counts.
INSERT INTO storage_days (day, what, size_bytes, rows)
SELECT (now() AT TIME ZONE 'UTC')::date, c.relname, pg_total_relation_size(c.oid), GREATEST(c.reltuples, 0)::bigint
FROM pg_class c WHERE c.relnamespace = to_regnamespace(current_schema()::text) AND c.relkind = 'r'
ON CONFLICT (what, day) DO UPDATE SET size_bytes = EXCLUDED.size_bytes, rows = EXCLUDED.rows;
