DROP INDEX domains_held;
DROP INDEX domains_claimable;
ALTER TABLE domains DROP COLUMN worker_label;
CREATE INDEX domains_held ON domains (run_id, claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX domains_claimable ON domains (run_id, round, priority_score DESC, id)
    WHERE claimed_by IS NULL AND is_due AND status IN ('pending', 'active') AND is_active;
ALTER TABLE workers DROP COLUMN drain_asked_at;
ALTER TABLE workers DROP COLUMN labels;
DROP TABLE schema_window;
