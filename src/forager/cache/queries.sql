-- What the database is, for those who remember something of it elsewhere. Owns no table.

-- name: read_era
-- Another text after pages were deleted, and after the server was started, restored, emptied or replaced: the row says the first, the start of the server and the files of the pages the rest.
SELECT concat_ws(' ', (SELECT e.era FROM page_cache_namespace e), extract(epoch FROM pg_postmaster_start_time()),
                 (SELECT oid FROM pg_database WHERE datname = current_database()),
                 (SELECT string_agg(pg_relation_filenode(c.oid)::text, ',' ORDER BY c.oid) FROM pg_class c
                  WHERE c.oid = 'pages'::regclass OR c.oid IN (SELECT relid FROM pg_partition_tree('pages')))) AS era;
