DROP INDEX domains_of_run;
DROP INDEX runs_ordered;
DROP INDEX runs_standing;
ALTER TABLE runs DROP COLUMN keeper, DROP COLUMN kept_by, DROP COLUMN kept_at, DROP COLUMN stop_asked_at;
