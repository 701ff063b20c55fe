-- The frontier: pages that are only discovered, and open tasks that are due. Owner of pages, crawl_tasks,
-- page_link_lists, errors.

-- name: add_pages
-- Adds new pages, in key order so that workers adding the same links wait instead of deadlocking. Their domains cannot
-- be deleted until this transaction ends, as with a foreign key, which would look up the domain of each page.
WITH held AS MATERIALIZED (
    SELECT d.id FROM domains d WHERE d.id = ANY (ARRAY(SELECT DISTINCT unnest($1::bigint[]))) ORDER BY d.id FOR KEY SHARE OF d
)
INSERT INTO pages (domain_id, url, url_hash, depth, priority, redirects, is_seed, is_image, is_sitemap)
SELECT n.domain_id, n.url, n.url_hash, n.depth, n.priority, n.redirects, $7, $8, $9
FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::smallint[], $5::smallint[], $6::smallint[])
     AS n (domain_id, url, url_hash, depth, priority, redirects)
JOIN held ON held.id = n.domain_id
ORDER BY n.domain_id, n.url_hash
ON CONFLICT (domain_id, url_hash) DO NOTHING
RETURNING id, domain_id, url_hash, depth;

-- name: find_pages
-- Returns ids and depths of known pages, and whether they are known as images. In key order they cost half: neighbours
-- are in the same block.
SELECT p.id, p.domain_id, p.url_hash, p.depth, p.is_image
FROM (SELECT * FROM unnest($1::bigint[], $2::bytea[]) AS asked (domain_id, url_hash) ORDER BY domain_id, url_hash) n
JOIN pages p ON p.domain_id = n.domain_id AND p.url_hash = n.url_hash;

-- name: next_pages
-- Returns known pages of domains after a key, up to a limit each, in the format of the URL cache: 24 bytes a page, its
-- key and its id with its depth (url_set.py). Omits pages known only as images.
SELECT n.domain_id,
       (SELECT string_agg(p.url_hash || int8send(p.id << 10 | least(greatest(p.depth, 0), 1023)), ''::bytea ORDER BY p.url_hash)
        FROM (SELECT url_hash, id, depth FROM pages
              WHERE domain_id = n.domain_id AND url_hash > n.after AND NOT is_image
              ORDER BY url_hash LIMIT n.most) AS p) AS entries
FROM unnest($1::bigint[], $2::bytea[], $3::integer[]) AS n (domain_id, after, most);

-- name: update_depths
-- Lowers the depth of a page to which a shorter path was found, and that of the pages behind it, also if its own is
-- already as low.
WITH RECURSIVE better (page_id, depth) AS (
    SELECT p.id, n.depth FROM unnest($1::bigint[], $2::int[]) AS n (page_id, depth) JOIN pages p ON p.id = n.page_id AND p.depth >= n.depth
    UNION
    SELECT q.id, b.depth + step.depth
    FROM better b
    JOIN page_link_lists l ON l.from_page_id = b.page_id
    CROSS JOIN LATERAL (SELECT CASE l.rels WHEN 'redirect' THEN 0 ELSE 1 END AS depth) step
    JOIN pages q ON q.id = ANY (l.to_page_ids) AND q.depth > b.depth + step.depth
), best AS (
    SELECT page_id, min(depth) AS depth FROM better GROUP BY page_id
), locked AS (
    SELECT p.id FROM pages p JOIN best ON best.page_id = p.id ORDER BY p.id FOR NO KEY UPDATE OF p
)
UPDATE pages p SET depth = best.depth
FROM best, locked, pages before
WHERE p.id = best.page_id AND locked.id = p.id AND p.depth > best.depth AND before.id = p.id
RETURNING p.id, p.depth, p.domain_id, p.status::text AS status, before.depth AS was_depth, p.priority, p.url, p.is_seed, p.is_image;

-- name: rerank_pages
-- Sets the priority of pages that were found again nearer to a seed, and of their waiting tasks. A priority that was
-- set by a person meanwhile stays.
WITH ranked AS (
    UPDATE pages p SET priority = n.priority
    FROM unnest($1::bigint[], $2::smallint[], $3::smallint[]) AS n (page_id, was, priority)
    WHERE p.id = n.page_id AND p.priority = n.was
    RETURNING p.id, p.domain_id, n.was, p.priority
)
UPDATE crawl_tasks t SET priority = r.priority
FROM ranked r
WHERE t.domain_id = r.domain_id AND t.page_id = r.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.priority = r.was;

