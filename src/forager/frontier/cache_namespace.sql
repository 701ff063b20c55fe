-- Guards pages that are deleted while workers cache them. Owner of page_cache_namespace.

-- name: share_pages
-- Keeps pages from being deleted until this transaction ends. Any number of workers may hold the lock at once.
SELECT pg_advisory_xact_lock_shared(hashtext('forager pages'));

-- name: own_pages
-- Keeps workers from enqueueing and recording until this transaction ends: pages and domains may be deleted.
SELECT pg_advisory_xact_lock(hashtext('forager pages'));

-- name: read_era
-- Returns the cache namespace, which changes each time pages are deleted.
SELECT era::text FROM page_cache_namespace;

-- name: end_era
-- Invalidates what workers cache of pages, images and domains: something other than a page was deleted.
INSERT INTO page_cache_namespace (era) VALUES (gen_random_uuid()) ON CONFLICT (is_only) DO UPDATE SET era = EXCLUDED.era;

-- name: present_pages
-- Returns those of these pages that still exist.
SELECT id FROM pages WHERE id = ANY ($1::bigint[]);
