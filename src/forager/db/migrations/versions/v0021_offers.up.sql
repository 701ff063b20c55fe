CREATE TABLE offers (
    domain_id  bigint      PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
    version    bigint      NOT NULL,
    run_id     bigint      NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    is_urgent  boolean     NOT NULL,
    offered_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX offers_run ON offers (run_id, offered_at);
COMMENT ON TABLE offers IS 'Owner: queue. Domains whose hints are on their way to workers; another version of the lease makes an offer void.';

CREATE TABLE queue_depths (
    queue     text        PRIMARY KEY,
    messages  bigint      NOT NULL,
    consumers integer     NOT NULL,
    seen_at   timestamptz NOT NULL
);
COMMENT ON TABLE queue_depths IS 'Owner: queue. What the broker said last of its queues, those of all runs together.';
