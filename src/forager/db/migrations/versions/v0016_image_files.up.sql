ALTER TYPE image_status ADD VALUE 'dropped';
ALTER TABLE images
    ADD COLUMN dropped_at timestamptz,
    ADD CHECK (dropped_at IS NULL OR stored_at IS NOT NULL);
CREATE INDEX images_files ON images (stored_at, id) WHERE stored_at IS NOT NULL AND dropped_at IS NULL;
CREATE INDEX images_dropped ON images (id) WHERE dropped_at IS NOT NULL;
COMMENT ON COLUMN images.dropped_at IS 'When retention gave up its file: nobody may count on it any more. A visit that brings it again takes this back.';
ALTER TABLE domains
    ADD COLUMN image_retention_s double precision CHECK (image_retention_s > 0),
    ADD COLUMN images_owed_after bigint;
CREATE INDEX domains_owed_images ON domains (images_policy, id) WHERE images_owed_after IS NOT NULL;
COMMENT ON COLUMN domains.image_retention_s IS 'Files of images it showed first are kept so long after they were last seen; NULL: as the settings say.';
COMMENT ON COLUMN domains.images_owed_after IS 'Pages behind this one may show images that were found and never asked for; once they are wanted, they get their places in the frontier. NULL: none do.';
UPDATE domains SET images_owed_after = 0 WHERE images_found > 0;
