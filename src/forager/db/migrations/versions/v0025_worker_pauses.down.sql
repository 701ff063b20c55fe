ALTER TABLE workers DROP COLUMN paused_since;
ALTER TABLE workers DROP COLUMN pause_detail;
ALTER TABLE workers DROP COLUMN pause_reason;
