-- Pages that are deleted while workers remember them. Owner of page_cache_namespace.

-- name: share_pages
-- Until this transaction ends no pages are deleted. Any number of workers may hold it at once.
SELECT pg_advisory_xact_lock_shared(hashtext('forager pages'));

-- name: own_pages
-- Until this transaction ends no worker enqueues or records: pages, and domains, may be deleted.
SELECT pg_advisory_xact_lock(hashtext('forager pages'));

-- name: read_era
-- Another value each time pages were deleted.
SELECT era::text FROM page_cache_namespace;

-- name: end_era
-- What workers remember of pages, images and domains is void: something other than a page was deleted with them.
INSERT INTO page_cache_namespace (era) VALUES (gen_random_uuid()) ON CONFLICT (is_only) DO UPDATE SET era = EXCLUDED.era;

-- name: present_pages
-- Which of these pages are still there.
SELECT id FROM pages WHERE id = ANY ($1::bigint[]);
