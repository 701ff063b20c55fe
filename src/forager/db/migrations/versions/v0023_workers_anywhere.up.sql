CREATE TABLE schema_window (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    oldest  text    NOT NULL
);
COMMENT ON TABLE schema_window IS 'Owner: db. One row: the oldest revision whose Forager may work on this schema. A migration that takes something away, or asks more of what is written, sets it to its own.';
INSERT INTO schema_window (oldest) VALUES ('0023');

ALTER TABLE workers ADD COLUMN labels text[] NOT NULL DEFAULT '{}';
ALTER TABLE workers ADD COLUMN drain_asked_at timestamptz;
COMMENT ON COLUMN workers.labels IS 'What it offers; a domain that wants a label is claimed by workers that have it.';
COMMENT ON COLUMN workers.drain_asked_at IS 'When somebody sent it away: it takes nothing new, finishes what is open, hands its leases back and ends.';

ALTER TABLE domains ADD COLUMN worker_label text NOT NULL DEFAULT '' CHECK (worker_label ~ '^([a-z0-9][a-z0-9._-]{0,62})?$');
COMMENT ON COLUMN domains.worker_label IS 'Only workers with this label claim it; empty: any worker.';
DROP INDEX domains_claimable;
CREATE INDEX domains_claimable ON domains (run_id, worker_label, round, priority_score DESC, id)
    WHERE claimed_by IS NULL AND is_due AND status IN ('pending', 'active') AND is_active;
DROP INDEX domains_held;
CREATE INDEX domains_held ON domains (run_id, worker_label, claimed_by) WHERE claimed_by IS NOT NULL;
