ALTER TABLE runs
    ADD COLUMN keeper        text NOT NULL DEFAULT 'process' CHECK (keeper IN ('process', 'foreman', 'standing')),
    ADD COLUMN kept_by       text,
    ADD COLUMN kept_at       timestamptz,
    ADD COLUMN stop_asked_at timestamptz;
CREATE UNIQUE INDEX runs_standing ON runs (keeper) WHERE keeper = 'standing';
CREATE INDEX runs_ordered ON runs (id) WHERE keeper = 'foreman' AND status = 'running';
COMMENT ON COLUMN runs.keeper IS 'Who starts its workers: the process that ordered it, a foreman (forager up), or every foreman for the one that never ends.';
COMMENT ON COLUMN runs.kept_by IS 'The foreman that looks after it, as of kept_at; a silent one is replaced.';
CREATE INDEX domains_of_run ON domains (run_id);
