-- name: table_sizes
-- Returns every table: its size with indexes, approximate rows, dead rows, when it was vacuumed; and how much it
-- grew a day in about a week, and in the last 30 days (NULL: nothing was measured about 30 days ago).
SELECT c.relname AS name, pg_total_relation_size(c.oid) AS size_bytes, pg_indexes_size(c.oid) AS index_bytes,
       GREATEST(c.reltuples, s.n_live_tup, 0)::bigint AS rows, COALESCE(s.n_dead_tup, 0) AS dead_rows,
       GREATEST(s.last_vacuum, s.last_autovacuum) AS vacuumed_at, GREATEST(s.last_analyze, s.last_autoanalyze) AS analysed_at,
       COALESCE(s.n_mod_since_analyze, 0) AS changed_rows,
       (pg_total_relation_size(c.oid) - b.size_bytes)::float8 / GREATEST((now() AT TIME ZONE 'UTC')::date - b.day, 1) AS growth_bytes,
       pg_total_relation_size(c.oid) - m.size_bytes AS month_growth_bytes
FROM pg_class c
LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
LEFT JOIN LATERAL (SELECT d.size_bytes, d.day FROM storage_days d
                   WHERE d.what = c.relname AND d.day >= (now() AT TIME ZONE 'UTC')::date - 7 AND d.day < (now() AT TIME ZONE 'UTC')::date
                   ORDER BY d.day LIMIT 1) b ON true
LEFT JOIN LATERAL (SELECT d.size_bytes FROM storage_days d
                   WHERE d.what = c.relname AND d.day BETWEEN (now() AT TIME ZONE 'UTC')::date - 33 AND (now() AT TIME ZONE 'UTC')::date - 27
                   ORDER BY abs((now() AT TIME ZONE 'UTC')::date - 30 - d.day), d.day LIMIT 1) m ON true
WHERE c.relnamespace = to_regnamespace(current_schema()::text) AND c.relkind = 'r'
ORDER BY 2 DESC, 1;

-- name: database_size
-- Returns the size of the whole database on disk.
SELECT pg_database_size(current_database());

-- name: task_counts
-- Returns tasks by status: pending, completed, failed.
SELECT count(*) FILTER (WHERE outcome IS NULL) AS pending, count(*) FILTER (WHERE outcome = 'success') AS completed,
       count(*) FILTER (WHERE outcome IS NOT NULL AND outcome <> 'success') AS failed, count(*) AS rows
FROM crawl_tasks;

-- name: page_counts
-- Returns pages by status.
SELECT count(*) FILTER (WHERE status IN ('discovered', 'queued')) AS pending, count(*) FILTER (WHERE status = 'fetched') AS completed,
       count(*) FILTER (WHERE status IN ('failed', 'blocked', 'gone')) AS failed, count(*) AS rows
FROM pages;

-- name: image_counts
-- Returns images by status.
SELECT count(*) FILTER (WHERE status = 'found') AS pending, count(*) FILTER (WHERE status = 'stored') AS completed,
       count(*) FILTER (WHERE status NOT IN ('found', 'stored')) AS failed, count(*) AS rows
FROM images;

-- name: cold_counts
-- Returns what is in archive files.
SELECT count(*) AS files, COALESCE(sum(row_count), 0)::bigint AS rows, COALESCE(sum(stored_bytes), 0)::bigint AS stored_bytes
FROM archive_parts WHERE status IN ('moving', 'moved');
