-- Images and where they were seen. Owner of images and page_images.

-- name: find_images
-- Returns the ids of images that are known.
SELECT i.id, i.url_hash FROM unnest($1::bytea[]) AS n (url_hash) JOIN images i ON i.url_hash = n.url_hash;

-- name: add_images
-- Adds images seen for the first time, each with the domain whose page shows it; in key order, so that workers wait
-- instead of deadlocking.
INSERT INTO images (domain_id, url, url_hash)
SELECT n.domain_id, n.url, n.url_hash
FROM unnest($1::bigint[], $2::text[], $3::bytea[]) AS n (domain_id, url, url_hash)
ORDER BY n.url_hash
ON CONFLICT (url_hash) DO NOTHING
RETURNING id, url_hash;

-- name: number_images
-- Reserves ids for a number of images that are going to be copied.
SELECT nextval('images_id_seq') FROM generate_series(1, $1::int);

-- name: sources_of
-- Returns the domains that showed images first.
SELECT i.url_hash, i.domain_id FROM images i WHERE i.url_hash = ANY ($1::bytea[]);

-- name: save_results
-- Records the results of image requests, in id order. A stored file stays the image's file whatever happens to its
-- URL. Returns how many were stored for the first time, by the domain that counts them.
WITH news AS MATERIALIZED (
    SELECT i.id, i.stored_at IS NULL AND n.content_hash IS NOT NULL AS is_first, n.*
    FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[], $7::int[], $8::bigint[], $9::bytea[], $10::bigint[],
                $11::text[], $12::text[], $13::bigint[])
         AS n (url_hash, status, reason, format, width, height, frames, file_size, content_hash, perceptual_hash, body_ref, thumbnail_ref,
               moved_to)
    JOIN images i ON i.url_hash = n.url_hash
    ORDER BY i.id
    FOR NO KEY UPDATE OF i
), settled AS (
    UPDATE images i
    SET status = COALESCE(n.status::image_status, i.status), checked_at = now(),
        reason = CASE WHEN n.status IS NULL THEN i.reason ELSE n.reason END,
        format = COALESCE(n.format, i.format), width = COALESCE(n.width, i.width), height = COALESCE(n.height, i.height),
        frames = COALESCE(n.frames, i.frames), file_size = COALESCE(n.file_size, i.file_size),
        content_hash = COALESCE(n.content_hash, i.content_hash), body_ref = COALESCE(n.body_ref, i.body_ref),
        perceptual_hash = CASE WHEN n.content_hash IS NULL THEN i.perceptual_hash ELSE n.perceptual_hash END,
        thumbnail_ref = CASE WHEN n.content_hash IS NULL THEN i.thumbnail_ref ELSE n.thumbnail_ref END,
        moved_to = CASE WHEN n.status IS NULL THEN i.moved_to ELSE n.moved_to END,
        stored_at = CASE WHEN n.content_hash IS NOT NULL THEN COALESCE(i.stored_at, now()) ELSE i.stored_at END,
        dropped_at = CASE WHEN n.content_hash IS NULL THEN i.dropped_at END
    FROM news n WHERE i.id = n.id
    RETURNING i.domain_id, n.is_first
)
SELECT domain_id, count(*)::int AS images FROM settled WHERE is_first GROUP BY domain_id ORDER BY domain_id;

-- name: changed_pages
-- Returns those of these previously visited pages whose images, their order or their texts differ from the last
-- visit. A quarter of the cost of writing them again.
SELECT n.page_id
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS n (domain_id, page_id, images, alt_texts)
CROSS JOIN LATERAL (
    SELECT string_agg(s.image_id::text, ',' ORDER BY s.position) AS images, string_agg(s.alt_text, E'\x1f' ORDER BY s.position) AS alt_texts
    FROM page_images s WHERE s.domain_id = n.domain_id AND s.page_id = n.page_id AND s.last_seen_at IS NULL) b
WHERE COALESCE(b.images, '') <> n.images OR COALESCE(b.alt_texts, '') <> n.alt_texts;

-- name: end_sightings
-- Ends the sightings of images that pages no longer show: they were last seen when these pages were last fetched.
UPDATE page_images s SET last_seen_at = COALESCE(p.fetched_at, s.first_seen_at)
FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS n (domain_id, page_id, images)
JOIN pages p ON p.id = n.page_id
WHERE s.domain_id = n.domain_id AND s.page_id = n.page_id AND s.last_seen_at IS NULL
  AND s.image_id <> ALL (COALESCE(string_to_array(n.images, ',')::bigint[], '{}'));

-- name: pages_with_sightings
-- Returns those of these pages that show an image, or showed one.
SELECT n.page_id FROM unnest($1::bigint[], $2::bigint[]) AS n (domain_id, page_id)
WHERE EXISTS (SELECT FROM page_images s WHERE s.domain_id = n.domain_id AND s.page_id = n.page_id);