-- name: close_tasks
-- Closes visits: outcome and evidence are written once; a task that is already closed, or was paused, stays unchanged.
UPDATE crawl_tasks t
SET status = CASE n.outcome WHEN 'success' THEN 'completed'::task_status WHEN 'cancelled' THEN 'cancelled' ELSE 'failed' END,
    outcome = n.outcome::task_outcome, completed_at = now(), locked_at = NULL, locked_by = NULL,
    requested_at = n.requested_at, status_code = n.status_code, error_code = n.error_code, error_message = n.error_message,
    blame = n.blame, response_time_ms = n.response_time_ms, bytes = n.bytes, is_changed = n.is_changed,
    pace_ms = LEAST(t.pace_ms, n.pace_ms), earlier_requests = t.earlier_requests || n.earlier_requests::timestamptz[], proxy_id = n.proxy_id, body_ref = n.body_ref
FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::int[], $9::bigint[],
            $10::boolean[], $11::int[], $12::text[], $13::bigint[], $14::text[])
     AS n (id, outcome, requested_at, status_code, error_code, error_message, blame, response_time_ms, bytes, is_changed, pace_ms,
           earlier_requests, proxy_id, body_ref)
WHERE t.id = n.id AND t.outcome IS NULL AND t.status NOT IN ('paused', 'pending')
RETURNING t.id;

-- name: save_signals
-- Saves the current signals of pages that were read. The language is sticky: the first one stays, and determines how
-- keywords are stemmed; a vector encoded by the client is used if it was encoded with the same configuration. Returns which pages have
-- no keywords now: their text is sent only then, because sending it for all would double what a batch carries.
UPDATE pages p
SET status = 'fetched', fetched_at = now(), title = n.title, description = n.description,
    language = COALESCE(p.language, n.language), content_hash = n.content_hash, content_type = n.content_type,
    links_count = n.links_count, etag = n.etag, last_modified = n.last_modified,
    comparisons = p.comparisons + (n.is_changed IS NOT NULL)::int, changes = p.changes + COALESCE(n.is_changed, false)::int,
    watched_s = p.watched_s + CASE WHEN n.is_changed IS NOT NULL THEN EXTRACT(EPOCH FROM now() - p.fetched_at) ELSE 0 END,
    changed_at = CASE WHEN n.is_changed THEN now() ELSE p.changed_at END,
    flags = string_to_array(n.flags, ','), simhash = n.simhash, canonical_url = n.canonical_url, author = n.author,
    published_at = n.published_at, modified_at = n.modified_at,
    keywords_tsv = CASE WHEN n.config = COALESCE(
        ($18::text[])[array_position($17::text[], split_part(COALESCE(p.language, n.language), '-', 1))], 'simple') THEN n.vector END
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::int[], $8::text[], $9::text[],
            $10::boolean[], $11::text[], $12::bigint[], $13::text[], $14::text[], $15::timestamptz[], $16::timestamptz[],
            $19::text[], $20::tsvector[])
     AS n (id, title, description, language, content_hash, content_type, links_count, etag, last_modified,
           is_changed, flags, simhash, canonical_url, author, published_at, modified_at, config, vector)
WHERE p.id = n.id
RETURNING p.id, p.depth, p.keywords_tsv IS NULL AS lacks_keywords;

-- name: save_keywords
-- Has PostgreSQL build the keywords of pages, in the configuration of the language that each of them has.
UPDATE pages p
SET keywords_tsv = (
    SELECT setweight(to_tsvector(c.config::regconfig, n.title), 'A') || setweight(to_tsvector(c.config::regconfig, n.headings), 'B')
        || setweight(to_tsvector(c.config::regconfig, n.description), 'C') || to_tsvector(c.config::regconfig, n.words)
    FROM (SELECT COALESCE(($7::text[])[array_position($6::text[], split_part(p.language, '-', 1))], 'simple') AS config) c)
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) AS n (id, title, headings, description, words)
WHERE p.id = n.id;

