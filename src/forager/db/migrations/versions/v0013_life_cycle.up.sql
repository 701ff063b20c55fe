CREATE TABLE cold_slices (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text        NOT NULL CHECK (kind IN ('visits', 'failures', 'pages')),
    month        date        NOT NULL CHECK (EXTRACT(day FROM month) = 1),
    status       text        NOT NULL DEFAULT 'writing' CHECK (status IN ('writing', 'moving', 'moved', 'purged')),
    file         text        NOT NULL DEFAULT '',
    row_count    bigint      NOT NULL DEFAULT 0,
    moved        bigint      NOT NULL DEFAULT 0,
    first_id     bigint,
    last_id      bigint,
    size_bytes   bigint      NOT NULL DEFAULT 0,
    stored_bytes bigint      NOT NULL DEFAULT 0,
    sha256       bytea       CHECK (octet_length(sha256) = 32),
    revision     text        NOT NULL,
    created_by   text        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    moved_at     timestamptz,
    CHECK (status = 'writing' OR (sha256 IS NOT NULL AND file <> '' AND first_id IS NOT NULL AND last_id IS NOT NULL)),
    CHECK (moved <= row_count)
);
CREATE INDEX cold_slices_month ON cold_slices (month, kind);
COMMENT ON TABLE cold_slices IS 'Owner: frontier. Visits that left the history for a file, month by month, and signals of pages that are there no longer. The row is there before the file is written, and says moving before the first of it goes.';
COMMENT ON COLUMN cold_slices.month IS 'In which its visits ended, or its pages were last read (UTC): the first of it.';
COMMENT ON COLUMN cold_slices.file IS 'Below the folder of cold files.';
COMMENT ON COLUMN cold_slices.moved IS 'How many of its visits left the history so far.';
COMMENT ON COLUMN cold_slices.sha256 IS 'Of the file as it is on disk.';
COMMENT ON COLUMN cold_slices.revision IS 'Of the schema the visits were written under.';

CREATE TABLE departures (
    domain_id bigint       NOT NULL,
    run_id    bigint,
    outcome   task_outcome NOT NULL,
    is_image  boolean      NOT NULL,
    tasks     bigint       NOT NULL,
    errors    bigint       NOT NULL,
    refused   bigint       NOT NULL,
    UNIQUE NULLS NOT DISTINCT (domain_id, run_id, outcome, is_image)
);
CREATE INDEX departures_run ON departures (run_id);
COMMENT ON TABLE departures IS 'Owner: frontier. Closed tasks that left the history, counted in the transaction that took them: what counters are recounted from, together with those that are there.';
COMMENT ON COLUMN departures.errors IS 'Of them, those the site or the network was to blame for.';
COMMENT ON COLUMN departures.refused IS 'Of them, those that were answered 400 or higher.';

CREATE TABLE restored_tasks (
    slice_id     bigint      NOT NULL REFERENCES cold_slices (id),
    id           bigint      NOT NULL,
    page_id      bigint      NOT NULL,
    domain_id    bigint      NOT NULL,
    domain       text        NOT NULL,
    url          text        NOT NULL,
    outcome      text        NOT NULL,
    status_code  smallint,
    error_code   text,
    completed_at timestamptz NOT NULL,
    fields       jsonb       NOT NULL,
    PRIMARY KEY (slice_id, id)
);
CREATE INDEX restored_tasks_page ON restored_tasks (page_id, id);
COMMENT ON TABLE restored_tasks IS 'Owner: frontier. Visits read back from cold files, beside the history, to look at; nothing else counts them.';
COMMENT ON COLUMN restored_tasks.fields IS 'Every column the visit had, as text.';

CREATE TABLE restored_pages (
    slice_id   bigint      NOT NULL REFERENCES cold_slices (id),
    id         bigint      NOT NULL,
    domain_id  bigint      NOT NULL,
    domain     text        NOT NULL,
    url        text        NOT NULL,
    title      text,
    fetched_at timestamptz NOT NULL,
    fields     jsonb       NOT NULL,
    PRIMARY KEY (slice_id, id)
);
COMMENT ON TABLE restored_pages IS 'Owner: frontier. Signals of pages read back from cold files, to look at; the pages themselves never left.';
COMMENT ON COLUMN restored_pages.fields IS 'Everything the file says of the page, as text.';