-- name: record_sightings
-- Records which page shows which image; existing rows stay unchanged. One joined text per page and column, as for
-- links. Returns how many were never seen on their page before, by domain.
WITH written AS (
    INSERT INTO page_images AS s (domain_id, page_id, image_id, position, discovery_type, image_type, alt_text, width, height)
    SELECT n.domain_id, n.page_id, i.image_id, i.position - 1, i.discovery_type, i.image_type, COALESCE(i.alt_text, ''),
           NULLIF(i.width, '')::int, NULLIF(i.height, '')::int
    FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
         AS n (domain_id, page_id, images, discovery_types, image_types, alt_texts, widths, heights)
    CROSS JOIN LATERAL ROWS FROM (
        unnest(string_to_array(n.images, ',')::bigint[]),
        unnest(string_to_array(n.discovery_types, ',')),
        unnest(string_to_array(n.image_types, ',')),
        unnest(string_to_array(n.alt_texts, E'\x1f')),
        unnest(string_to_array(n.widths, ',')),
        unnest(string_to_array(n.heights, ','))) WITH ORDINALITY
        AS i (image_id, discovery_type, image_type, alt_text, width, height, position)
    ON CONFLICT (domain_id, page_id, image_id) DO UPDATE
    SET position = EXCLUDED.position, discovery_type = EXCLUDED.discovery_type, image_type = EXCLUDED.image_type,
        alt_text = EXCLUDED.alt_text, width = EXCLUDED.width, height = EXCLUDED.height, last_seen_at = NULL
    WHERE s.last_seen_at IS NOT NULL
       OR (s.position, s.discovery_type, s.image_type, s.alt_text, s.width, s.height)
          IS DISTINCT FROM (EXCLUDED.position, EXCLUDED.discovery_type, EXCLUDED.image_type, EXCLUDED.alt_text, EXCLUDED.width, EXCLUDED.height)
    RETURNING s.domain_id, s.xmax = 0 AS is_new
)
SELECT domain_id, count(*) FILTER (WHERE is_new)::int AS images FROM written GROUP BY domain_id;

-- name: list_pending_images
-- Returns images that a batch of pages of a domain, after a given page, still shows and that were never requested,
-- with the depth of the nearest page that shows each; and the last page of the batch, in every row. A page without
-- such an image has a row without one.
WITH portion AS MATERIALIZED (
    SELECT DISTINCT s.page_id FROM page_images s WHERE s.domain_id = $1 AND s.page_id > $2 ORDER BY s.page_id LIMIT $3
), last AS (SELECT max(page_id) AS page_id FROM portion)
SELECT last.page_id AS last, u.url, u.url_hash, u.depth
FROM last
LEFT JOIN (SELECT i.url, i.url_hash, min(p.depth) AS depth
           FROM portion
           JOIN page_images s ON s.domain_id = $1 AND s.page_id = portion.page_id AND s.last_seen_at IS NULL
           JOIN images i ON i.id = s.image_id AND i.status = 'found' AND i.checked_at IS NULL
           JOIN pages p ON p.id = s.page_id
           GROUP BY i.url, i.url_hash) u ON true;

-- name: date_sightings
-- Dates the sightings that this transaction added to the visit of their page.
UPDATE page_images s SET first_seen_at = n.seen_at
FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS n (domain_id, page_id, seen_at)
WHERE s.domain_id = n.domain_id AND s.page_id = n.page_id AND s.first_seen_at = now() AND n.seen_at < now();

-- name: date_images
-- Dates an image to the oldest visit that shows it, regardless of when that visit's body was parsed.
WITH seen AS (
    SELECT s.image_id, min(n.seen_at) AS seen_at
    FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS n (domain_id, page_id, seen_at)
    JOIN page_images s ON s.domain_id = n.domain_id AND s.page_id = n.page_id
    GROUP BY s.image_id
), later AS MATERIALIZED (
    SELECT i.id, seen.seen_at FROM images i JOIN seen ON seen.image_id = i.id
    WHERE i.first_seen_at > seen.seen_at ORDER BY i.id FOR NO KEY UPDATE OF i
)
UPDATE images i SET first_seen_at = later.seen_at FROM later WHERE i.id = later.id;

-- name: gather_sightings
-- Merges domains, before their pages are merged: of pages known twice the oldest stays, and shows what any of them
-- showed.
INSERT INTO page_images AS k (domain_id, page_id, image_id, position, discovery_type, image_type, alt_text, width, height, first_seen_at, last_seen_at)
SELECT DISTINCT ON (t.stays, s.image_id) $1, t.stays, s.image_id, s.position, s.discovery_type, s.image_type, s.alt_text, s.width, s.height,
       min(s.first_seen_at) OVER (PARTITION BY t.stays, s.image_id), s.last_seen_at
FROM (SELECT p.id, first_value(p.id) OVER (PARTITION BY p.url_hash ORDER BY p.discovered_at, p.id) AS stays
      FROM pages p WHERE p.domain_id = $1 OR p.domain_id = ANY ($2::bigint[])) t
JOIN page_images s ON s.page_id = t.id AND (s.domain_id <> $1 OR s.page_id <> t.stays)
ORDER BY t.stays, s.image_id, s.last_seen_at DESC NULLS FIRST
ON CONFLICT (domain_id, page_id, image_id) DO UPDATE SET first_seen_at = LEAST(k.first_seen_at, EXCLUDED.first_seen_at);

-- name: drop_gathered
-- Deletes the sightings that were merged onto the page that stays.
DELETE FROM page_images s
USING (SELECT p.id, first_value(p.id) OVER (PARTITION BY p.url_hash ORDER BY p.discovered_at, p.id) AS stays
       FROM pages p WHERE p.domain_id = $1 OR p.domain_id = ANY ($2::bigint[])) t
WHERE s.page_id = t.id AND (s.domain_id <> $1 OR s.page_id <> t.stays);

-- name: take_over_images
-- Reassigns images first seen in domains that become part of another.
UPDATE images SET domain_id = $1 WHERE domain_id = ANY ($2::bigint[]);
