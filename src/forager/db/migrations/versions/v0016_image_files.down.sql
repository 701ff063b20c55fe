ALTER TABLE domains DROP COLUMN images_owed_after, DROP COLUMN image_retention_s;
UPDATE images SET status = 'failed', reason = 'its file was deleted when its time was over' WHERE status = 'dropped';
ALTER TABLE images DROP COLUMN dropped_at;
ALTER TABLE images DROP CONSTRAINT images_check2, ALTER COLUMN status DROP DEFAULT;
ALTER TYPE image_status RENAME TO image_status_with_dropped;
CREATE TYPE image_status AS ENUM ('found', 'stored', 'moved', 'gone', 'blocked', 'failed', 'broken', 'too_big', 'not_an_image');
ALTER TABLE images ALTER COLUMN status TYPE image_status USING status::text::image_status, ALTER COLUMN status SET DEFAULT 'found';
ALTER TABLE images ADD CONSTRAINT images_check2 CHECK (status <> 'stored' OR stored_at IS NOT NULL);
DROP TYPE image_status_with_dropped;
