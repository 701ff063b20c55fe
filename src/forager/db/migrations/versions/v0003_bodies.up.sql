SELECT;
-- Bodies that are kept, and replays of them.

ALTER TABLE domains ALTER COLUMN content_policy DROP NOT NULL, ALTER COLUMN content_policy DROP DEFAULT;
-- Nothing but 'signals' could be set so far: it was the default.
UPDATE domains SET content_policy = NULL;
COMMENT ON COLUMN domains.content_policy IS 'What is kept of a body: nothing, the newest, or everything; NULL: the setting.';

ALTER TABLE crawl_tasks ADD COLUMN body_ref text;
CREATE INDEX crawl_tasks_bodies ON crawl_tasks (page_id, id DESC) WHERE body_ref IS NOT NULL;
COMMENT ON COLUMN crawl_tasks.body_ref IS 'Where the body is that this visit brought, or confirmed; NULL: none was kept. What its second part names is in bodies.';

CREATE TABLE bodies (
    name         text        PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    kind         text        NOT NULL CHECK (kind IN ('snapshot', 'archive')),
    size_bytes   bigint      NOT NULL,
    stored_bytes bigint      NOT NULL,
    stored_at    timestamptz NOT NULL DEFAULT now(),
    used_at      timestamptz NOT NULL DEFAULT now(),
    dropped_at   timestamptz,
    deleted_at   timestamptz,
    CHECK (deleted_at IS NULL OR dropped_at IS NOT NULL)
);
CREATE INDEX bodies_to_drop ON bodies (used_at) WHERE kind = 'snapshot' AND dropped_at IS NULL;
CREATE INDEX bodies_to_delete ON bodies (dropped_at) WHERE dropped_at IS NOT NULL AND deleted_at IS NULL;
COMMENT ON TABLE bodies IS 'Owner: archive. Stored files: a snapshot by the hash of its content, or a WARC file. The row is there before any task refers to it.';
COMMENT ON COLUMN bodies.size_bytes IS 'Before compression; of a WARC file, of all its bodies.';
COMMENT ON COLUMN bodies.used_at IS 'When a visit last brought or confirmed it; retention counts from then.';
COMMENT ON COLUMN bodies.dropped_at IS 'When retention gave it up: nobody may count on its file any more. A visit that brings it again takes this back.';
COMMENT ON COLUMN bodies.deleted_at IS 'When its file was deleted.';

CREATE TABLE run_bodies (
    run_id       bigint NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    what         text   NOT NULL,
    bodies       bigint NOT NULL,
    size_bytes   bigint NOT NULL,
    stored_bytes bigint NOT NULL,
    PRIMARY KEY (run_id, what)
);
COMMENT ON TABLE run_bodies IS 'Owner: archive. What became of the bodies a run was to keep: stored, known, or lost with the reason.';

CREATE TABLE replays (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    spec         jsonb       NOT NULL,
    status       text        NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'finished')),
    after_page   bigint      NOT NULL DEFAULT 0,
    tally        jsonb       NOT NULL DEFAULT '{}',
    created_by   text        NOT NULL,
    pid          integer     NOT NULL,
    pid_started  bigint      NOT NULL,
    started_at   timestamptz NOT NULL DEFAULT now(),
    touched_at   timestamptz NOT NULL DEFAULT now(),
    ended_at     timestamptz,
    CHECK ((status = 'finished') = (ended_at IS NOT NULL))
);
COMMENT ON TABLE replays IS 'Owner: control. Stored bodies read again: by which order, how far it came, what it found.';
COMMENT ON COLUMN replays.pid IS 'The process that does it, or did: what it was reading when it died is read apart from then on.';
COMMENT ON COLUMN replays.after_page IS 'All pages up to this one are done; written in the transaction that writes their readings.';

CREATE TABLE replay_readings (
    replay_id bigint NOT NULL REFERENCES replays (id) ON DELETE CASCADE,
    page_id   bigint NOT NULL,
    task_id   bigint NOT NULL,
    fields    text[] NOT NULL,
    old       jsonb  NOT NULL,
    new       jsonb  NOT NULL,
    PRIMARY KEY (replay_id, page_id)
);
COMMENT ON TABLE replay_readings IS 'Owner: control. The shadow: what a replay reads differently from the live tables, page by page. No foreign key to pages: it may outlive them.';
