-- Image files that are old enough to be deleted, and those that are still referenced. An image was last seen when a
-- page that shows it was last fetched, or when it was stored; if no page ever showed it, because another image
-- redirected to it, when it was last requested.

-- name: drop_old
-- Of a batch of stored images after a given one, drops the files of those last seen longer ago than the setting of
-- the domain that showed them first (or, where it has none, $4 seconds; NULL: forever); their files are deleted
-- afterwards. Returns the whole batch, in its order.
WITH portion AS MATERIALIZED (
    SELECT i.id, i.stored_at, i.checked_at, COALESCE(d.image_retention_s, $4::float8) AS keep_s
    FROM images i LEFT JOIN domains d ON d.id = i.domain_id
    WHERE i.stored_at IS NOT NULL AND i.dropped_at IS NULL AND (i.stored_at, i.id) > ($1, $2)
    ORDER BY i.stored_at, i.id LIMIT $3
), dropped AS (
    UPDATE images i
    SET dropped_at = now(), thumbnail_ref = NULL, status = CASE i.status WHEN 'stored' THEN 'dropped' ELSE i.status END
    FROM portion o
    WHERE i.id = o.id AND i.dropped_at IS NULL AND i.checked_at IS NOT DISTINCT FROM o.checked_at
      AND GREATEST(o.stored_at, COALESCE((SELECT max(COALESCE(s.last_seen_at, p.fetched_at)) FROM page_images s JOIN pages p ON p.id = s.page_id
                                          WHERE s.image_id = o.id), o.checked_at)) < now() - make_interval(secs => o.keep_s)
    RETURNING i.id
)
SELECT o.stored_at, o.id, d.id IS NOT NULL AS is_dropped FROM portion o LEFT JOIN dropped d ON d.id = o.id ORDER BY o.stored_at, o.id;

-- name: count_old
-- Counts the images that are old enough, and the bytes of the files that no other image uses. Changes nothing.
WITH files AS (
    SELECT i.content_hash, i.file_size,
           COALESCE(GREATEST(i.stored_at, COALESCE((SELECT max(COALESCE(s.last_seen_at, p.fetched_at)) FROM page_images s JOIN pages p ON p.id = s.page_id
                                                    WHERE s.image_id = i.id), i.checked_at))
                    < now() - make_interval(secs => COALESCE(d.image_retention_s, $1::float8)), false) AS is_old
    FROM images i LEFT JOIN domains d ON d.id = i.domain_id
    WHERE i.stored_at IS NOT NULL AND i.dropped_at IS NULL
)
SELECT COALESCE(sum(f.images), 0)::bigint AS images, COALESCE(sum(f.file_size) FILTER (WHERE f.is_old), 0)::bigint AS size_bytes
FROM (SELECT count(*) FILTER (WHERE is_old) AS images, max(file_size) AS file_size, bool_and(is_old) AS is_old FROM files GROUP BY content_hash) f;

-- name: has_rule
-- Returns whether any domain sets how long files of its images are kept.
SELECT EXISTS (SELECT FROM domains WHERE image_retention_s IS NOT NULL);

-- name: live_files
-- Returns which files with these contents an image refers to.
SELECT r.ref FROM images i CROSS JOIN LATERAL unnest(ARRAY[i.body_ref, i.thumbnail_ref]) AS r (ref)
WHERE i.content_hash = ANY ($1::bytea[]) AND i.dropped_at IS NULL AND r.ref IS NOT NULL;

-- name: list_seen_expired
-- Returns a batch of images, after a given one, that dropped their file, that pages have shown again since, and
-- that are wanted: by the domain that showed them first or, where it has no setting, by $3.
SELECT i.id, i.url, i.url_hash
FROM images i JOIN domains d ON d.id = i.domain_id AND (d.images_policy = 'download' OR (d.images_policy IS NULL AND $3::boolean))
WHERE i.dropped_at IS NOT NULL AND i.status = 'dropped' AND i.id > $1
  AND EXISTS (SELECT FROM page_images s JOIN pages p ON p.id = s.page_id
              WHERE s.image_id = i.id AND s.last_seen_at IS NULL AND p.fetched_at > i.dropped_at)
ORDER BY i.id LIMIT $2;

-- name: stored_files
-- Returns every file that must exist, in batches of images after a given one.
SELECT i.id, i.body_ref, i.thumbnail_ref FROM images i
WHERE i.stored_at IS NOT NULL AND i.dropped_at IS NULL AND i.id > $1 ORDER BY i.id LIMIT $2;
