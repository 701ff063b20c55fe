ALTER TABLE purges ADD COLUMN ended_at timestamptz;
COMMENT ON COLUMN purges.ended_at IS 'When all of it was gone; NULL: it goes on, or was stopped before.';
UPDATE purges SET ended_at = purged_at;