CREATE TABLE purges (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    purged_at timestamptz NOT NULL DEFAULT now(),
    purged_by text        NOT NULL,
    reason    text        NOT NULL,
    what      text        NOT NULL CHECK (what IN ('domain', 'pages', 'tasks', 'cold')),
    subject   text        NOT NULL,
    counts    jsonb       NOT NULL DEFAULT '{}',
    tasks     bigint      NOT NULL DEFAULT 0
);
COMMENT ON TABLE purges IS 'Owner: control. What an operator had deleted for good: who, when, why, how much.';
COMMENT ON COLUMN purges.tasks IS 'Closed tasks that left the history by it.';

CREATE TABLE storage_days (
    day        date   NOT NULL,
    what       text   NOT NULL,
    size_bytes bigint NOT NULL,
    rows       bigint NOT NULL,
    PRIMARY KEY (what, day)
);
COMMENT ON TABLE storage_days IS 'Owner: stats. How large tables were on a day (UTC), to see them grow.';

ALTER TABLE domains ADD COLUMN history_retention_s double precision CHECK (history_retention_s > 0);
COMMENT ON COLUMN domains.history_retention_s IS 'Its visits leave for cold files after so long; NULL: as the settings say.';

CREATE FUNCTION next_time(since timestamptz, at time, weekday integer) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT min(m.moment)
    FROM (SELECT ((since AT TIME ZONE 'UTC')::date + n + at) AT TIME ZONE 'UTC' AS moment FROM generate_series(0, 7) AS n) m
    WHERE m.moment > since AND (weekday IS NULL OR EXTRACT(isodow FROM m.moment AT TIME ZONE 'UTC') = weekday)
$$;
COMMENT ON FUNCTION next_time IS 'The next moment with this time of day (UTC), on this day of the week (1 is Monday) or any; NULL without a time.';

CREATE FUNCTION old_visits(visit_s double precision, failure_s double precision) RETURNS SETOF crawl_tasks LANGUAGE sql STABLE AS $$
    SELECT t.*
    FROM crawl_tasks t JOIN domains d ON d.id = t.domain_id
    WHERE t.outcome IS NOT NULL
      AND t.completed_at < (SELECT max(r.day) FROM domain_days r)::timestamp AT TIME ZONE 'UTC'
      AND t.completed_at < date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '1 day'
      AND t.completed_at < now() - make_interval(secs => COALESCE(
              d.history_retention_s, CASE WHEN t.outcome IN ('success', 'cancelled') THEN visit_s ELSE failure_s END))
      AND EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id AND n.outcome <> 'cancelled')
      AND (t.body_ref IS NULL
           OR (EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id AND n.body_ref IS NOT NULL)
               AND NOT EXISTS (SELECT FROM bodies b WHERE b.name = split_part(t.body_ref, ':', 2) AND b.kind = 'snapshot' AND b.dropped_at IS NULL)))
      AND (t.batch_id IS NULL OR EXISTS (SELECT FROM crawl_tasks n WHERE n.batch_id = t.batch_id AND n.page_id = t.page_id AND n.id > t.id))
      AND (t.webhook_url IS NULL OR NOT EXISTS (SELECT FROM webhook_calls w WHERE w.task_id = t.id AND w.delivered_at IS NULL))
      AND NOT EXISTS (SELECT FROM crawl_tasks n WHERE n.depends_on = t.id AND n.outcome IS NULL)
$$;
COMMENT ON FUNCTION old_visits IS 'Closed tasks that may leave for cold files: old enough, of a day that is rolled up, not the last word on their page or for their batch, no way to a body that is there, and nobody waits for them.';

CREATE FUNCTION old_pages(page_s double precision) RETURNS SETOF pages LANGUAGE sql STABLE AS $$
    SELECT p.*
    FROM pages p
    WHERE p.status IN ('gone', 'failed', 'blocked') AND p.fetched_at < now() - make_interval(secs => page_s)
      AND (p.title IS NOT NULL OR p.description IS NOT NULL OR p.keywords_tsv IS NOT NULL OR p.content_hash IS NOT NULL)
$$;
COMMENT ON FUNCTION old_pages IS 'Pages whose signals may leave for cold files: they are there no longer, and were last read long ago. NULL: none.';

CREATE OR REPLACE FUNCTION refuse_history_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('forager.purge', true) = 'on' THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    IF TG_OP = 'DELETE' AND EXISTS (
        SELECT FROM cold_slices s WHERE s.id = NULLIF(current_setting('forager.slice', true), '')::bigint AND s.status = 'moving'
                                    AND OLD.id BETWEEN s.first_id AND s.last_id) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'task % is closed: history does not change', OLD.id USING ERRCODE = 'check_violation';
END $$;
COMMENT ON FUNCTION refuse_history_change IS 'Closed tasks go into a verified cold slice, or by an audited purge, and in no other way.';
