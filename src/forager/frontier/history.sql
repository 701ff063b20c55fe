-- Moves history to archive parts, or purges it. Owner of archive_parts, archived_rows and restored_tasks.

-- name: plan_slices
-- Returns what may be archived now, by kind and month: visits that succeeded or were cancelled, failures, and signals
-- of pages.
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
-- Returns visits of a kind and a month that may be archived, after an id, up to a limit: the content of an archive
-- part.
SELECT v.*, d.name AS domain, p.url
FROM old_visits($1, $2) v JOIN pages p ON p.id = v.page_id JOIN domains d ON d.id = v.domain_id
WHERE (v.outcome IN ('success', 'cancelled')) = ($3::text = 'visits')
  AND v.completed_at >= $4::date::timestamp AT TIME ZONE 'UTC'
  AND v.completed_at < ($4::date + interval '1 month') AT TIME ZONE 'UTC'
  AND v.id > $5
ORDER BY v.id LIMIT $6;

-- name: read_old_pages
-- Returns signals of pages last read in a month that may be archived, after an id, up to a limit.
SELECT p.id, p.domain_id, d.name AS domain, p.url, p.status, p.discovered_at, p.fetched_at, p.failed_at, p.title, p.description, p.language,
       p.keywords_tsv, p.content_hash, p.content_type, p.links_count, p.etag, p.last_modified, p.canonical_url, p.author, p.published_at,
       p.modified_at, p.flags, p.simhash, e.headline, e.site_name, e.section, e.tags, e.rating, e.rating_count, e.published_on, e.modified_on,
       e.structured_data
FROM old_pages($1) p JOIN domains d ON d.id = p.domain_id LEFT JOIN page_details e ON e.page_id = p.id
WHERE p.fetched_at >= $2::date::timestamp AT TIME ZONE 'UTC' AND p.fetched_at < ($2::date + interval '1 month') AT TIME ZONE 'UTC' AND p.id > $3
ORDER BY p.id LIMIT $4;

-- name: delete_archived_signals
-- Deletes signals and details of an archive part's pages; the pages stay, with their links. A page that was read again
-- since keeps its signals. Without validators the next visit fetches the page completely.
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
-- Returns whether this session got the lock for archiving and purging, held until the session ends or releases it.
SELECT pg_try_advisory_lock($1);

-- name: unlock_archiving
-- Releases the lock for archiving and purging.
SELECT pg_advisory_unlock($1);

-- name: begin_slice
-- Adds an archive part that is about to be written; nothing of it was deleted yet.
INSERT INTO archive_parts (kind, month, revision, created_by)
VALUES ($1, $2, (SELECT max(revision) FROM schema_revisions), $3) RETURNING id, revision;

-- name: finish_part
-- Marks the file of a part as written, durable and verified by reading it: from now on its visits may be deleted.
UPDATE archive_parts
SET status = 'moving', file = $2, row_count = $3, first_id = $4, last_id = $5, size_bytes = $6, stored_bytes = $7, sha256 = $8
WHERE id = $1 AND status = 'writing';

-- name: delete_part
-- Deletes an archive part that was not completely written, and of which nothing was deleted.
DELETE FROM archive_parts WHERE id = $1 AND status = 'writing';

-- name: open_slice
-- Permits the deletion of this part's visits for the rest of the transaction.
SELECT set_config('forager.slice', $1, true);

