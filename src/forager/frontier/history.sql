-- History that leaves: into cold slices, or by a purge. Owner of archive_parts, archived_rows and restored_tasks.

-- name: plan_slices
-- What may leave now, by kind and month: visits that succeeded or were called off, failures, and signals of pages.
SELECT CASE WHEN v.outcome IN ('success', 'cancelled') THEN 'visits' ELSE 'failures' END AS kind,
       date_trunc('month', v.completed_at AT TIME ZONE 'UTC')::date AS month, count(*) AS row_count,
       sum(pg_column_size(v.*))::bigint AS size_bytes, count(DISTINCT v.domain_id) AS domains,
       min(v.completed_at) AS first_at, max(v.completed_at) AS last_at
FROM old_visits($1, $2) v GROUP BY 1, 2
UNION ALL
SELECT 'pages', date_trunc('month', p.fetched_at AT TIME ZONE 'UTC')::date, count(*), sum(pg_column_size(p.*))::bigint,
       count(DISTINCT p.domain_id), min(p.fetched_at), max(p.fetched_at)
FROM old_pages($3) p GROUP BY 2
ORDER BY 2, 1;

-- name: read_old
-- Visits of a kind and a month that may leave, behind an id, so many at once: what a slice is written from.
SELECT v.*, d.name AS domain, p.url
FROM old_visits($1, $2) v JOIN pages p ON p.id = v.page_id JOIN domains d ON d.id = v.domain_id
WHERE (v.outcome IN ('success', 'cancelled')) = ($3::text = 'visits')
  AND v.completed_at >= $4::date::timestamp AT TIME ZONE 'UTC'
  AND v.completed_at < ($4::date + interval '1 month') AT TIME ZONE 'UTC'
  AND v.id > $5
ORDER BY v.id LIMIT $6;

-- name: read_old_pages
-- Signals of pages last read in a month that may leave, behind an id, so many at once.
SELECT p.id, p.domain_id, d.name AS domain, p.url, p.status, p.discovered_at, p.fetched_at, p.failed_at, p.title, p.description, p.language,
       p.keywords_tsv, p.content_hash, p.content_type, p.links_count, p.etag, p.last_modified, p.canonical_url, p.author, p.published_at,
       p.modified_at, p.flags, p.simhash, e.headline, e.site_name, e.section, e.tags, e.rating, e.rating_count, e.published_on, e.modified_on,
       e.structured_data
FROM old_pages($1) p JOIN domains d ON d.id = p.domain_id LEFT JOIN page_details e ON e.page_id = p.id
WHERE p.fetched_at >= $2::date::timestamp AT TIME ZONE 'UTC' AND p.fetched_at < ($2::date + interval '1 month') AT TIME ZONE 'UTC' AND p.id > $3
ORDER BY p.id LIMIT $4;

-- name: delete_archived_signals
-- Signals and details of a slice's pages leave; the pages stay, with their links. One that was read again since keeps what it has. Without validators
-- the next visit brings all of it.
WITH gone AS (
    UPDATE pages p
    SET title = NULL, description = NULL, keywords_tsv = NULL, content_hash = NULL, etag = NULL, last_modified = NULL, canonical_url = NULL,
        author = NULL, published_at = NULL, modified_at = NULL, flags = NULL, simhash = NULL
    FROM archive_parts s
    WHERE s.id = $1 AND s.status = 'moving' AND p.id = ANY ($2::bigint[]) AND p.status IN ('gone', 'failed', 'blocked')
      AND p.fetched_at < (s.month + interval '1 month') AT TIME ZONE 'UTC' AND (p.title IS NOT NULL OR p.description IS NOT NULL OR p.keywords_tsv IS NOT NULL
                                                          OR p.content_hash IS NOT NULL)
    RETURNING p.id
), detailed AS (
    DELETE FROM page_details e USING gone g WHERE e.page_id = g.id
), counted AS (
    UPDATE archive_parts SET moved = moved + (SELECT count(*) FROM gone) WHERE id = $1
)
SELECT id FROM gone;

-- name: lock_archiving
-- Whether we are the one who archives or purges, until the session ends or lets go.
SELECT pg_try_advisory_lock($1);

-- name: unlock_archiving
-- Somebody else may archive.
SELECT pg_advisory_unlock($1);

-- name: begin_slice
-- A slice that is going to be written; nothing of it left yet.
INSERT INTO archive_parts (kind, month, revision, created_by)
VALUES ($1, $2, (SELECT max(revision) FROM schema_revisions), $3) RETURNING id, revision;

