-- States of a task that nothing ever wrote leave the table of moves; images per page are per page, not per visit.
DELETE FROM task_moves
WHERE from_status IN ('queued', 'downloaded', 'queued_parse', 'parsing') OR to_status IN ('queued', 'downloaded', 'queued_parse', 'parsing');
COMMENT ON TYPE task_status IS 'queued, downloaded, queued_parse and parsing are labels of older versions: no task has them and task_moves leads to none. Dropping a label would rewrite crawl_tasks.';

ALTER TABLE domains DROP COLUMN image_yield_rate, DROP COLUMN avg_images_per_page;
ALTER TABLE domains
    ADD COLUMN image_yield_rate double precision NOT NULL
        GENERATED ALWAYS AS (images_stored / GREATEST(LEAST(pages_crawled, pages_discovered), 1)::float8) STORED,
    ADD COLUMN avg_images_per_page double precision NOT NULL
        GENERATED ALWAYS AS (images_found / GREATEST(LEAST(pages_crawled, pages_discovered), 1)::float8) STORED;
COMMENT ON COLUMN domains.pages_crawled IS 'Visits that brought a page, also repeated ones: with refreshes it passes pages_discovered.';
COMMENT ON COLUMN domains.image_yield_rate IS 'Stored images per page. A refresh adds visits and no pages, so there are never more pages than are known.';
COMMENT ON COLUMN domains.avg_images_per_page IS 'Images seen per page, stored or not; pages as in image_yield_rate.';
UPDATE schema_window SET oldest = '0030';
