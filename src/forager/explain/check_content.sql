-- Bodies and images that must be in the store, to be read and compared with their checksums: in batches, each in a
-- separate transaction, so that hours of reading hold no snapshot. Before an item is reported as damaged, a query
-- checks whether it must still exist.

-- name: every_snapshot
-- Returns the next batch of snapshots and texts that must exist, after a given name.
SELECT b.name AS key, b.kind || ':' || b.name AS ref, NULL::bytea AS content_hash
FROM bodies b WHERE b.kind <> 'archive' AND b.dropped_at IS NULL AND b.name > $1::text ORDER BY b.name LIMIT $2;

-- name: still_snapshot
-- Returns which of these snapshots and texts must still exist.
SELECT b.name AS key, b.kind || ':' || b.name AS ref, NULL::bytea AS content_hash
FROM bodies b WHERE b.name = ANY ($1::text[]) AND b.kind <> 'archive' AND b.dropped_at IS NULL;

-- name: every_record
-- Returns the next batch of archive records that tasks refer to and that must exist, after a given task.
SELECT t.id AS key, t.body_ref AS ref, NULL::bytea AS content_hash
FROM crawl_tasks t JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2) AND b.dropped_at IS NULL
WHERE t.body_ref LIKE 'warc:%' AND t.id > $1::bigint ORDER BY t.id LIMIT $2;

-- name: still_record
-- Returns which records of these tasks must still exist.
SELECT t.id AS key, t.body_ref AS ref, NULL::bytea AS content_hash
FROM crawl_tasks t JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2) AND b.dropped_at IS NULL
WHERE t.id = ANY ($1::bigint[]) AND t.body_ref LIKE 'warc:%';

-- name: every_image
-- Returns the next batch of image files that must exist, with the checksums of their content, after a given image.
SELECT i.id AS key, i.body_ref AS ref, i.content_hash
FROM images i WHERE i.stored_at IS NOT NULL AND i.dropped_at IS NULL AND i.id > $1::bigint ORDER BY i.id LIMIT $2;

-- name: still_image
-- Returns which files of these images must still exist.
SELECT i.id AS key, i.body_ref AS ref, i.content_hash
FROM images i WHERE i.id = ANY ($1::bigint[]) AND i.stored_at IS NOT NULL AND i.dropped_at IS NULL;
