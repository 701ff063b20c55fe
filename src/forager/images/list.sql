-- Images as operators see them. Read only. Last seen: an image that is still shown was last seen at the last visit
-- of the page that shows it, or of the image itself.

-- name: sightings
-- Returns the files of these images, and where they were seen: how often, first and last. $2: only in this domain,
-- $3: only on this page.
SELECT i.id, i.perceptual_hash, CASE WHEN i.dropped_at IS NULL THEN i.body_ref END AS body_ref, i.thumbnail_ref,
       s.pages, s.page_url, s.discovery_type, s.image_type, s.alt_text, s.last_seen_at
FROM images i
LEFT JOIN LATERAL (
    SELECT count(*) OVER () AS pages, p.url AS page_url, m.discovery_type, m.image_type, m.alt_text,
           max(COALESCE(m.last_seen_at, p.fetched_at)) OVER () AS last_seen_at
    FROM page_images m JOIN pages p ON p.id = m.page_id
    WHERE m.image_id = i.id AND ($2::text IS NULL OR m.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2))
      AND ($3::bigint IS NULL OR m.page_id = $3)
    ORDER BY m.first_seen_at, m.page_id
    LIMIT 1
) s ON true
WHERE i.id = ANY ($1::bigint[]);

-- name: page_of_url
-- Returns the page of a URL, by its domain and its key.
SELECT p.id FROM pages p JOIN domains d ON d.id = p.domain_id WHERE d.name = $1 AND p.url_hash = $2;

-- name: find_image
-- Returns one image by its key or its number.
SELECT i.id, i.url, d.name AS domain, i.status::text AS status, i.reason, i.format, i.width, i.height, i.frames, i.file_size,
       encode(i.content_hash, 'hex') AS content_hash, i.perceptual_hash, CASE WHEN i.dropped_at IS NULL THEN i.body_ref END AS body_ref, i.thumbnail_ref, m.url AS moved_to,
       i.first_seen_at, i.checked_at, i.stored_at,
       (SELECT array_agg(t.url ORDER BY t.id) FROM images t WHERE t.content_hash = i.content_hash AND t.id <> i.id) AS same_file
FROM images i
LEFT JOIN domains d ON d.id = i.domain_id
LEFT JOIN images m ON m.id = i.moved_to
WHERE i.url_hash = $1 OR i.id = $2;

-- name: pages_of_image
-- Returns where an image was seen, first sighting first.
SELECT p.url AS page_url, d.name AS domain, m.discovery_type, m.image_type, m.alt_text, m.position, m.width, m.height, m.first_seen_at,
       COALESCE(m.last_seen_at, p.fetched_at) AS last_seen_at, m.last_seen_at IS NULL AS is_shown
FROM page_images m
JOIN pages p ON p.id = m.page_id
JOIN domains d ON d.id = m.domain_id
WHERE m.image_id = $1
ORDER BY m.first_seen_at, m.page_id
LIMIT $2::bigint;

-- name: similar_images
-- Returns stored images similar to one, nearest first: in how many of 64 bits their hashes differ.
SELECT i.id, i.url, d.name AS domain, i.format, i.width, i.height, i.file_size, i.content_hash = o.content_hash AS is_same_file,
       bit_count((i.perceptual_hash # o.perceptual_hash)::bit(64))::int AS distance
FROM images o
JOIN images i ON i.perceptual_hash IS NOT NULL AND i.id <> o.id
LEFT JOIN domains d ON d.id = i.domain_id
WHERE o.id = $1 AND bit_count((i.perceptual_hash # o.perceptual_hash)::bit(64)) <= $2::int
ORDER BY distance, is_same_file DESC, i.id
LIMIT $3::bigint;

-- name: images_by_id
-- Returns images in the order they were found. $2: only from this domain, $5: only those that pages of this domain
-- show.
SELECT i.id, i.url, d.name AS domain, i.status::text AS status, i.reason, i.format, i.width, i.height, i.file_size,
       encode(i.content_hash, 'hex') AS content_hash, i.thumbnail_ref IS NOT NULL AS has_thumbnail, i.first_seen_at, i.checked_at, i.stored_at
FROM images i
LEFT JOIN domains d ON d.id = i.domain_id
WHERE i.id > COALESCE($1::bigint, 0)
  AND ($2::text IS NULL OR i.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2))
  AND ($3::text IS NULL OR i.status = $3::text::image_status)
  AND ($4::text IS NULL OR i.format = $4)
  AND ($5::text IS NULL OR i.id IN (SELECT m.image_id FROM page_images m WHERE m.domain_id = (SELECT n.id FROM domains n WHERE n.name = $5)))
ORDER BY i.id
LIMIT $6::bigint;

-- name: images_of_page
-- Returns the images that one page shows, in the order they were found.
SELECT i.id, i.url, d.name AS domain, i.status::text AS status, i.reason, i.format, i.width, i.height, i.file_size,
       encode(i.content_hash, 'hex') AS content_hash, i.thumbnail_ref IS NOT NULL AS has_thumbnail, i.first_seen_at, i.checked_at, i.stored_at
FROM pages g
JOIN page_images s ON s.domain_id = g.domain_id AND s.page_id = g.id
JOIN images i ON i.id = s.image_id
LEFT JOIN domains d ON d.id = i.domain_id
WHERE g.id = $2 AND s.image_id > COALESCE($1::bigint, 0)
  AND ($3::text IS NULL OR i.domain_id = (SELECT n.id FROM domains n WHERE n.name = $3))
  AND ($4::text IS NULL OR i.status = $4::text::image_status)
  AND ($5::text IS NULL OR i.format = $5)
  AND ($6::text IS NULL OR s.domain_id = (SELECT n.id FROM domains n WHERE n.name = $6))
ORDER BY s.image_id
LIMIT $7::bigint;
