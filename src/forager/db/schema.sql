-- The whole schema, to read and to create a fresh database from. Migrations lead to the same: a test compares them.
-- Every table has one owner folder that writes it, named in its comment.

CREATE TYPE domain_status AS ENUM ('pending', 'active', 'exhausted', 'blocked', 'unreachable');
CREATE TYPE page_status AS ENUM ('discovered', 'queued', 'fetched', 'failed', 'blocked', 'gone');
CREATE TYPE task_status AS ENUM ('pending', 'queued', 'crawling', 'downloaded', 'queued_parse', 'parsing',
                                 'completed', 'failed', 'paused', 'cancelled');
CREATE TYPE task_outcome AS ENUM ('success', 'failed', 'timeout', 'blocked_robots', 'blocked_4xx', 'blocked_5xx', 'cancelled');
CREATE TYPE run_status AS ENUM ('running', 'finished', 'stopped', 'failed');
CREATE TYPE worker_status AS ENUM ('running', 'stopped', 'dead');

-- Runs and workers ---------------------------------------------------------------------------------------------------

CREATE TABLE runs (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    status               run_status  NOT NULL DEFAULT 'running',
    spec                 jsonb       NOT NULL,
    max_pages            bigint,
    max_pages_per_domain integer,
    max_depth            integer     NOT NULL,
    pages_claimed        bigint      NOT NULL DEFAULT 0,
    links_seen           bigint      NOT NULL DEFAULT 0,
    pages_learned        bigint      NOT NULL DEFAULT 0,
    created_by           text        NOT NULL DEFAULT 'system',
    started_at           timestamptz NOT NULL DEFAULT now(),
    ended_at             timestamptz
);
COMMENT ON TABLE runs IS 'Owner: stats. One forager crawl invocation, or one worker''s life; budgets and statistics hang on it.';

CREATE TABLE run_outcomes (
    run_id  bigint       NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    outcome task_outcome NOT NULL,
    reason  text         NOT NULL,
    pages   bigint       NOT NULL,
    bytes   bigint       NOT NULL,
    time_ms bigint       NOT NULL,
    PRIMARY KEY (run_id, outcome, reason)
);
COMMENT ON TABLE run_outcomes IS 'Owner: stats. How a run''s visits ended: outcome and status code or error code, counted in the transaction that closes the tasks.';

CREATE TABLE run_drops (
    run_id bigint NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    reason text   NOT NULL,
    links  bigint NOT NULL,
    PRIMARY KEY (run_id, reason)
);
COMMENT ON TABLE run_drops IS 'Owner: stats. Links a run saw and left out, by reason.';

CREATE TABLE workers (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id       bigint        REFERENCES runs (id) ON DELETE SET NULL,
    status       worker_status NOT NULL DEFAULT 'running',
    host         text          NOT NULL,
    pid          integer       NOT NULL,
    pid_started  bigint        NOT NULL,
    started_at   timestamptz   NOT NULL DEFAULT now(),
    heartbeat_at timestamptz   NOT NULL DEFAULT now(),
    ended_at     timestamptz
);
CREATE INDEX workers_running ON workers (heartbeat_at) WHERE status = 'running';
COMMENT ON TABLE workers IS 'Owner: stats. Worker processes and their heartbeats. host names a machine and its boot, so that a pid can be trusted.';

-- Domains ------------------------------------------------------------------------------------------------------------

