SELECT;
-- The reverse of v0003_bodies.up.sql: files stay where they are, and nothing refers to them any more.

DROP TABLE replay_readings, replays, run_bodies, bodies;
DROP INDEX crawl_tasks_bodies;
ALTER TABLE crawl_tasks DROP COLUMN body_ref;
UPDATE domains SET content_policy = 'signals' WHERE content_policy IS DISTINCT FROM 'signals';
ALTER TABLE domains ALTER COLUMN content_policy SET DEFAULT 'signals', ALTER COLUMN content_policy SET NOT NULL;
COMMENT ON COLUMN domains.content_policy IS NULL;
