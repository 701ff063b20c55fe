CREATE TABLE series_parts (
    minute    timestamptz      NOT NULL,
    worker_id bigint           NOT NULL,
    metric    text             NOT NULL,
    label     text             NOT NULL,
    amount    double precision NOT NULL,
    PRIMARY KEY (minute, worker_id, metric, label)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
COMMENT ON TABLE series_parts IS 'Owner: stats. What each worker did in a minute, counted in the transaction that records it; the duty series folds it into series. Workers have rows of their own, so that none waits for another.';

CREATE TABLE series (
    minute  timestamptz      NOT NULL,
    metric  text             NOT NULL,
    label   text             NOT NULL,
    amount  double precision NOT NULL,
    samples integer          NOT NULL DEFAULT 0,
    most    double precision,
    PRIMARY KEY (metric, minute, label)
);
CREATE INDEX series_minute ON series USING brin (minute);
COMMENT ON TABLE series IS 'Owner: stats. Numbers by the minute, for seven days: what was done, and samples of what was to do.';
COMMENT ON COLUMN series.samples IS '0: something that is counted, amount is how much of it. Else amount is the sum of so many samples.';
COMMENT ON COLUMN series.most IS 'Of samples, the highest.';

CREATE TABLE series_days (
    day     date             NOT NULL,
    metric  text             NOT NULL,
    label   text             NOT NULL,
    amount  double precision NOT NULL,
    samples integer          NOT NULL DEFAULT 0,
    most    double precision,
    PRIMARY KEY (metric, day, label)
);
COMMENT ON TABLE series_days IS 'Owner: stats. The same by day (UTC), from minutes that became seven days old.';

CREATE TABLE series_totals (
    metric text             NOT NULL,
    label  text             NOT NULL,
    amount double precision NOT NULL,
    PRIMARY KEY (metric, label)
);
COMMENT ON TABLE series_totals IS 'Owner: stats. What was counted, since ever; together with series_parts it never goes back.';

CREATE TABLE alerts (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule            text        NOT NULL,
    subject         text        NOT NULL DEFAULT '',
    severity        text        NOT NULL CHECK (severity IN ('warning', 'critical')),
    message         text        NOT NULL,
    value           double precision,
    raised_at       timestamptz NOT NULL DEFAULT now(),
    seen_at         timestamptz NOT NULL DEFAULT now(),
    acknowledged_at timestamptz,
    acknowledged_by text,
    resolved_at     timestamptz,
    resolved_by     text,
    CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL)),
    CHECK ((resolved_at IS NULL) = (resolved_by IS NULL))
);
CREATE UNIQUE INDEX alerts_open ON alerts (rule, subject) WHERE resolved_at IS NULL;
CREATE INDEX alerts_raised ON alerts (raised_at DESC, id DESC);
COMMENT ON TABLE alerts IS 'Owner: alerts. Something a person should look at: raised, acknowledged, resolved. One at most is open for a rule and a subject.';
COMMENT ON COLUMN alerts.subject IS 'What it is about, such as a domain or a duty; empty: all of it.';
COMMENT ON COLUMN alerts.seen_at IS 'When its rule last found it so.';
COMMENT ON COLUMN alerts.resolved_by IS 'A person, or rule: it was quiet for long enough.';

CREATE TABLE alert_events (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    alert_id bigint      NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
    what     text        NOT NULL CHECK (what IN ('raised', 'acknowledged', 'resolved')),
    at       timestamptz NOT NULL DEFAULT now(),
    by       text        NOT NULL,
    note     text
);
CREATE INDEX alert_events_of ON alert_events (alert_id, id);
COMMENT ON TABLE alert_events IS 'Owner: alerts. What happened to an alert, when, and by whom.';

CREATE TABLE alert_watches (
    rule        text        NOT NULL,
    subject     text        NOT NULL,
    bad_since   timestamptz,
    quiet_since timestamptz,
    seen_at     timestamptz NOT NULL,
    PRIMARY KEY (rule, subject)
);
COMMENT ON TABLE alert_watches IS 'Owner: alerts. What a rule began to find, and not yet long enough; and open alerts that began to be quiet.';

CREATE TABLE alert_mutes (
    rule        text        NOT NULL,
    subject     text        NOT NULL DEFAULT '',
    muted_until timestamptz NOT NULL,
    muted_by    text        NOT NULL,
    reason      text,
    PRIMARY KEY (rule, subject)
);
COMMENT ON TABLE alert_mutes IS 'Owner: alerts. Rules nobody is told of for a while; an empty subject stands for all of them. Their alerts are raised and shown all the same.';

CREATE TABLE alert_targets (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url        text        NOT NULL UNIQUE CHECK (length(url) BETWEEN 1 AND 2000),
    severity   text        NOT NULL DEFAULT 'warning' CHECK (severity IN ('warning', 'critical')),
    is_active  boolean     NOT NULL DEFAULT true,
    created_by text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE alert_targets IS 'Owner: alerts. Webhooks that are told when an alert is raised and when it is resolved.';
COMMENT ON COLUMN alert_targets.severity IS 'Told of this severity and worse.';

CREATE TABLE error_days (
    day         date        NOT NULL,
    fingerprint text        NOT NULL,
    code        text        NOT NULL,
    blame       text        NOT NULL,
    shape       text        NOT NULL,
    failures    integer     NOT NULL,
    domains     integer     NOT NULL,
    first_at    timestamptz NOT NULL,
    last_at     timestamptz NOT NULL,
    sample      text        NOT NULL,
    sample_task bigint,
    PRIMARY KEY (fingerprint, day)
);
CREATE INDEX error_days_day ON error_days (day);
COMMENT ON TABLE error_days IS 'Owner: stats. Failures by what they have in common, on a day (UTC): written by the duty errors, kept when the history has moved away.';
COMMENT ON COLUMN error_days.shape IS 'The message without what differs from one failure to the next.';

CREATE INDEX errors_task ON errors (task_id);
CREATE INDEX crawl_tasks_ours ON crawl_tasks (completed_at) WHERE outcome = 'failed' AND blame IN ('us', 'parser');
CREATE INDEX product_days_day ON product_days (day);

CREATE FUNCTION error_shape(message text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT left(regexp_replace(regexp_replace(left(message, 1000), '''[^'']*''|"[^"]*"', '…', 'g'),
                               '[^\s''"]*([0-9/]|[.:][^\s''"])[^\s''"]*', '…', 'g'), 300)
$$;
COMMENT ON FUNCTION error_shape IS 'What messages of one problem have in common: without quoted text, and without words that are URLs, names of hosts or numbers.';

CREATE FUNCTION stack_shape(stack text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT COALESCE(string_agg(frame[1] || ':' || frame[2], ' < ' ORDER BY n DESC), '')
    FROM (SELECT frame, n FROM regexp_matches(stack, 'File "(?:[^"]*/)?([^"/]+)", line \d+, in ([^\s]+)', 'g') WITH ORDINALITY AS f (frame, n)
          ORDER BY n DESC LIMIT 3) last
$$;
COMMENT ON FUNCTION stack_shape IS 'The innermost three frames of a stack trace, without line numbers: the same bug after a change elsewhere in the file.';

CREATE FUNCTION failure_shape(code text, message text, stack text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN stack IS NOT NULL THEN left(split_part(message, ':', 1), 100) || ' at ' || stack_shape(stack)
                WHEN code = 'http_status' THEN left(message, 300)
                ELSE COALESCE(error_shape(message), '') END
$$;
COMMENT ON FUNCTION failure_shape IS 'What failures of one problem have in common. Of a bug it is the place, of a refusal the status code, else the message.';