-- name: delete_archived_tasks
-- Deletes the visits of an archive part from the history; saves the counts that counters are recounted from.
WITH gone AS (
    DELETE FROM crawl_tasks t USING pages p
    WHERE t.id = ANY ($2::bigint[]) AND t.outcome IS NOT NULL AND p.id = t.page_id
    RETURNING t.domain_id, t.run_id, t.outcome, t.blame, t.status_code, p.is_image, p.is_sitemap
), told AS (
    INSERT INTO archived_rows AS d (domain_id, run_id, outcome, is_image, is_sitemap, tasks, errors, refused)
    SELECT g.domain_id, g.run_id, g.outcome, g.is_image, g.is_sitemap, count(*), count(*) FILTER (WHERE g.blame IN ('site', 'network')),
           count(*) FILTER (WHERE g.status_code >= 400)
    FROM gone g GROUP BY g.domain_id, g.run_id, g.outcome, g.is_image, g.is_sitemap ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (domain_id, run_id, outcome, is_image, is_sitemap) DO UPDATE
    SET tasks = d.tasks + EXCLUDED.tasks, errors = d.errors + EXCLUDED.errors, refused = d.refused + EXCLUDED.refused
)
UPDATE archive_parts SET moved = moved + (SELECT count(*) FROM gone) WHERE id = $1
RETURNING (SELECT count(*) FROM gone)::int AS left_now;

-- name: still_there
-- Returns how many of these closed tasks are still in the history.
SELECT count(*)::int FROM crawl_tasks WHERE id = ANY ($1::bigint[]) AND outcome IS NOT NULL;

-- name: close_slice
-- Marks an archive part as complete: all of its visits were deleted from the history.
UPDATE archive_parts SET status = 'moved', moved_at = now() WHERE id = $1 AND status = 'moving';

-- name: list_parts
-- Returns archive parts of one month or all, in their order, with the number of their rows that are restored.
SELECT s.id, s.kind, s.month, s.status, s.file, s.row_count, s.moved, s.first_id, s.last_id, s.size_bytes, s.stored_bytes, s.sha256,
       s.revision, s.created_by, s.created_at, s.moved_at, (SELECT count(*) FROM restored_tasks r WHERE r.slice_id = s.id)
                                                        + (SELECT count(*) FROM restored_pages r WHERE r.slice_id = s.id) AS restored
FROM archive_parts s WHERE ($1::date IS NULL OR s.month = $1) ORDER BY s.month, s.kind, s.id;

-- name: list_pending_parts
-- Returns archive parts whose writer was interrupted.
SELECT id, kind, month, status, file, row_count, sha256 FROM archive_parts WHERE status IN ('writing', 'moving') ORDER BY id;

-- name: purge_slice
-- Marks the file of an archive part as permanently deleted; the row stays for the record.
UPDATE archive_parts SET status = 'purged' WHERE id = ANY ($1::bigint[]) AND status = 'moved';

-- name: drop_restored
-- Deletes restored rows again, of one month or all; the files stay.
WITH gone AS (
    DELETE FROM restored_tasks r USING archive_parts s WHERE s.id = r.slice_id AND ($1::date IS NULL OR s.month = $1) RETURNING r.id
), pages_gone AS (
    DELETE FROM restored_pages r USING archive_parts s WHERE s.id = r.slice_id AND ($1::date IS NULL OR s.month = $1) RETURNING r.id
)
SELECT ((SELECT count(*) FROM gone) + (SELECT count(*) FROM pages_gone))::int;

-- name: merge_archived_counts
-- Merges the counts of archived visits when domains are merged.
WITH gone AS (
    DELETE FROM archived_rows WHERE domain_id = ANY ($2::bigint[]) RETURNING run_id, outcome, is_image, is_sitemap, tasks, errors, refused
)
INSERT INTO archived_rows AS d (domain_id, run_id, outcome, is_image, is_sitemap, tasks, errors, refused)
SELECT $1, g.run_id, g.outcome, g.is_image, g.is_sitemap, sum(g.tasks), sum(g.errors), sum(g.refused) FROM gone g GROUP BY g.run_id, g.outcome, g.is_image, g.is_sitemap
ON CONFLICT (domain_id, run_id, outcome, is_image, is_sitemap) DO UPDATE
SET tasks = d.tasks + EXCLUDED.tasks, errors = d.errors + EXCLUDED.errors, refused = d.refused + EXCLUDED.refused;
