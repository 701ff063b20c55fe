ALTER TABLE crawl_tasks
    ADD COLUMN recrawl_count   integer NOT NULL DEFAULT 0,
    ADD COLUMN is_recurring    boolean NOT NULL DEFAULT true,
    ADD COLUMN revisit_every_s double precision CHECK (revisit_every_s > 0),
    ADD COLUMN max_retries     smallint CHECK (max_retries BETWEEN 0 AND 20),
    ADD COLUMN batch_id        bigint,
    ADD COLUMN depends_on      bigint,
    ADD COLUMN is_waiting      boolean NOT NULL DEFAULT false,
    ADD COLUMN webhook_url     text CHECK (length(webhook_url) BETWEEN 1 AND 2000),
    ADD CHECK (NOT is_waiting OR (status = 'paused' AND depends_on IS NOT NULL));

CREATE INDEX crawl_tasks_failed ON crawl_tasks (domain_id, completed_at) WHERE status = 'failed';
CREATE INDEX crawl_tasks_batch ON crawl_tasks (batch_id, page_id, id) WHERE batch_id IS NOT NULL;
CREATE INDEX crawl_tasks_dependents ON crawl_tasks (depends_on) WHERE depends_on IS NOT NULL AND outcome IS NULL;
CREATE INDEX domains_switched_off ON domains (claimed_by) WHERE claimed_by IS NOT NULL AND NOT is_active;
COMMENT ON COLUMN crawl_tasks.recrawl_count IS 'How many visits of the same order came before it: 0, 1, 2 … of a page that recurs.';
COMMENT ON COLUMN crawl_tasks.is_recurring IS 'False: its page is not visited again after it, whatever the frequency.';
COMMENT ON COLUMN crawl_tasks.revisit_every_s IS 'The frequency this order asks for; NULL: as the page or its domain says.';
COMMENT ON COLUMN crawl_tasks.max_retries IS 'New tasks after it failed; NULL: the setting.';
COMMENT ON COLUMN crawl_tasks.batch_id IS 'The batch it was ordered in; its tries belong to it too. No foreign key: the history outlives batches.';
COMMENT ON COLUMN crawl_tasks.depends_on IS 'The task that has to be completed before it; if that fails and is tried again, the other try.';
COMMENT ON COLUMN crawl_tasks.is_waiting IS 'Paused for its dependency, not by a person: it goes on by itself.';
COMMENT ON COLUMN crawl_tasks.webhook_url IS 'Told when it is closed: a row of webhook_calls, by a trigger.';

CREATE TABLE batches (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text        NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    created_by text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE batches IS 'Owner: frontier. Tasks that were ordered together, under a name.';

CREATE TABLE task_orders (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id     bigint      NOT NULL,
    verb        text        NOT NULL,
    from_status task_status,
    to_status   task_status NOT NULL,
    ordered_at  timestamptz NOT NULL DEFAULT now(),
    ordered_by  text        NOT NULL,
    reason      text
);
CREATE INDEX task_orders_of ON task_orders (task_id, id DESC);
COMMENT ON TABLE task_orders IS 'Owner: frontier. What people ordered for tasks: when, by whom, why. No foreign key: history moves away.';
COMMENT ON COLUMN task_orders.from_status IS 'NULL: the order made the task.';

CREATE TABLE task_calls (
    worker_id bigint NOT NULL,
    task_id   bigint NOT NULL,
    PRIMARY KEY (worker_id, task_id)
);
COMMENT ON TABLE task_calls IS 'Owner: frontier. Running tasks that were paused or cancelled: their workers look here every second, and take away what they heard.';

CREATE TABLE webhook_calls (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text        NOT NULL DEFAULT 'task' CHECK (kind IN ('task', 'alert')),
    task_id      bigint      UNIQUE,
    payload      jsonb,
    url          text        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    tries        integer     NOT NULL DEFAULT 0,
    next_try_at  timestamptz DEFAULT now(),
    tried_at     timestamptz,
    delivered_at timestamptz,
    died_at      timestamptz,
    status_code  smallint,
    error        text,
    CHECK ((kind = 'task') = (task_id IS NOT NULL)),
    CHECK ((kind = 'task') = (payload IS NULL)),
    CHECK (delivered_at IS NULL OR died_at IS NULL),
    CHECK ((next_try_at IS NULL) = (delivered_at IS NOT NULL OR died_at IS NOT NULL))
);
CREATE INDEX webhook_calls_due ON webhook_calls (next_try_at) WHERE next_try_at IS NOT NULL;
COMMENT ON TABLE webhook_calls IS 'Owner: frontier, those of tasks by a trigger. What somebody wants to hear of, one call each, tried until it was heard or a day is over.';
COMMENT ON COLUMN webhook_calls.payload IS 'What is told; NULL: the task, as it was closed.';
COMMENT ON COLUMN webhook_calls.next_try_at IS 'NULL: it was delivered, or given up.';

CREATE TABLE task_moves (
    from_status task_status NOT NULL,
    to_status   task_status NOT NULL,
    PRIMARY KEY (from_status, to_status)
);
COMMENT ON TABLE task_moves IS 'Owner: frontier. The allowed moves of a task; frontier/task_status.py holds the same table and a test compares them.';
INSERT INTO task_moves VALUES
    ('pending', 'queued'), ('pending', 'crawling'), ('pending', 'paused'), ('pending', 'cancelled'),
    ('queued', 'pending'), ('queued', 'crawling'), ('queued', 'paused'), ('queued', 'cancelled'),
    ('crawling', 'pending'), ('crawling', 'downloaded'), ('crawling', 'completed'), ('crawling', 'failed'),
    ('crawling', 'paused'), ('crawling', 'cancelled'),
    ('downloaded', 'pending'), ('downloaded', 'queued_parse'), ('downloaded', 'parsing'), ('downloaded', 'failed'), ('downloaded', 'cancelled'),
    ('queued_parse', 'pending'), ('queued_parse', 'parsing'), ('queued_parse', 'failed'), ('queued_parse', 'cancelled'),
    ('parsing', 'pending'), ('parsing', 'completed'), ('parsing', 'failed'), ('parsing', 'paused'), ('parsing', 'cancelled'),
    ('paused', 'pending'), ('paused', 'cancelled');

CREATE FUNCTION refuse_task_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM task_moves WHERE from_status = OLD.status AND to_status = NEW.status) THEN
        RAISE EXCEPTION 'a task cannot move from % to %', OLD.status, NEW.status USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION refuse_task_move IS 'Not asked for what a crawl does thousands of times in a second; those moves are named in the trigger itself.';
CREATE TRIGGER crawl_tasks_move BEFORE UPDATE OF status ON crawl_tasks FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND NOT (OLD.status = 'crawling' AND NEW.status IN ('completed', 'failed', 'pending'))
          AND NOT (OLD.status = 'pending' AND NEW.status = 'crawling')) EXECUTE FUNCTION refuse_task_move();

CREATE FUNCTION note_webhook_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_calls (task_id, url) VALUES (NEW.id, NEW.webhook_url) ON CONFLICT (task_id) DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER crawl_tasks_tell AFTER UPDATE OF outcome ON crawl_tasks FOR EACH ROW
    WHEN (NEW.webhook_url IS NOT NULL AND OLD.outcome IS NULL AND NEW.outcome IS NOT NULL) EXECUTE FUNCTION note_webhook_call();