-- name: finish_part
-- Its file is written, durable, and was read back: from now on its visits may leave.
UPDATE archive_parts
SET status = 'moving', file = $2, row_count = $3, first_id = $4, last_id = $5, size_bytes = $6, stored_bytes = $7, sha256 = $8
WHERE id = $1 AND status = 'writing';

-- name: delete_part
-- A slice of which nothing left: it was not written to its end.
DELETE FROM archive_parts WHERE id = $1 AND status = 'writing';

-- name: open_slice
-- For the rest of the transaction the visits of this slice may leave.
SELECT set_config('forager.slice', $1, true);

-- name: delete_archived_tasks
-- Visits of a slice leave the history; what is recounted from them is written down in their place.
WITH gone AS (
    DELETE FROM crawl_tasks t USING pages p
    WHERE t.id = ANY ($2::bigint[]) AND t.outcome IS NOT NULL AND p.id = t.page_id
    RETURNING t.domain_id, t.run_id, t.outcome, t.blame, t.status_code, p.is_image
), told AS (
    INSERT INTO archived_rows AS d (domain_id, run_id, outcome, is_image, tasks, errors, refused)
    SELECT g.domain_id, g.run_id, g.outcome, g.is_image, count(*), count(*) FILTER (WHERE g.blame IN ('site', 'network')),
           count(*) FILTER (WHERE g.status_code >= 400)
    FROM gone g GROUP BY g.domain_id, g.run_id, g.outcome, g.is_image ORDER BY 1, 2, 3, 4
    ON CONFLICT (domain_id, run_id, outcome, is_image) DO UPDATE
    SET tasks = d.tasks + EXCLUDED.tasks, errors = d.errors + EXCLUDED.errors, refused = d.refused + EXCLUDED.refused
)
UPDATE archive_parts SET moved = moved + (SELECT count(*) FROM gone) WHERE id = $1
RETURNING (SELECT count(*) FROM gone)::int AS left_now;

-- name: still_there
-- Of these closed tasks, how many the history still has.
SELECT count(*)::int FROM crawl_tasks WHERE id = ANY ($1::bigint[]) AND outcome IS NOT NULL;

-- name: close_slice
-- All of a slice's visits have left.
UPDATE archive_parts SET status = 'moved', moved_at = now() WHERE id = $1 AND status = 'moving';

-- name: list_parts
-- Slices, of one month or all, in their order, with how many of their rows are restored.
SELECT s.id, s.kind, s.month, s.status, s.file, s.row_count, s.moved, s.first_id, s.last_id, s.size_bytes, s.stored_bytes, s.sha256,
       s.revision, s.created_by, s.created_at, s.moved_at, (SELECT count(*) FROM restored_tasks r WHERE r.slice_id = s.id)
                                                        + (SELECT count(*) FROM restored_pages r WHERE r.slice_id = s.id) AS restored
FROM archive_parts s WHERE ($1::date IS NULL OR s.month = $1) ORDER BY s.month, s.kind, s.id;

-- name: list_pending_parts
-- Slices whose writer was stopped.
SELECT id, kind, month, status, file, row_count, sha256 FROM archive_parts WHERE status IN ('writing', 'moving') ORDER BY id;

-- name: purge_slice
-- The file of a slice is deleted for good; the row stays for the record.
UPDATE archive_parts SET status = 'purged' WHERE id = ANY ($1::bigint[]) AND status = 'moved';

-- name: drop_restored
-- What was read back is dropped again, of one month or all; the files stay.
WITH gone AS (
    DELETE FROM restored_tasks r USING archive_parts s WHERE s.id = r.slice_id AND ($1::date IS NULL OR s.month = $1) RETURNING r.id
), pages_gone AS (
    DELETE FROM restored_pages r USING archive_parts s WHERE s.id = r.slice_id AND ($1::date IS NULL OR s.month = $1) RETURNING r.id
)
SELECT ((SELECT count(*) FROM gone) + (SELECT count(*) FROM pages_gone))::int;

-- name: merge_archived_counts
-- Domains become one, and so does what is told of visits that left them.
WITH gone AS (
    DELETE FROM archived_rows WHERE domain_id = ANY ($2::bigint[]) RETURNING run_id, outcome, is_image, tasks, errors, refused
)
INSERT INTO archived_rows AS d (domain_id, run_id, outcome, is_image, tasks, errors, refused)
SELECT $1, g.run_id, g.outcome, g.is_image, sum(g.tasks), sum(g.errors), sum(g.refused) FROM gone g GROUP BY g.run_id, g.outcome, g.is_image
ON CONFLICT (domain_id, run_id, outcome, is_image) DO UPDATE
SET tasks = d.tasks + EXCLUDED.tasks, errors = d.errors + EXCLUDED.errors, refused = d.refused + EXCLUDED.refused;
