-- Records that extractors find, their history, and how well extractors do. Owner of records, record_changes, extractor_days.

-- name: see_records
-- Updates records that are seen again as they were, and returns their positions in the arrays: nothing else is written for them.
UPDATE records r SET last_seen_at = GREATEST(r.last_seen_at, n.seen_at), task_id = n.task_id
FROM (SELECT row_number() OVER () AS position, u.domain_id, u.page_id, u.task_id, COALESCE(u.seen_at, now()) AS seen_at, u.extractor, u.key_hash, u.content_hash
      FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::text[], $6::bytea[], $7::bytea[])
           AS u (domain_id, page_id, task_id, seen_at, extractor, key_hash, content_hash)) n
WHERE r.domain_id = n.domain_id AND r.page_id = n.page_id AND r.extractor = n.extractor AND r.key_hash = n.key_hash
  AND r.content_hash = n.content_hash AND r.gone_at IS NULL
RETURNING n.position;

-- name: write_records
-- Adds records that are seen for the first time, in the order of their pages, and updates those that changed or are back, each with the rows of its history. Visits
-- older than the last are ignored.
WITH n AS MATERIALIZED (
    SELECT row_number() OVER () AS position, u.domain_id, u.page_id, u.task_id, COALESCE(u.seen_at, now()) AS seen_at, u.extractor, u.kind, u.key, u.key_hash, u.fields::jsonb AS fields,
           u.evidence, string_to_array(NULLIF(u.problems, ''), E'\x1f') AS problems, u.content_hash
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::text[], $10::bytea[],
                $11::text[], $12::bytea[])
         AS u (domain_id, page_id, task_id, seen_at, extractor, kind, key, key_hash, fields, evidence, problems, content_hash)
), old AS MATERIALIZED (
    SELECT r.id, r.domain_id, r.page_id, r.extractor, r.key_hash, r.content_hash, r.fields, r.gone_at, r.task_id, r.last_seen_at
    FROM records r JOIN n ON n.domain_id = r.domain_id AND n.page_id = r.page_id AND n.extractor = r.extractor AND n.key_hash = r.key_hash
    ORDER BY r.id FOR NO KEY UPDATE OF r
), fresh AS MATERIALIZED (
    SELECT n.*, old.id, old.content_hash AS old_hash, old.fields AS old_fields, old.gone_at, old.task_id IS NOT DISTINCT FROM n.task_id AS is_correction
    FROM old JOIN n ON n.domain_id = old.domain_id AND n.page_id = old.page_id AND n.extractor = old.extractor AND n.key_hash = old.key_hash
    WHERE n.seen_at >= old.last_seen_at
), added AS (
    INSERT INTO records (domain_id, page_id, extractor, kind, key, key_hash, fields, evidence, problems, content_hash, task_id,
                         first_seen_at, last_seen_at, changed_at)
    SELECT n.domain_id, n.page_id, n.extractor, n.kind, n.key, n.key_hash, n.fields, n.evidence, COALESCE(n.problems, '{}'), n.content_hash, n.task_id,
           n.seen_at, n.seen_at, n.seen_at
    FROM n
    WHERE NOT EXISTS (SELECT FROM old WHERE old.domain_id = n.domain_id AND old.page_id = n.page_id AND old.extractor = n.extractor AND old.key_hash = n.key_hash)
    ORDER BY n.domain_id, n.page_id, n.position
    ON CONFLICT DO NOTHING
    RETURNING id, domain_id, task_id, first_seen_at
), updated AS (
    UPDATE records r
    SET kind = f.kind, key = f.key, fields = f.fields, evidence = f.evidence, problems = COALESCE(f.problems, '{}'), content_hash = f.content_hash,
        task_id = f.task_id, last_seen_at = f.seen_at, gone_at = NULL,
        changed_at = CASE WHEN f.old_hash <> f.content_hash OR f.gone_at IS NOT NULL THEN f.seen_at ELSE r.changed_at END
    FROM fresh f WHERE r.id = f.id
)
INSERT INTO record_changes (domain_id, record_id, task_id, seen_at, event, field, old_value, new_value, is_correction)
SELECT a.domain_id, a.id, a.task_id, a.first_seen_at, 'first', NULL::text, NULL::jsonb, NULL::jsonb, false FROM added a
UNION ALL
SELECT f.domain_id, f.id, f.task_id, f.seen_at, 'back', NULL, NULL, NULL, f.is_correction FROM fresh f WHERE f.gone_at IS NOT NULL
UNION ALL
SELECT f.domain_id, f.id, f.task_id, f.seen_at, 'changed', x.field, x.old_value, x.new_value, f.is_correction
FROM fresh f
CROSS JOIN LATERAL (
    SELECT COALESCE(o.key, w.key) AS field, NULLIF(o.value, 'null') AS old_value, NULLIF(w.value, 'null') AS new_value
    FROM jsonb_each(f.old_fields) o FULL JOIN jsonb_each(f.fields) w ON w.key = o.key) x
