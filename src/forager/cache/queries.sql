-- Identifies the state of the database for caches outside of it. Owns no table.

-- name: read_era
-- Returns a text that changes when pages are deleted (the row), and when the server is restarted, restored, emptied or replaced (server
-- start time and file nodes of the pages).
SELECT concat_ws(' ', (SELECT e.era FROM page_cache_namespace e), extract(epoch FROM pg_postmaster_start_time()),
                 (SELECT oid FROM pg_database WHERE datname = current_database()),
                 (SELECT string_agg(pg_relation_filenode(c.oid)::text, ',' ORDER BY c.oid) FROM pg_class c
                  WHERE c.oid = 'pages'::regclass OR c.oid IN (SELECT relid FROM pg_partition_tree('pages')))) AS era;
