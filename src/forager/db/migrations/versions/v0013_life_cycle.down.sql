CREATE OR REPLACE FUNCTION refuse_history_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('forager.purge', true) = 'on' THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    RAISE EXCEPTION 'task % is closed: history does not change', OLD.id USING ERRCODE = 'check_violation';
END $$;
COMMENT ON FUNCTION refuse_history_change IS NULL;
DROP FUNCTION old_pages;
DROP FUNCTION old_visits;
DROP FUNCTION next_time;
ALTER TABLE domains DROP COLUMN history_retention_s;
DROP TABLE storage_days;
DROP TABLE purges;
DROP TABLE restored_pages;
DROP TABLE restored_tasks;
DROP TABLE departures;
DROP TABLE cold_slices;