WHERE x.old_value IS DISTINCT FROM x.new_value;

-- name: lose_records
-- Marks records gone that a reading of their page no longer found, by the extractors that were tried on it; returns them with their fields.
WITH pages AS MATERIALIZED (
    SELECT p.domain_id, p.page_id, p.task_id, COALESCE(p.seen_at, now()) AS seen_at, string_to_array(p.tried, E'\x1f') AS tried
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::text[]) AS p (domain_id, page_id, task_id, seen_at, tried)
), lost AS MATERIALIZED (
    SELECT r.id, r.domain_id, r.page_id, r.extractor, p.task_id, p.seen_at, r.task_id IS NOT DISTINCT FROM p.task_id AS is_correction, r.fields
    FROM pages p JOIN records r ON r.domain_id = p.domain_id AND r.page_id = p.page_id
    WHERE r.gone_at IS NULL AND r.extractor = ANY (p.tried) AND p.seen_at >= r.last_seen_at
      AND NOT EXISTS (SELECT FROM unnest($6::bigint[], $7::text[], $8::bytea[]) AS k (page_id, extractor, key_hash)
                      WHERE k.page_id = r.page_id AND k.extractor = r.extractor AND k.key_hash = r.key_hash)
    ORDER BY r.id FOR NO KEY UPDATE OF r
), marked AS (
    UPDATE records r SET gone_at = l.seen_at, changed_at = l.seen_at FROM lost l WHERE r.id = l.id
), noted AS (
    INSERT INTO record_changes (domain_id, record_id, task_id, seen_at, event, is_correction)
    SELECT l.domain_id, l.id, l.task_id, l.seen_at, 'gone', l.is_correction FROM lost l ORDER BY l.id
)
SELECT l.domain_id, l.page_id, l.extractor, ARRAY(SELECT jsonb_object_keys(l.fields)) AS fields FROM lost l;

-- name: see_unchanged
-- Updates records of pages that the server reported as not modified: they are still there, unless the reading before did not find them.
UPDATE records r SET last_seen_at = GREATEST(r.last_seen_at, now()), task_id = n.task_id
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS n (domain_id, page_id, task_id)
WHERE r.domain_id = n.domain_id AND r.page_id = n.page_id AND r.gone_at IS NULL;

-- name: count_days
-- Adds to today's counters of extractors and their fields.
INSERT INTO extractor_days AS d (domain_id, day, extractor, field, found, valid, missing, failed, last_error)
SELECT n.domain_id, (now() AT TIME ZONE 'UTC')::date, n.extractor, n.field, n.found, n.valid, n.missing, n.failed, n.last_error
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::int[], $8::text[])
     AS n (domain_id, extractor, field, found, valid, missing, failed, last_error)
ORDER BY n.domain_id, n.extractor, n.field
ON CONFLICT (domain_id, day, extractor, field)
DO UPDATE SET found = d.found + EXCLUDED.found, valid = d.valid + EXCLUDED.valid, missing = d.missing + EXCLUDED.missing,
              failed = d.failed + EXCLUDED.failed, last_error = COALESCE(EXCLUDED.last_error, d.last_error);

-- name: drop_of_duplicates
-- Deletes records of pages of these domains that another of them has too, and whose page will be removed: the next visit of the page that
-- stays finds its own.
DELETE FROM records r USING (
    SELECT p.id, first_value(p.id) OVER (PARTITION BY p.url_hash ORDER BY p.discovered_at, p.id) AS stays
    FROM pages p WHERE p.domain_id = ANY ($1::bigint[])) t
WHERE r.page_id = t.id AND t.id <> t.stays;

-- name: move_records
-- Moves the records of merged domains.
UPDATE records SET domain_id = $1 WHERE domain_id = ANY ($2::bigint[]);

-- name: move_record_changes
-- Moves the history of records of merged domains.
UPDATE record_changes SET domain_id = $1 WHERE domain_id = ANY ($2::bigint[]);

-- name: move_extractor_days
-- Sums the daily counters of merged domains.
INSERT INTO extractor_days AS kept (domain_id, day, extractor, field, found, valid, missing, failed, last_error)
SELECT $1, day, extractor, field, sum(found), sum(valid), sum(missing), sum(failed), max(last_error)
FROM extractor_days WHERE domain_id = ANY ($2::bigint[]) GROUP BY day, extractor, field
ON CONFLICT (domain_id, day, extractor, field) DO UPDATE
SET found = kept.found + EXCLUDED.found, valid = kept.valid + EXCLUDED.valid, missing = kept.missing + EXCLUDED.missing, failed = kept.failed + EXCLUDED.failed;

-- name: walk_pages
-- Returns the newest visit with a body or text of each page after a page, in page order.
SELECT p.id AS page_id, p.url, t.id AS task_id, p.is_image OR p.is_sitemap AS is_skipped
FROM (SELECT DISTINCT ON (c.page_id) c.page_id, c.id FROM crawl_tasks c
      WHERE c.body_ref IS NOT NULL AND c.page_id > $1 ORDER BY c.page_id, c.id DESC LIMIT $2) t
