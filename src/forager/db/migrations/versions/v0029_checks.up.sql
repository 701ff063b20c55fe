-- A check takes longer than a client waits.
CREATE TABLE checks (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    started_by text        NOT NULL,
    has_files  boolean     NOT NULL,
    heard_at   timestamptz NOT NULL DEFAULT now(),
    done       integer     NOT NULL DEFAULT 0,
    total      integer     NOT NULL,
    ended_at   timestamptz,
    error      text,
    result     jsonb
);
COMMENT ON TABLE checks IS 'Owner: control. Checks of the promises that were started over HTTP, the last few, with what came of them.';
COMMENT ON COLUMN checks.heard_at IS 'When its process last said that it is at it; long ago and no end: the process is gone.';
