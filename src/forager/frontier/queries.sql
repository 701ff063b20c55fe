-- The frontier: pages still discovered, and open tasks that are due. Owner of pages, crawl_tasks, page_links, errors.

-- name: claim_domains
-- Lease a worker's fair share of a run's best ready domains; SKIP LOCKED keeps claimants from waiting for each other.
WITH share AS (
    SELECT GREATEST(0, LEAST($3::int, CEIL((ready.n + held.n) / $5::float8)::int - held.mine)) AS n
    FROM (SELECT count(*) AS n FROM (
              SELECT FROM domains
              WHERE claimed_by IS NULL AND status IN ('pending', 'active') AND is_active AND ready_at IS NOT NULL
                AND run_id = $2 AND ready_at <= now() LIMIT 10000) r) ready,
         (SELECT count(*) AS n, count(*) FILTER (WHERE claimed_by = $1) AS mine FROM domains
          WHERE claimed_by IS NOT NULL AND run_id = $2) held
), best AS MATERIALIZED (
    SELECT id FROM domains
    WHERE claimed_by IS NULL AND status IN ('pending', 'active') AND is_active AND ready_at IS NOT NULL
      AND run_id = $2 AND ready_at <= now() AND (next_crawl_after IS NULL OR next_crawl_after <= now())
      AND ($6::int IS NULL OR run_pages < $6)
    ORDER BY priority_score DESC, id
    LIMIT (SELECT n FROM share)
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE domains d
SET claimed_by = $1, claim_expires_at = now() + make_interval(secs => $4), version = d.version + 1,
    status = 'active', block_reason = NULL, block_reason_code = NULL, last_crawled_at = now(), updated_at = now()
FROM best WHERE d.id = best.id
RETURNING d.id, d.name, d.version, d.crawl_delay_s, d.max_concurrent_requests, d.content_policy,
          GREATEST(0, EXTRACT(EPOCH FROM d.next_allowed_at - now()))::float8 AS wait_s;

-- name: free_tasks
-- Give back the tasks of these domains that somebody had locked: a dead worker's, or our own at a stop. They count for no run.
WITH freed AS (
    UPDATE crawl_tasks t SET locked_at = NULL, locked_by = NULL, status = 'pending', run_id = NULL
    FROM crawl_tasks before
    WHERE t.domain_id = ANY ($1::bigint[]) AND t.outcome IS NULL AND t.locked_at IS NOT NULL AND before.id = t.id
    RETURNING t.domain_id, before.run_id
)
SELECT run_id, domain_id, count(*)::int AS pages FROM freed WHERE run_id IS NOT NULL GROUP BY run_id, domain_id ORDER BY run_id, domain_id;

-- name: claim_tasks
-- The best due tasks and, after them, the best discovered pages of leased domains become locked tasks.
WITH lane AS MATERIALIZED (
    SELECT w.domain_id, LEAST(w.want, $6::int - d.run_pages)::int AS want
    FROM unnest($1::bigint[], $2::bigint[], $3::int[]) AS w (domain_id, version, want)
    JOIN domains d ON d.id = w.domain_id AND d.version = w.version AND d.claimed_by = $4
), due AS MATERIALIZED (
    SELECT t.id, t.domain_id FROM lane CROSS JOIN LATERAL (
        SELECT t.id, t.domain_id FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
        WHERE t.domain_id = lane.domain_id AND t.outcome IS NULL AND t.locked_at IS NULL
          AND t.status = 'pending' AND t.scheduled_for <= now()
          AND p.depth <= $7 AND ($8::text[] IS NULL OR p.url LIKE ANY ($8)) AND ($9::text[] IS NULL OR p.url LIKE ANY ($9))
          AND ($10::text[] IS NULL OR p.url NOT LIKE ALL ($10))
        ORDER BY t.priority, t.scheduled_for
        LIMIT GREATEST(lane.want, 0)
        FOR NO KEY UPDATE OF t SKIP LOCKED) t
), relocked AS (
    UPDATE crawl_tasks t SET locked_at = now(), locked_by = $4, status = 'crawling', run_id = $5
    FROM due WHERE t.id = due.id
    RETURNING t.id, t.page_id, t.domain_id, t.retry_count
), fresh AS MATERIALIZED (
    SELECT p.id FROM lane CROSS JOIN LATERAL (
        SELECT p.id FROM pages p
        WHERE p.domain_id = lane.domain_id AND p.status = 'discovered'
          AND p.depth <= $7 AND ($8::text[] IS NULL OR p.url LIKE ANY ($8)) AND ($9::text[] IS NULL OR p.url LIKE ANY ($9))
          AND ($10::text[] IS NULL OR p.url NOT LIKE ALL ($10))
        ORDER BY p.priority, p.id
        LIMIT GREATEST(lane.want - (SELECT count(*) FROM due WHERE due.domain_id = lane.domain_id), 0)) p
), queued AS (
    UPDATE pages p SET status = 'queued' FROM fresh WHERE p.id = fresh.id AND p.status = 'discovered'
    RETURNING p.id, p.domain_id, p.url, p.depth, p.redirects, p.priority
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, run_id, status, priority, locked_at, locked_by)
    SELECT id, domain_id, $5, 'crawling', priority, now(), $4 FROM queued ORDER BY priority, id
    RETURNING id, page_id
)
SELECT r.id AS task_id, p.id AS page_id, p.domain_id, p.url, p.depth, p.redirects, r.retry_count
FROM relocked r JOIN pages p ON p.id = r.page_id
UNION ALL
SELECT m.id, q.id, q.domain_id, q.url, q.depth, q.redirects, 0
FROM made m JOIN queued q ON q.id = m.page_id
ORDER BY task_id;

