-- Stored bodies. Owner of bodies and run_bodies.

-- name: note_bodies
-- Records files that are stored, or were confirmed, as in use now, before any task refers to them. In name order,
-- because workers share them.
INSERT INTO bodies (name, kind, size_bytes, stored_bytes)
SELECT n.name, n.kind, n.size_bytes, n.stored_bytes
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS n (name, kind, size_bytes, stored_bytes)
ORDER BY n.name
ON CONFLICT (name) DO UPDATE
SET used_at = now(), dropped_at = NULL, deleted_at = NULL,
    size_bytes = bodies.size_bytes + CASE WHEN bodies.kind = 'archive' THEN excluded.size_bytes ELSE 0 END,
    stored_bytes = bodies.stored_bytes + CASE WHEN bodies.kind = 'archive' THEN excluded.stored_bytes ELSE 0 END;

-- name: count_bodies
-- Counts the storage results of a batch of a run's visits.
INSERT INTO run_bodies (run_id, what, bodies, size_bytes, stored_bytes)
SELECT $1, n.what, n.bodies, n.size_bytes, n.stored_bytes
FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) AS n (what, bodies, size_bytes, stored_bytes)
ORDER BY n.what
ON CONFLICT (run_id, what) DO UPDATE
SET bodies = run_bodies.bodies + excluded.bodies, size_bytes = run_bodies.size_bytes + excluded.size_bytes,
    stored_bytes = run_bodies.stored_bytes + excluded.stored_bytes;

-- name: read_bodies
-- Returns the storage results of a run's visits.
SELECT what, bodies FROM run_bodies WHERE run_id = $1 ORDER BY what;

-- name: newest_bodies
-- Returns for each of these pages the body that was returned or confirmed last, if its file still exists.
SELECT n.page_id, t.body_ref
FROM unnest($1::bigint[]) AS n (page_id)
CROSS JOIN LATERAL (SELECT t.body_ref FROM crawl_tasks t WHERE t.page_id = n.page_id AND t.body_ref IS NOT NULL ORDER BY t.id DESC LIMIT 1) t
JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2) AND b.dropped_at IS NULL;

-- name: drop_old
-- Drops a batch of snapshots and texts that no visit returned or confirmed for a number of seconds; their files are deleted
-- afterwards.
UPDATE bodies SET dropped_at = now()
WHERE name = ANY (ARRAY(
    SELECT name FROM bodies
    WHERE kind <> 'archive' AND dropped_at IS NULL AND used_at < now() - make_interval(secs => $1)
    ORDER BY used_at LIMIT $2
    FOR NO KEY UPDATE SKIP LOCKED))
RETURNING name;

-- name: find_dropped
-- Returns a batch of files that were dropped and not deleted yet, after a moment and a name.
SELECT name, dropped_at FROM bodies
WHERE dropped_at IS NOT NULL AND deleted_at IS NULL AND (dropped_at, name) > ($1, $2)
ORDER BY dropped_at, name LIMIT $3;

-- name: note_deleted
-- Marks files as deleted; one that a visit has returned again meanwhile is kept.
UPDATE bodies SET deleted_at = now() WHERE name = ANY ($1::text[]) AND dropped_at IS NOT NULL;

-- name: total_bodies
-- Returns what is stored, and what was, by kind.
SELECT kind, count(*) FILTER (WHERE dropped_at IS NULL) AS files, count(dropped_at) AS dropped,
       COALESCE(sum(size_bytes) FILTER (WHERE dropped_at IS NULL), 0)::bigint AS size_bytes,
       COALESCE(sum(stored_bytes) FILTER (WHERE dropped_at IS NULL), 0)::bigint AS stored_bytes,
       min(stored_at) FILTER (WHERE dropped_at IS NULL) AS oldest_at, max(used_at) AS newest_at
FROM bodies GROUP BY kind ORDER BY kind;

-- name: bodies_by_domain
-- Returns for each domain how many of its pages have a body that still exists, and its content policy.
SELECT d.name AS domain, d.content_policy, count(*) AS pages, max(t.completed_at) AS newest_at
FROM domains d
JOIN (SELECT DISTINCT ON (page_id) page_id, domain_id, body_ref, completed_at FROM crawl_tasks
      WHERE body_ref IS NOT NULL ORDER BY page_id, id DESC) t ON t.domain_id = d.id
JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2) AND b.dropped_at IS NULL
GROUP BY d.id ORDER BY pages DESC, d.name LIMIT $1;

-- name: lost_bodies
-- Returns the bodies that runs were to keep and could not, by reason.
SELECT what, sum(bodies)::bigint AS bodies, max(run_id) AS run FROM run_bodies WHERE what LIKE 'lost:%' GROUP BY what ORDER BY what;

-- name: stored_names
-- Returns every file that must exist, in batches after a name.
SELECT b.name, b.kind FROM bodies b WHERE b.dropped_at IS NULL AND b.name > $1 ORDER BY b.name LIMIT $2;

-- name: ends_of_archives
-- Returns for each WARC file the end of the last record that a task refers to.
SELECT split_part(body_ref, ':', 2) AS name, max(split_part(body_ref, ':', 3)::bigint + split_part(body_ref, ':', 4)::bigint) AS until
FROM crawl_tasks WHERE body_ref LIKE 'warc:%' GROUP BY 1;

-- name: drop_unused
-- Drops those of these snapshots and texts that no task refers to any more; the job that deletes bodies deletes their files.
UPDATE bodies b SET dropped_at = now()
WHERE b.name = ANY ($1::text[]) AND b.kind <> 'archive' AND b.dropped_at IS NULL
  AND NOT EXISTS (SELECT FROM crawl_tasks t WHERE t.body_ref = b.kind || ':' || b.name)
RETURNING b.name;
