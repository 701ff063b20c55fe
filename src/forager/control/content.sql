-- Bodies and images that have to be in the store, to be read and compared with their checksums.

-- name: every_snapshot
-- Every snapshot that has to be there.
SELECT b.name FROM bodies b WHERE b.kind = 'snapshot' AND b.dropped_at IS NULL;

-- name: every_record
-- Every record of an archive that a task refers to and that has to be there, file by file.
SELECT t.body_ref
FROM crawl_tasks t JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2) AND b.dropped_at IS NULL
WHERE t.body_ref LIKE 'warc:%'
ORDER BY split_part(t.body_ref, ':', 2), split_part(t.body_ref, ':', 3)::bigint;

-- name: every_image
-- Every file of an image that has to be there, with the checksum of its content.
SELECT i.id, i.body_ref, i.content_hash FROM images i WHERE i.stored_at IS NOT NULL AND i.dropped_at IS NULL;