-- name: add_pages
-- Learn new pages, in key order so that workers learning the same links wait instead of deadlocking.
INSERT INTO pages (domain_id, url, url_hash, depth, priority, redirects, is_seed)
SELECT n.domain_id, n.url, n.url_hash, n.depth, n.priority, n.redirects, $7
FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::smallint[], $5::smallint[], $6::smallint[])
     AS n (domain_id, url, url_hash, depth, priority, redirects)
ORDER BY n.domain_id, n.url_hash
ON CONFLICT (domain_id, url_hash) DO NOTHING
RETURNING id, domain_id, url_hash, depth;

-- name: find_pages
-- Ids and depths of pages that were known already.
SELECT p.id, p.url_hash, p.depth
FROM unnest($1::bigint[], $2::bytea[]) AS n (domain_id, url_hash)
JOIN pages p ON p.domain_id = n.domain_id AND p.url_hash = n.url_hash;

-- name: relax_depths
-- A shorter way to a page was found: lower its depth, and that of the pages behind it.
WITH RECURSIVE better (page_id, depth) AS (
    SELECT p.id, n.depth FROM unnest($1::bigint[], $2::int[]) AS n (page_id, depth) JOIN pages p ON p.id = n.page_id AND p.depth > n.depth
    UNION
    SELECT q.id, b.depth + CASE l.rel WHEN 'redirect' THEN 0 ELSE 1 END
    FROM better b
    JOIN page_links l ON l.from_page_id = b.page_id
    JOIN pages q ON q.id = l.to_page_id AND q.depth > b.depth + CASE l.rel WHEN 'redirect' THEN 0 ELSE 1 END
), best AS (
    SELECT page_id, min(depth) AS depth FROM better GROUP BY page_id
), locked AS (
    SELECT p.id FROM pages p JOIN best ON best.page_id = p.id ORDER BY p.id FOR NO KEY UPDATE OF p
)
UPDATE pages p SET depth = best.depth
FROM best, locked WHERE p.id = best.page_id AND locked.id = p.id AND p.depth > best.depth
RETURNING p.domain_id, p.status::text AS status;

-- name: close_tasks
-- Visits end: outcome and evidence are written once; a task that is closed already stays as it is.
UPDATE crawl_tasks t
SET status = CASE n.outcome WHEN 'success' THEN 'completed'::task_status WHEN 'cancelled' THEN 'cancelled' ELSE 'failed' END,
    outcome = n.outcome::task_outcome, completed_at = now(), locked_at = NULL, locked_by = NULL,
    requested_at = n.requested_at, status_code = n.status_code, error_code = n.error_code, error_message = n.error_message,
    blame = n.blame, response_time_ms = n.response_time_ms, bytes = n.bytes
FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::int[], $9::bigint[])
     AS n (id, outcome, requested_at, status_code, error_code, error_message, blame, response_time_ms, bytes)
WHERE t.id = n.id AND t.outcome IS NULL
RETURNING t.id;

-- name: record_readings
-- Pages that were read: their signals, as of now. Language is sticky: the first one stays.
UPDATE pages p
SET status = 'fetched', fetched_at = now(), title = n.title, description = n.description,
    language = COALESCE(p.language, n.language), content_hash = n.content_hash, content_type = n.content_type,
    links_count = n.links_count, etag = n.etag, last_modified = n.last_modified,
    keywords_tsv = CASE WHEN n.config IS NOT NULL THEN
        setweight(to_tsvector(n.config::regconfig, COALESCE(n.title, '')), 'A')
        || setweight(to_tsvector(n.config::regconfig, n.headings), 'B')
        || to_tsvector(n.config::regconfig, n.words) END
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::int[], $8::text[], $9::text[],
            $10::text[], $11::text[], $12::text[])
     AS n (id, title, description, language, content_hash, content_type, links_count, etag, last_modified, config, headings, words)
WHERE p.id = n.id;

-- name: record_states
-- Pages that gave no reading: only where they stand.
UPDATE pages p
SET status = n.status::page_status,
    content_type = COALESCE(n.content_type, p.content_type),
    links_count = COALESCE(n.links_count, p.links_count),
    fetched_at = CASE WHEN n.status = 'fetched' THEN now() ELSE p.fetched_at END,
    failed_at = CASE WHEN n.status = 'fetched' THEN p.failed_at ELSE now() END
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::int[]) AS n (id, status, content_type, links_count)
WHERE p.id = n.id;

-- name: forget_links
-- Edges of pages that are about to be written anew.
DELETE FROM page_links WHERE from_page_id = ANY ($1::bigint[]);

-- name: add_links
-- Who links to whom, for a batch of pages. One joined text per page and column: 12,000 array elements cost ten times as much.
INSERT INTO page_links (domain_id, from_page_id, to_page_id, position, rel, anchor)
SELECT n.domain_id, n.page_id, l.to_page_id, l.position - 1, l.rel, COALESCE(l.anchor, '')
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[]) AS n (domain_id, page_id, places, rels, anchors)
CROSS JOIN LATERAL ROWS FROM (
    unnest(string_to_array(n.places, ',')::bigint[]),
    unnest(string_to_array(n.rels, ',')),
    unnest(string_to_array(n.anchors, E'\x1f'))) WITH ORDINALITY AS l (to_page_id, rel, anchor, position);

-- name: add_retries
-- Another try later is a new task; the closed one stays as it was.
INSERT INTO crawl_tasks (page_id, domain_id, priority, retry_count, parent_task_id, scheduled_for)
SELECT t.page_id, t.domain_id, t.priority, t.retry_count + 1, t.id, now() + make_interval(secs => n.wait_s)
FROM unnest($1::bigint[], $2::float8[]) AS n (task_id, wait_s) JOIN crawl_tasks t ON t.id = n.task_id;

-- name: add_errors
-- Stack traces of our own bugs.
INSERT INTO errors (task_id, code, message, stack)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]);

-- name: mark_seeds
-- Pages known before that were now asked for by name.
UPDATE pages SET is_seed = true, priority = 1 WHERE id = ANY ($1::bigint[]) AND NOT is_seed;

-- name: hurry_tasks
-- Pages asked for by name that were to be tried again later: now.
UPDATE crawl_tasks SET scheduled_for = now() WHERE page_id = ANY ($1::bigint[]) AND outcome IS NULL AND scheduled_for > now();

-- name: reopen_pages
-- Pages asked for by name although they failed before: a person wants another try, so each gets a new task.
WITH again AS (
    UPDATE pages SET status = 'queued' WHERE id = ANY ($1::bigint[]) AND status IN ('failed', 'blocked', 'gone')
    RETURNING id, domain_id, priority
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by) SELECT id, domain_id, priority, $2 FROM again
)
SELECT domain_id, count(*)::int AS pages FROM again GROUP BY domain_id ORDER BY domain_id;
