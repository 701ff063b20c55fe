-- Bodies and images that have to be in the store, to be read and compared with their checksums: portion by portion, each in a
-- transaction of its own, so that hours of reading hold no snapshot. Before one is called damaged, it is asked whether it still has to be there.

-- name: every_snapshot
-- Snapshots that have to be there, behind a name, so many at once.
SELECT b.name AS key, 'snapshot:' || b.name AS ref, NULL::bytea AS content_hash
FROM bodies b WHERE b.kind = 'snapshot' AND b.dropped_at IS NULL AND b.name > $1::text ORDER BY b.name LIMIT $2;

-- name: still_snapshot
-- Which of these snapshots still have to be there.
SELECT b.name AS key, 'snapshot:' || b.name AS ref, NULL::bytea AS content_hash
FROM bodies b WHERE b.name = ANY ($1::text[]) AND b.dropped_at IS NULL;

-- name: every_record
-- Records of archives that tasks refer to and that have to be there, behind a task, so many at once.
SELECT t.id AS key, t.body_ref AS ref, NULL::bytea AS content_hash
FROM crawl_tasks t JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2) AND b.dropped_at IS NULL
WHERE t.body_ref LIKE 'warc:%' AND t.id > $1::bigint ORDER BY t.id LIMIT $2;

-- name: still_record
-- Which records of these tasks still have to be there.
SELECT t.id AS key, t.body_ref AS ref, NULL::bytea AS content_hash
FROM crawl_tasks t JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2) AND b.dropped_at IS NULL
WHERE t.id = ANY ($1::bigint[]) AND t.body_ref LIKE 'warc:%';

-- name: every_image
-- Files of images that have to be there, with the checksum of their content, behind an image, so many at once.
SELECT i.id AS key, i.body_ref AS ref, i.content_hash
FROM images i WHERE i.stored_at IS NOT NULL AND i.dropped_at IS NULL AND i.id > $1::bigint ORDER BY i.id LIMIT $2;

-- name: still_image
-- Which files of these images still have to be there.
SELECT i.id AS key, i.body_ref AS ref, i.content_hash
FROM images i WHERE i.id = ANY ($1::bigint[]) AND i.stored_at IS NOT NULL AND i.dropped_at IS NULL;
