UPDATE schema_window SET oldest = '0023';
ALTER TABLE domains DROP COLUMN image_yield_rate, DROP COLUMN avg_images_per_page;
ALTER TABLE domains
    ADD COLUMN image_yield_rate double precision NOT NULL GENERATED ALWAYS AS (images_stored / GREATEST(pages_crawled, 1)::float8) STORED,
    ADD COLUMN avg_images_per_page double precision NOT NULL GENERATED ALWAYS AS (images_found / GREATEST(pages_crawled, 1)::float8) STORED;
COMMENT ON COLUMN domains.pages_crawled IS NULL;
COMMENT ON TYPE task_status IS NULL;
INSERT INTO task_moves VALUES
    ('pending', 'queued'), ('queued', 'pending'), ('queued', 'crawling'), ('queued', 'paused'), ('queued', 'cancelled'), ('crawling', 'downloaded'),
    ('downloaded', 'pending'), ('downloaded', 'queued_parse'), ('downloaded', 'parsing'), ('downloaded', 'failed'), ('downloaded', 'cancelled'),
    ('queued_parse', 'pending'), ('queued_parse', 'parsing'), ('queued_parse', 'failed'), ('queued_parse', 'cancelled'),
    ('parsing', 'pending'), ('parsing', 'completed'), ('parsing', 'failed'), ('parsing', 'paused'), ('parsing', 'cancelled');