-- name: record_states
-- Saves only the status of pages without a reading.
UPDATE pages p
SET status = n.status::page_status,
    content_type = COALESCE(n.content_type, p.content_type),
    links_count = COALESCE(n.links_count, p.links_count),
    fetched_at = CASE WHEN n.status = 'fetched' THEN now() ELSE p.fetched_at END,
    failed_at = CASE WHEN n.status = 'fetched' THEN p.failed_at ELSE now() END,
    comparisons = p.comparisons + (n.is_changed IS NOT NULL)::int,
    watched_s = p.watched_s + CASE WHEN n.is_changed IS NOT NULL THEN EXTRACT(EPOCH FROM now() - p.fetched_at) ELSE 0 END
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::boolean[]) AS n (id, status, content_type, links_count, is_changed)
WHERE p.id = n.id
RETURNING p.id, p.depth;

-- name: delete_links
-- Deletes the links of pages that no longer have any, or whose links are not to be stored.
DELETE FROM page_link_lists WHERE from_page_id = ANY ($1::bigint[]);

-- name: add_links
-- Replaces the links of a batch of pages by those of their newest readings; deletes the old ones of a domain that does
-- not store links. One joined text per page and column: 12,000 array elements cost ten times as much.
WITH silent AS (
    SELECT d.id FROM domains d WHERE d.id = ANY ($1) AND NOT d.stores_links
), forgotten AS (
    DELETE FROM page_link_lists l
    USING unnest($1::bigint[], $2::bigint[]) AS n (domain_id, page_id), silent s
    WHERE s.id = n.domain_id AND l.from_page_id = n.page_id
)
INSERT INTO page_link_lists AS l (domain_id, from_page_id, to_page_ids, rels, anchors)
SELECT n.domain_id, n.page_id, string_to_array(n.places, ',')::bigint[], n.rels, n.anchors
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[]) AS n (domain_id, page_id, places, rels, anchors)
WHERE n.domain_id NOT IN (SELECT s.id FROM silent s)
ON CONFLICT (from_page_id) DO UPDATE
SET domain_id = EXCLUDED.domain_id, to_page_ids = EXCLUDED.to_page_ids, rels = EXCLUDED.rels, anchors = EXCLUDED.anchors
WHERE (l.domain_id, l.to_page_ids, l.rels, l.anchors) IS DISTINCT FROM
      (EXCLUDED.domain_id, EXCLUDED.to_page_ids, EXCLUDED.rels, EXCLUDED.anchors);

-- name: delete_external_links
-- Deletes the links out of scope of pages that have none any more, or of domains that do not store them.
DELETE FROM external_link_lists WHERE from_page_id = ANY ($1::bigint[]);

-- name: add_external_links
-- Replaces the links out of scope of a batch of pages by those of their newest readings.
INSERT INTO external_link_lists AS l (from_page_id, urls, rels, anchors)
SELECT n.* FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS n (page_id, urls, rels, anchors)
ON CONFLICT (from_page_id) DO UPDATE SET urls = EXCLUDED.urls, rels = EXCLUDED.rels, anchors = EXCLUDED.anchors
WHERE (l.urls, l.rels, l.anchors) IS DISTINCT FROM (EXCLUDED.urls, EXCLUDED.rels, EXCLUDED.anchors);

-- name: add_retries
-- Adds a new task for each retry; the closed one stays unchanged. Tasks that depend on the closed one then depend on
-- the retry.
WITH made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, retry_count, parent_task_id, scheduled_for, recrawl_count, is_recurring,
                             revisit_every_s, max_retries, batch_id, webhook_url, is_urgent)
    SELECT t.page_id, t.domain_id, t.priority, t.retry_count + 1, t.id, now() + make_interval(secs => n.wait_s), t.recrawl_count,
           t.is_recurring, t.revisit_every_s, t.max_retries, t.batch_id, t.webhook_url, t.is_urgent
    FROM unnest($1::bigint[], $2::float8[]) AS n (task_id, wait_s) JOIN crawl_tasks t ON t.id = n.task_id
    RETURNING id, parent_task_id
)
UPDATE crawl_tasks w SET depends_on = made.id FROM made
WHERE w.depends_on = made.parent_task_id AND w.depends_on IS NOT NULL AND w.outcome IS NULL;

-- name: add_revisits
-- Adds the next task of a recurring page when one completes, with the options that were ordered for it. It is urgent if
-- a person ordered urgent visits with a frequency of their own, not if the domain's frequency repeats an urgent visit.
INSERT INTO crawl_tasks (page_id, domain_id, priority, parent_task_id, created_by, scheduled_for, recrawl_count, revisit_every_s,
                         max_retries, webhook_url, is_urgent)