CREATE TABLE domains (
    id                      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name                    text             NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 260),
    parent_domain           text             NOT NULL,
    base_url                text             NOT NULL,
    source                  text             NOT NULL DEFAULT 'link',
    status                  domain_status    NOT NULL DEFAULT 'pending',
    block_reason            text,
    block_reason_code       text,
    first_blocked_at        timestamptz,
    is_active               boolean          NOT NULL DEFAULT true,
    -- the lease: version is the fencing token, it changes whenever the holder does
    claimed_by              bigint,
    claim_expires_at        timestamptz,
    version                 bigint           NOT NULL DEFAULT 0,
    -- counters: each changes in the transaction that changes what it counts
    pages_discovered        bigint           NOT NULL DEFAULT 0,
    pages_crawled           bigint           NOT NULL DEFAULT 0,
    frontier_size           bigint           NOT NULL DEFAULT 0,
    total_error_count       bigint           NOT NULL DEFAULT 0,
    consecutive_error_count integer          NOT NULL DEFAULT 0,
    -- the run that works on it, and what that run has taken from it
    run_id                  bigint           REFERENCES runs (id) ON DELETE SET NULL,
    run_pages               bigint           NOT NULL DEFAULT 0,
    max_pages_per_run       integer,
    -- when
    priority_score          double precision NOT NULL DEFAULT 0,
    ready_at                timestamptz,
    next_crawl_after        timestamptz,
    next_allowed_at         timestamptz,
    first_seen_at           timestamptz      NOT NULL DEFAULT now(),
    last_crawled_at         timestamptz,
    updated_at              timestamptz      NOT NULL DEFAULT now(),
    -- how
    crawl_delay_s           double precision CHECK (crawl_delay_s >= 0),
    max_concurrent_requests integer          CHECK (max_concurrent_requests > 0),
    content_policy          text             NOT NULL DEFAULT 'signals' CHECK (content_policy IN ('signals', 'snapshot', 'archive')),
    CHECK ((claimed_by IS NULL) = (claim_expires_at IS NULL)),
    CHECK ((status IN ('blocked', 'unreachable')) = (block_reason_code IS NOT NULL))
);
CREATE INDEX domains_claimable ON domains (run_id, priority_score DESC, id)
    WHERE claimed_by IS NULL AND status IN ('pending', 'active') AND is_active AND ready_at IS NOT NULL;
