ALTER TABLE purges DROP COLUMN ended_at;
