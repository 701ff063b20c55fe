-- Lists by a rare value walked through the whole table. Of tasks the kind becomes a column of their own; old ones of images are marked, which changes
-- nothing about them that is history, so the trigger that guards it is silent meanwhile.
ALTER TABLE crawl_tasks ADD COLUMN is_image boolean NOT NULL DEFAULT false;
ALTER TABLE crawl_tasks ALTER COLUMN is_image DROP DEFAULT;
ALTER TABLE crawl_tasks DISABLE TRIGGER crawl_tasks_closed_stay;
UPDATE crawl_tasks t SET is_image = true FROM pages p WHERE p.id = t.page_id AND p.is_image;
ALTER TABLE crawl_tasks ENABLE TRIGGER crawl_tasks_closed_stay;
CREATE FUNCTION tell_kind_of_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.is_image := COALESCE((SELECT p.is_image FROM pages p WHERE p.id = NEW.page_id), false);
    RETURN NEW;
END $$;
CREATE TRIGGER crawl_tasks_kind BEFORE INSERT ON crawl_tasks FOR EACH ROW
    WHEN (NEW.is_image IS NULL) EXECUTE FUNCTION tell_kind_of_task();
COMMENT ON COLUMN crawl_tasks.is_image IS 'Whether its page was an image when the task was made; statements that do not say it leave it to a trigger.';
CREATE INDEX pages_by_status ON pages (status, id) WHERE status NOT IN ('fetched', 'discovered') AND NOT is_image;
CREATE INDEX pages_seeds ON pages (id) WHERE is_seed;
CREATE INDEX crawl_tasks_of_domain ON crawl_tasks (domain_id, id) WHERE outcome IS NOT NULL;
CREATE INDEX crawl_tasks_of_run ON crawl_tasks (run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX crawl_tasks_by_status ON crawl_tasks (status, id) WHERE status NOT IN ('pending', 'completed');
CREATE INDEX crawl_tasks_by_outcome ON crawl_tasks (outcome, id) WHERE outcome <> 'success';
CREATE INDEX crawl_tasks_by_error ON crawl_tasks (error_code, id) WHERE error_code IS NOT NULL;
CREATE INDEX crawl_tasks_images ON crawl_tasks (id) WHERE is_image;