CREATE INDEX domains_claimed ON domains (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX domains_parent ON domains (parent_domain);
COMMENT ON TABLE domains IS 'Owner: domains (the claim, in frontier, stamps the lease). A site as an entity.';
COMMENT ON COLUMN domains.ready_at IS 'The earliest moment something of its frontier may be claimed; NULL when nothing of it is in reach of its run.';
COMMENT ON COLUMN domains.next_crawl_after IS 'A cooldown: nothing is claimed before.';
COMMENT ON COLUMN domains.next_allowed_at IS 'The pace, written down for a successor: no request before.';

CREATE TABLE origins (
    domain_id          bigint      NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    origin             text        NOT NULL,
    robots_txt         text,
    robots_status_code smallint,
    robots_error       text,
    robots_fetched_at  timestamptz NOT NULL,
    robots_expires_at  timestamptz NOT NULL,
    PRIMARY KEY (domain_id, origin)
);
COMMENT ON TABLE origins IS 'Owner: domains. robots.txt of each scheme, host and port of a domain (RFC 9309 is per origin).';

-- Pages, tasks, links ------------------------------------------------------------------------------------------------

CREATE TABLE pages (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain_id     bigint      NOT NULL REFERENCES domains (id),
    url           text        NOT NULL,
    url_hash      bytea       NOT NULL CHECK (octet_length(url_hash) = 16),
    status        page_status NOT NULL DEFAULT 'discovered',
    depth         smallint    NOT NULL,
    priority      smallint    NOT NULL CHECK (priority BETWEEN 1 AND 10),
    redirects     smallint    NOT NULL DEFAULT 0,
    is_seed       boolean     NOT NULL DEFAULT false,
    discovered_at timestamptz NOT NULL DEFAULT now(),
    fetched_at    timestamptz,
    failed_at     timestamptz,
    -- signals of the last good reading
    title         text,
    description   text,
    language      varchar(35),
    keywords_tsv  tsvector,
    content_hash  bytea,
    content_type  text,
    links_count   integer,
    etag          text,
    last_modified text,
    UNIQUE (domain_id, url_hash)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2);
CREATE INDEX pages_frontier ON pages (domain_id, priority, id) WHERE status = 'discovered';
COMMENT ON TABLE pages IS 'Owner: frontier. One canonical URL we know, unique by 16 bytes of the SHA-256 of its normalised form.';

CREATE TABLE crawl_tasks (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    page_id          bigint      NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    domain_id        bigint      NOT NULL,
    run_id           bigint,
    status           task_status NOT NULL DEFAULT 'pending',
    priority         smallint    NOT NULL DEFAULT 5 CHECK (priority BETWEEN 1 AND 10),
    retry_count      smallint    NOT NULL DEFAULT 0,
    parent_task_id   bigint,
    created_by       text        NOT NULL DEFAULT 'system',
    created_at       timestamptz NOT NULL DEFAULT now(),
    scheduled_for    timestamptz NOT NULL DEFAULT now(),
    locked_at        timestamptz,
    locked_by        bigint,
    requested_at     timestamptz,
    completed_at     timestamptz,
    outcome          task_outcome,
    status_code      smallint,
    error_code       text,
    error_message    text,
    blame            text,
    response_time_ms integer,
    bytes            bigint,
    CHECK ((outcome IS NULL) = (completed_at IS NULL)),
    CHECK ((locked_at IS NULL) = (locked_by IS NULL)),
    CHECK ((outcome IS NULL) = (status NOT IN ('completed', 'failed', 'cancelled')))
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
CREATE UNIQUE INDEX crawl_tasks_open ON crawl_tasks (domain_id, page_id) WHERE outcome IS NULL;
CREATE INDEX crawl_tasks_ready ON crawl_tasks (domain_id, priority, scheduled_for)
    WHERE outcome IS NULL AND locked_at IS NULL;
CREATE INDEX crawl_tasks_history ON crawl_tasks (page_id, id DESC);
COMMENT ON TABLE crawl_tasks IS 'Owner: frontier. One visit to one page, from order to outcome: open rows are the queue, closed rows the history.';

CREATE TABLE page_links (
    domain_id    bigint   NOT NULL,
    from_page_id bigint   NOT NULL,
    to_page_id   bigint   NOT NULL,
    position     smallint NOT NULL,
    rel          text     NOT NULL,
    anchor       text     NOT NULL
);
CREATE INDEX page_links_from ON page_links (from_page_id);
COMMENT ON TABLE page_links IS 'Owner: frontier. Who links to whom. No foreign keys: sixty checks a page cost more than all else; forager check looks instead.';

CREATE TABLE errors (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id     bigint      NOT NULL,
    code        text        NOT NULL,
    message     text        NOT NULL,
    stack       text        NOT NULL,
    occurred_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE errors IS 'Owner: frontier. Stack traces of our own bugs, apart from the history.';

-- What the database itself refuses -----------------------------------------------------------------------------------

CREATE TABLE domain_moves (
    from_status domain_status NOT NULL,
    to_status   domain_status NOT NULL,
    PRIMARY KEY (from_status, to_status)
);
COMMENT ON TABLE domain_moves IS 'Owner: domains. The allowed moves of a domain; domains/status.py holds the same table and a test compares them.';
INSERT INTO domain_moves VALUES
    ('pending', 'active'), ('pending', 'blocked'), ('pending', 'unreachable'),
    ('active', 'exhausted'), ('active', 'blocked'), ('active', 'unreachable'),
    ('exhausted', 'pending'), ('exhausted', 'active'),
    ('blocked', 'pending'), ('blocked', 'active'),
    ('unreachable', 'pending'), ('unreachable', 'active');

CREATE FUNCTION refuse_domain_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM domain_moves WHERE from_status = OLD.status AND to_status = NEW.status) THEN
        RAISE EXCEPTION 'a domain cannot move from % to %', OLD.status, NEW.status USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER domains_move BEFORE UPDATE OF status ON domains FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION refuse_domain_move();

CREATE FUNCTION refuse_history_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('forager.purge', true) = 'on' THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    RAISE EXCEPTION 'task % is closed: history does not change', OLD.id USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER crawl_tasks_closed_stay BEFORE UPDATE OR DELETE ON crawl_tasks FOR EACH ROW
    WHEN (OLD.outcome IS NOT NULL) EXECUTE FUNCTION refuse_history_change();