SELECT t.page_id, t.domain_id, t.priority, t.id, 'revisit', now() + make_interval(secs => n.wait_s), t.recrawl_count + 1,
       t.revisit_every_s, t.max_retries, t.webhook_url, t.is_urgent AND t.revisit_every_s IS NOT NULL
FROM unnest($1::bigint[], $2::float8[]) AS n (task_id, wait_s) JOIN crawl_tasks t ON t.id = n.task_id;

-- name: note_crashes
-- Counts a crash of pages that were being parsed when their workers died: from now on they are parsed in an isolated
-- process.
UPDATE pages SET crashes = crashes + 1 WHERE id = ANY ($1::bigint[]);

-- name: add_errors
-- Saves stack traces of our own bugs.
INSERT INTO errors (task_id, code, message, stack)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]);

-- name: mark_seeds
-- Marks known pages as seeds, because they were now requested explicitly.
UPDATE pages SET is_seed = true, priority = 1 WHERE id = ANY ($1::bigint[]) AND NOT is_seed;

-- name: run_tasks_now
-- Makes pending retries of explicitly requested pages due now. Revisits keep their time.
UPDATE crawl_tasks t SET scheduled_for = now() FROM pages p
WHERE t.page_id = ANY ($1::bigint[]) AND t.outcome IS NULL AND t.scheduled_for > now() AND p.id = t.page_id AND p.status = 'queued';

-- name: reopen_pages
-- Adds a new task for each explicitly requested page that failed before: a person wants another attempt.
WITH again AS (
    UPDATE pages SET status = 'queued', trap_id = NULL WHERE id = ANY ($1::bigint[]) AND status IN ('failed', 'blocked', 'gone')
    RETURNING id, domain_id, priority
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by) SELECT id, domain_id, priority, $2 FROM again
)
SELECT domain_id, count(*)::int AS pages FROM again GROUP BY domain_id ORDER BY domain_id;

-- name: revisit_seeds
-- Makes a visit due now for each explicitly requested page that was read before: a person who asks again wants to know
-- what is new. While one of their domains has pages waiting, the same command resumes a crawl that is under way: then
-- pages that were read less than $3 seconds ago are left alone. Returns the domains of these pages with the time of the
-- visit. The caller holds the domains.
WITH known AS MATERIALIZED (
    SELECT p.id, p.domain_id, p.priority, p.status, p.fetched_at, p.is_image, d.status IN ('pending', 'active') AND d.frontier_size > 0 AS is_under_way
    FROM pages p JOIN domains d ON d.id = p.domain_id WHERE p.id = ANY ($1::bigint[])
), wanted AS MATERIALIZED (
    SELECT k.id, k.domain_id, k.priority FROM known k
    WHERE k.status = 'fetched' AND NOT k.is_image
      AND (k.fetched_at < now() - make_interval(secs => $3) OR NOT EXISTS (SELECT FROM known u WHERE u.is_under_way))
), sooner AS (
    UPDATE crawl_tasks t SET scheduled_for = now() FROM wanted w
    WHERE t.domain_id = w.domain_id AND t.page_id = w.id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending'
      AND t.scheduled_for > now()
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by) SELECT id, domain_id, priority, $2 FROM wanted ORDER BY id
    ON CONFLICT (domain_id, page_id) WHERE outcome IS NULL DO NOTHING
)
SELECT DISTINCT domain_id, now() AS due_at FROM wanted ORDER BY domain_id;

-- name: not_visited_in_run
-- Returns those of these pages that were not visited since a run began.
SELECT p.id FROM pages p JOIN runs r ON r.id = $2
WHERE p.id = ANY ($1::bigint[]) AND COALESCE(GREATEST(p.fetched_at, p.failed_at), '-infinity') < r.started_at;

-- name: requeue_rejected
-- Adds a new task for each page of these domains whose last visit the address guard rejected, now that the operator
-- allows more networks.
WITH again AS (
    UPDATE pages p SET status = 'queued'
    WHERE p.domain_id = ANY ($1::bigint[]) AND p.status = 'failed'
      AND (SELECT t.error_code FROM crawl_tasks t WHERE t.page_id = p.id AND t.outcome IS NOT NULL ORDER BY t.id DESC LIMIT 1)
          = 'address_refused'
    RETURNING p.id, p.domain_id, p.priority
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by) SELECT id, domain_id, priority, $2 FROM again
)
SELECT domain_id, count(*)::int AS pages FROM again GROUP BY domain_id ORDER BY domain_id;
