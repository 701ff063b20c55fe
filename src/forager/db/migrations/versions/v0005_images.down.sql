SELECT;
-- The reverse of v0005_images.up.sql. What was fetched as an image is no page: it goes, with its visits.

SET LOCAL forager.purge = 'on';
UPDATE domains d SET frontier_size = d.frontier_size - p.waiting
FROM (SELECT domain_id, count(*) AS waiting FROM pages WHERE is_image AND status IN ('discovered', 'queued') GROUP BY domain_id) p WHERE p.domain_id = d.id;
DELETE FROM pages WHERE is_image;
SET LOCAL forager.purge = 'off';
UPDATE domains SET images_found = 0, images_stored = 0 WHERE images_found > 0;
ALTER TABLE domains DROP COLUMN images_policy, DROP COLUMN images_only;
ALTER TABLE pages DROP COLUMN is_image;
DROP TABLE page_images, images;
DROP TYPE image_status;
