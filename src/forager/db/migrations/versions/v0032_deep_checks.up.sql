ALTER TABLE checks ADD COLUMN is_deep boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN checks.is_deep IS 'Whether bodies, history and schema are read from end to end, too.';
