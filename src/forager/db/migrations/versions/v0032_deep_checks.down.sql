ALTER TABLE checks DROP COLUMN is_deep;
