-- Details of pages beyond the signals in `pages`. Owner of page_details.

-- name: record_details
-- Saves the details of a batch of pages from their newest readings: writes those that changed, deletes those of pages
-- that have none now.
WITH emptied AS (
    DELETE FROM page_details WHERE page_id = ANY ($13::bigint[])
)
INSERT INTO page_details AS d (page_id, headline, site_name, section, tags, rating, rating_count, published_on, modified_on, structured_data, content_hash, item_types)
SELECT n.page_id, n.headline, n.site_name, n.section, string_to_array(n.tags, E'\x1f'), n.rating, n.rating_count, n.published_on, n.modified_on,
       n.structured_data, n.content_hash, string_to_array(n.item_types, E'\x1f')
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::int[], $8::date[], $9::date[], $10::bytea[], $11::bytea[], $12::text[])
     AS n (page_id, headline, site_name, section, tags, rating, rating_count, published_on, modified_on, structured_data, content_hash, item_types)
ON CONFLICT (page_id) DO UPDATE
SET headline = EXCLUDED.headline, site_name = EXCLUDED.site_name, section = EXCLUDED.section, tags = EXCLUDED.tags, rating = EXCLUDED.rating,
    rating_count = EXCLUDED.rating_count, published_on = EXCLUDED.published_on, modified_on = EXCLUDED.modified_on,
    structured_data = EXCLUDED.structured_data, content_hash = EXCLUDED.content_hash, item_types = EXCLUDED.item_types
WHERE d.content_hash <> EXCLUDED.content_hash;

-- name: find_structured_data
-- Returns the structured data of one page, compressed; no row if it has none.
SELECT d.structured_data FROM page_details d WHERE d.page_id = $1 AND d.structured_data IS NOT NULL;
