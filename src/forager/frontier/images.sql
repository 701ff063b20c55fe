-- Images in the frontier: pages that are fetched to be stored, not to be read.

-- name: record_images
-- Saves the status of images that were visited, and the validators of the next conditional request.
UPDATE pages p
SET status = n.status::page_status,
    content_type = COALESCE(n.content_type, p.content_type), content_hash = COALESCE(n.content_hash, p.content_hash),
    etag = CASE WHEN n.content_hash IS NOT NULL THEN n.etag ELSE p.etag END,
    last_modified = CASE WHEN n.content_hash IS NOT NULL THEN n.last_modified ELSE p.last_modified END,
    fetched_at = CASE WHEN n.status = 'fetched' THEN now() ELSE p.fetched_at END,
    failed_at = CASE WHEN n.status = 'fetched' THEN p.failed_at ELSE now() END,
    comparisons = p.comparisons + (n.is_changed IS NOT NULL)::int, changes = p.changes + COALESCE(n.is_changed, false)::int,
    watched_s = p.watched_s + CASE WHEN n.is_changed IS NOT NULL THEN EXTRACT(EPOCH FROM now() - p.fetched_at) ELSE 0 END,
    changed_at = CASE WHEN n.is_changed THEN now() ELSE p.changed_at END
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::text[], $7::boolean[])
     AS n (id, status, content_type, content_hash, etag, last_modified, is_changed)
WHERE p.id = n.id;

-- name: revisit_images
-- Schedules images, given by host and key, to be fetched again completely, even if the server reports no change. Skips
-- those in progress. Returns their domains, which are locked first, as for every record.
WITH held AS MATERIALIZED (
    SELECT d.id FROM domains d WHERE d.id = ANY ($1::bigint[]) ORDER BY d.id FOR NO KEY UPDATE OF d
), again AS (
    UPDATE pages p SET etag = NULL, last_modified = NULL
    FROM unnest($1::bigint[], $2::bytea[]) AS n (domain_id, url_hash) JOIN held ON held.id = n.domain_id
    WHERE p.domain_id = n.domain_id AND p.url_hash = n.url_hash AND p.is_image AND p.status = 'fetched'
    RETURNING p.id, p.domain_id, p.priority
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by) SELECT id, domain_id, priority, $3 FROM again ORDER BY id
    ON CONFLICT (domain_id, page_id) WHERE outcome IS NULL DO NOTHING
    RETURNING domain_id
)
SELECT domain_id, count(*)::int AS images FROM made GROUP BY domain_id ORDER BY domain_id;

-- name: make_pages
-- Turns images that a link leads to into pages: they are parsed as such, and fetched again if they were fetched before.
-- Images in progress wait for the next link. Returns the changes of counters by domain; the domains are locked first,
-- as for every record.
WITH held AS MATERIALIZED (
    SELECT d.id FROM domains d WHERE d.id IN (SELECT p.domain_id FROM pages p WHERE p.id = ANY ($1::bigint[])) ORDER BY d.id FOR NO KEY UPDATE OF d
), turning AS MATERIALIZED (
    SELECT p.id, p.domain_id, p.status, v.good, v.bad
    FROM held JOIN pages p ON p.domain_id = held.id
    CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE t.outcome = 'success') AS good, count(*) FILTER (WHERE t.blame IN ('site', 'network')) AS bad
                        FROM crawl_tasks t WHERE t.page_id = p.id AND t.outcome IS NOT NULL) v
    WHERE p.id = ANY ($1::bigint[]) AND p.is_image
      AND NOT EXISTS (SELECT FROM crawl_tasks t WHERE t.domain_id = p.domain_id AND t.page_id = p.id AND t.outcome IS NULL AND t.locked_at IS NOT NULL)
), turned AS (
    UPDATE pages p
    SET is_image = false, priority = $2, status = CASE WHEN o.status IN ('discovered', 'queued') THEN o.status ELSE 'queued' END
    FROM turning o WHERE p.id = o.id
    RETURNING p.id, p.domain_id, o.status AS was, o.good, o.bad
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by)
    SELECT id, domain_id, $2, 'link' FROM turned WHERE was NOT IN ('discovered', 'queued')
    ON CONFLICT (domain_id, page_id) WHERE outcome IS NULL DO NOTHING
)
SELECT domain_id, count(*)::int AS pages, count(*) FILTER (WHERE was NOT IN ('discovered', 'queued'))::int AS waiting,
       sum(good)::int AS good, sum(bad)::int AS bad
FROM turned GROUP BY domain_id ORDER BY domain_id;
