-- Images of pages that are purged.

-- name: drop_sightings
-- Deletes the sightings of these pages; returns what they showed.
WITH gone AS (DELETE FROM page_images WHERE domain_id = $1 AND page_id = ANY ($2::bigint[]) RETURNING image_id)
SELECT image_id, count(*)::int AS times FROM gone GROUP BY image_id;

-- name: drop_unseen
-- Deletes those of these images that no page shows and no other image redirects to; returns the keys of files that
-- only they used.
WITH gone AS (
    DELETE FROM images i
    WHERE i.id = ANY ($1::bigint[]) AND NOT EXISTS (SELECT FROM page_images s WHERE s.image_id = i.id)
      AND NOT EXISTS (SELECT FROM images m WHERE m.moved_to = i.id AND m.id <> i.id)
    RETURNING i.id, i.domain_id, i.content_hash, i.body_ref, i.thumbnail_ref, i.stored_at
)
SELECT g.id, g.domain_id, g.stored_at IS NOT NULL AS is_stored,
       CASE WHEN NOT EXISTS (SELECT FROM images k WHERE k.content_hash = g.content_hash AND k.id NOT IN (SELECT id FROM gone))
            THEN array_remove(ARRAY[g.body_ref, g.thumbnail_ref], NULL) ELSE '{}' END AS keys
FROM gone g;

-- name: forget_moves
-- Clears redirects to images of a domain that no page shows.
UPDATE images m SET moved_to = NULL
FROM images i WHERE m.moved_to = i.id AND i.domain_id = $1 AND NOT EXISTS (SELECT FROM page_images s WHERE s.image_id = i.id);

-- name: images_of
-- Returns the images that a domain showed first.
SELECT id FROM images WHERE domain_id = $1;

-- name: give_away
-- Moves images of a domain that is deleted to the domain that showed them next; returns which.
UPDATE images i SET domain_id = s.domain_id
FROM (SELECT DISTINCT ON (p.image_id) p.image_id, p.domain_id FROM page_images p JOIN images m ON m.id = p.image_id
      WHERE m.domain_id = $1 AND p.domain_id <> $1 ORDER BY p.image_id, p.first_seen_at, p.page_id) s
WHERE i.id = s.image_id
RETURNING i.domain_id, i.stored_at IS NOT NULL AS is_stored;

-- name: present_images
-- Returns which of these images still exist.
SELECT id FROM images WHERE id = ANY ($1::bigint[]);