JOIN pages p ON p.id = t.page_id ORDER BY p.id;

-- name: queue_for_model
-- Queues pages for a model whose newest text its extractor has not read in this version. Returns how many.
WITH queued AS (
    INSERT INTO model_pages (page_id, extractor, version, task_id)
    SELECT n.page_id, n.extractor, n.version, n.task_id
    FROM unnest($1::bigint[], $2::text[], $3::int[], $4::bigint[]) AS n (page_id, extractor, version, task_id)
    LEFT JOIN model_pages o ON o.page_id = n.page_id AND o.extractor = n.extractor
    WHERE o.page_id IS NULL OR o.version <> n.version OR o.task_id < n.task_id
    ORDER BY n.page_id, n.extractor
    ON CONFLICT (page_id, extractor) DO UPDATE
    SET version = EXCLUDED.version, task_id = EXCLUDED.task_id, status = 'waiting', attempts = 0, retry_at = now(), problem = NULL
    RETURNING 1)
SELECT count(*) FROM queued;

-- name: due_for_model
-- Returns pages that wait for these extractors and are due, the longest waiting first.
SELECT m.page_id, m.extractor, m.task_id, m.attempts, p.domain_id, p.url, p.language, t.body_ref, t.completed_at,
       b.name IS NULL OR b.dropped_at IS NOT NULL AS is_deleted
FROM model_pages m
JOIN pages p ON p.id = m.page_id
LEFT JOIN crawl_tasks t ON t.id = m.task_id
LEFT JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2)
WHERE m.status = 'waiting' AND m.retry_at <= now() AND m.extractor = ANY ($1::text[])
ORDER BY m.retry_at, m.page_id LIMIT $2;

-- name: note_model_page
-- Records what became of a page in the queue; a newer visit of it stays queued.
UPDATE model_pages SET status = $4, version = $5, attempts = $6, retry_at = now() + make_interval(secs => $7), problem = $8
WHERE page_id = $1 AND extractor = $2 AND task_id = $3;

-- name: use_answer
-- Returns the answer to this text, whatever page it is of.
UPDATE model_answers SET used_at = now() WHERE extractor = $1 AND version = $2 AND text_hash = $3 RETURNING answer::text AS answer;

-- name: add_answer
-- Keeps an answer, so that the same text is never sent twice.
INSERT INTO model_answers (extractor, version, text_hash, page_id, answer, prompt_tokens, completion_tokens, took_ms)
VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8) ON CONFLICT DO NOTHING;

-- name: drop_answers
-- Deletes answers that no page used for so many seconds.
DELETE FROM model_answers WHERE used_at < now() - make_interval(secs => $1);

-- name: take_model_call
-- Counts a request to the model before it is sent; returns nothing if today's are used up, or the model is left alone for a while.
INSERT INTO model_gateway AS g (calls) VALUES (1)
ON CONFLICT (is_only) DO UPDATE
SET calls = CASE WHEN g.day = EXCLUDED.day THEN g.calls + 1 ELSE 1 END, day = EXCLUDED.day
WHERE (g.paused_until IS NULL OR g.paused_until <= now()) AND (g.day <> EXCLUDED.day OR g.calls < $1)
RETURNING g.calls;

-- name: note_model_success
-- Ends a row of failures.
UPDATE model_gateway SET failures = 0, paused_until = NULL;

-- name: note_model_failure
-- Counts a failure, and leaves the model alone for so many seconds.
UPDATE model_gateway SET failures = failures + 1, last_error = $1, last_error_at = now(),
       paused_until = CASE WHEN $2::float8 > 0 THEN now() + make_interval(secs => $2) ELSE paused_until END;

-- name: model_state
-- Returns the calls of today, the last error, for how long the model is left alone, and where the walk over pages is.
SELECT CASE WHEN day = (now() AT TIME ZONE 'UTC')::date THEN calls ELSE 0 END AS calls_today, failures, paused_until,
       COALESCE(EXTRACT(EPOCH FROM paused_until - now()), 0)::float8 AS pause_left_s, last_error, last_error_at, after_page
FROM model_gateway;

-- name: note_walk
-- Records where the walk over pages is.
INSERT INTO model_gateway (after_page) VALUES ($1) ON CONFLICT (is_only) DO UPDATE SET after_page = EXCLUDED.after_page;

-- name: count_model_pages
-- Counts the pages of each extractor that asks a model, with the last problem of one that was given up.
SELECT m.extractor, count(*) FILTER (WHERE m.status = 'waiting') AS waiting, count(*) FILTER (WHERE m.status = 'done') AS done,
       count(*) FILTER (WHERE m.status = 'failed') AS failed,
       (array_agg(m.problem ORDER BY m.retry_at DESC) FILTER (WHERE m.problem IS NOT NULL))[1] AS problem
FROM model_pages m GROUP BY m.extractor;
