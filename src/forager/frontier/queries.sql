-- The frontier: pages still discovered, and open tasks that are due. Owner of pages, crawl_tasks, page_link_lists, errors.

-- name: claim_domains
-- Lease a worker's fair share of a run's best due domains; SKIP LOCKED keeps claimants from waiting for each other.
-- Lowest round first, then the best score. The index holds due domains only, so the cost does not grow with those asleep; as an
-- array the chosen are looked up one by one, while a join of as many as there might be would read the whole table. $7 are the labels we
-- may claim for, the empty one among them: each is a range of the index, so that domains that wait for others cost us nothing. The run's live
-- workers share: those with the label that sent a heartbeat within $8 seconds and are neither drained nor paused. A worker that is lost has no share.
-- While none of them is older than $9 seconds, at least $5 workers are expected. A worker without a recent heartbeat of its own gets nothing:
-- others may take its leases at any moment. $10 and $11: only these domains, each if its lease still has the version that a message names:
-- a message that is stale, doubled or late leases nothing. NULL: all that are due.
WITH live AS MATERIALIZED (
    SELECT w.id, w.labels, w.started_at FROM workers w
    WHERE w.status = 'running' AND w.run_id = $2 AND w.heartbeat_at > now() - make_interval(secs => $8) AND w.drain_asked_at IS NULL
      AND w.pause_reason IS NULL
), mine AS MATERIALIZED (
    SELECT l.label, held.n AS held, held.mine, sharing.workers
    FROM unnest($7::text[]) AS l (label)
    CROSS JOIN LATERAL (SELECT count(*) AS n, count(*) FILTER (WHERE claimed_by = $1) AS mine
                        FROM domains WHERE claimed_by IS NOT NULL AND run_id = $2 AND worker_label = l.label) held
    CROSS JOIN LATERAL (SELECT GREATEST(1, count(*), CASE WHEN l.label = '' AND min(w.started_at) > now() - make_interval(secs => $9)
                                                          THEN $5::float8 END) AS workers
                        FROM live w WHERE l.label = '' OR l.label = ANY (w.labels)) sharing
    WHERE EXISTS (SELECT FROM workers w WHERE w.id = $1 AND w.status = 'running' AND w.heartbeat_at > now() - make_interval(secs => $8))
), share AS MATERIALIZED (
    SELECT mine.label, GREATEST(0, LEAST($3::int, CEIL((ready.n + mine.held) / mine.workers)::int - mine.mine)) AS n
    FROM mine CROSS JOIN LATERAL (
        SELECT count(*) AS n FROM (
            SELECT FROM domains
            WHERE claimed_by IS NULL AND is_due AND status IN ('pending', 'active') AND is_active AND run_id = $2 AND worker_label = mine.label
            ORDER BY round, priority_score DESC, id
            LIMIT GREATEST(0, CEIL(($3::int + mine.mine) * mine.workers) - mine.held)) r) ready
), due AS MATERIALIZED (
    SELECT c.id, c.round, c.priority_score FROM share CROSS JOIN LATERAL (
        SELECT d.id, d.round, d.priority_score FROM domains d
        WHERE $10::bigint[] IS NULL AND d.claimed_by IS NULL AND d.is_due AND d.status IN ('pending', 'active') AND d.is_active AND d.run_id = $2
          AND d.worker_label = share.label
          AND NOT EXISTS (SELECT FROM claim_conditions(d, $6::int) g WHERE NOT g.is_open)
        ORDER BY d.round, d.priority_score DESC, d.id
        LIMIT share.n
        FOR NO KEY UPDATE OF d SKIP LOCKED) c
), offered AS MATERIALIZED (
    SELECT d.id, d.round, d.priority_score, d.worker_label
    FROM (SELECT DISTINCT domain_id, version FROM unnest($10::bigint[], $11::bigint[]) AS h (domain_id, version)) n
    JOIN domains d ON d.id = n.domain_id AND d.version = n.version
    WHERE d.claimed_by IS NULL AND d.run_id = $2 AND d.worker_label = ANY ($7)
      AND NOT EXISTS (SELECT FROM claim_conditions(d, $6::int) g WHERE NOT g.is_open)
    FOR NO KEY UPDATE OF d SKIP LOCKED
), best AS MATERIALIZED (
    SELECT c.id, c.round FROM (
        SELECT due.* FROM due
        UNION ALL
        SELECT o.* FROM share CROSS JOIN LATERAL (
            SELECT id, round, priority_score FROM offered WHERE worker_label = share.label
            ORDER BY round, priority_score DESC, id
            LIMIT share.n) o) c
    ORDER BY c.round, c.priority_score DESC, c.id
    LIMIT $3::int
), round_begun AS (
    UPDATE runs SET round = r.newest FROM (SELECT max(round) AS newest FROM best) r WHERE id = $2 AND round < r.newest
)
UPDATE domains d
SET claimed_by = $1, claim_expires_at = now() + make_interval(secs => $4), version = d.version + 1,
    status = 'active', block_reason = NULL, block_reason_code = NULL, last_crawled_at = now(), has_new_settings = false
WHERE d.id = ANY (ARRAY(SELECT id FROM best))
RETURNING d.id AS domain_id, d.name AS domain, d.version, d.crawl_delay_s AS delay_s,
          GREATEST(0, EXTRACT(EPOCH FROM d.next_allowed_at - now()))::float8 AS wait_s,
          d.max_concurrent_requests, d.content_policy, d.max_pages_per_run, d.max_pages_per_template,
          d.consecutive_error_count AS errors_in_a_row, d.error_streak_code, d.unreachable_cooldowns, d.pages_crawled > 0 AS has_pages,
          EXISTS (SELECT FROM domain_proxies dp WHERE dp.domain_id = d.id) AS has_proxies, d.verifies_tls,
          COALESCE(d.revisit_every_s, CASE WHEN d.is_adaptive THEN 86400 END) AS revisit_every_s,
          CASE WHEN d.is_adaptive THEN d.revisit_price END AS revisit_price,
          COALESCE(d.pace_delay_s, 0) AS pace_delay_s, d.pace_extra_s, d.response_s, d.breaker_state, d.breaker_failures,
          COALESCE(EXTRACT(EPOCH FROM now() - d.breaker_opened_at), 0)::float8 AS breaker_open_s, d.breaker_resets,
          d.images_policy AS images, d.images_only, d.parser_name, d.rendering, d.stores_links, COALESCE(d.allow_networks, '{}') AS allow_networks;

-- name: still_claimable
-- Of domains that messages name, those that another worker may claim now: they exceed our share, or want a label that we do not have.
SELECT d.id FROM unnest($1::bigint[], $2::bigint[]) AS n (domain_id, version)
JOIN domains d ON d.id = n.domain_id AND d.version = n.version
WHERE d.claimed_by IS NULL AND d.run_id = $3 AND NOT EXISTS (SELECT FROM claim_conditions(d, $4::int) g WHERE NOT g.is_open);

-- name: free_tasks
-- Give back the tasks of these domains that somebody had locked: a dead worker's, or our own at a stop. They count for no run. What
-- was paused meanwhile stays so.
WITH freed AS (
    UPDATE crawl_tasks t
    SET locked_at = NULL, locked_by = NULL, run_id = NULL, status = CASE t.status WHEN 'paused' THEN 'paused' ELSE 'pending' END::task_status
    FROM crawl_tasks before
    WHERE t.domain_id = ANY ($1::bigint[]) AND t.outcome IS NULL AND t.locked_at IS NOT NULL AND before.id = t.id
    RETURNING t.domain_id, before.run_id
)
SELECT run_id, domain_id, count(*)::int AS pages FROM freed WHERE run_id IS NOT NULL GROUP BY run_id, domain_id ORDER BY run_id, domain_id;

-- name: claim_tasks
-- The best due tasks and, after them, the best discovered pages of leased domains become locked tasks. What a page shows is part of
-- it: images need not lie in the run's scope, and of a domain that was taken for its images nothing else is.
-- New tasks get their numbers before they are inserted, so that nobody has to find the page of each: without statistics a server
-- compares each with each, half a second of its processor for 2,560 instead of a tenth.
WITH lane AS MATERIALIZED (
    SELECT w.domain_id, LEAST(w.want, LEAST($6::int, d.max_pages_per_run) - d.run_pages)::int AS want, d.images_only
    FROM unnest($1::bigint[], $2::bigint[], $3::int[]) AS w (domain_id, version, want)
    JOIN domains d ON d.id = w.domain_id AND d.version = w.version AND d.claimed_by = $4
), due AS MATERIALIZED (
    SELECT t.id, t.domain_id FROM lane CROSS JOIN LATERAL (
        SELECT t.id, t.domain_id FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
        WHERE t.domain_id = lane.domain_id AND t.outcome IS NULL AND t.locked_at IS NULL
          AND t.status = 'pending' AND t.scheduled_for <= now()
          AND p.depth <= $7 AND (p.is_image OR ($8::text[] IS NULL OR p.url LIKE ANY ($8)) AND ($9::text[] IS NULL OR p.url LIKE ANY ($9)))
          AND ($10::text[] IS NULL OR p.url NOT LIKE ALL ($10)) AND (p.is_image OR NOT lane.images_only)
        ORDER BY t.priority, t.scheduled_for
        LIMIT GREATEST(lane.want, 0)
        FOR NO KEY UPDATE OF t SKIP LOCKED) t
), relocked AS (
    UPDATE crawl_tasks t SET locked_at = now(), locked_by = $4, status = 'crawling', run_id = $5
    FROM due WHERE t.id = due.id
    RETURNING t.id, t.page_id, t.domain_id, t.retry_count, t.revisit_every_s, t.max_retries, t.is_recurring
), fresh AS MATERIALIZED (
    SELECT p.id FROM lane CROSS JOIN LATERAL (
        SELECT p.id FROM pages p
        WHERE p.domain_id = lane.domain_id AND p.status = 'discovered'
          AND p.depth <= $7 AND (p.is_image OR ($8::text[] IS NULL OR p.url LIKE ANY ($8)) AND ($9::text[] IS NULL OR p.url LIKE ANY ($9)))
          AND ($10::text[] IS NULL OR p.url NOT LIKE ALL ($10)) AND (p.is_image OR NOT lane.images_only)
        ORDER BY p.priority, p.id
        LIMIT GREATEST(lane.want - (SELECT count(*) FROM due WHERE due.domain_id = lane.domain_id), 0)) p
), queued AS (
    UPDATE pages p SET status = 'queued' FROM fresh WHERE p.id = fresh.id AND p.status = 'discovered'
    RETURNING p.id, p.domain_id, p.url, p.depth, p.redirects, p.priority, p.revisit_every_s, p.crashes, p.is_image
), numbered AS MATERIALIZED (
    SELECT nextval('crawl_tasks_id_seq') AS task_id, q.* FROM (SELECT * FROM queued ORDER BY priority, id) q
), made AS (
    INSERT INTO crawl_tasks (id, page_id, domain_id, run_id, status, priority, locked_at, locked_by, is_image) OVERRIDING SYSTEM VALUE
    SELECT task_id, id, domain_id, $5, 'crawling', priority, now(), $4, is_image FROM numbered
)
SELECT r.id AS task_id, p.id AS page_id, p.domain_id, p.url, p.depth, p.redirects, r.retry_count,
       COALESCE(r.revisit_every_s, p.revisit_every_s) AS revisit_every_s, p.crashes, p.is_image, r.max_retries, r.is_recurring,
       p.status = 'fetched' AS is_revisit, p.etag, p.last_modified, p.content_hash, p.comparisons, p.changes,
       p.watched_s, EXTRACT(EPOCH FROM now() - p.fetched_at)::float8 AS since_s, COALESCE(p.lastmod_at > p.fetched_at, false) AS is_claimed
FROM relocked r JOIN pages p ON p.id = r.page_id
UNION ALL
SELECT n.task_id, n.id, n.domain_id, n.url, n.depth, n.redirects, 0, n.revisit_every_s, n.crashes, n.is_image, NULL, true, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false
FROM numbered n
ORDER BY task_id;

-- name: add_pages
-- Learn new pages, in key order so that workers learning the same links wait instead of deadlocking. Their domains cannot be deleted until
-- this transaction ends, as with a foreign key, which would look for the domain of each page.
WITH held AS MATERIALIZED (
    SELECT d.id FROM domains d WHERE d.id = ANY (ARRAY(SELECT DISTINCT unnest($1::bigint[]))) ORDER BY d.id FOR KEY SHARE OF d
)
INSERT INTO pages (domain_id, url, url_hash, depth, priority, redirects, is_seed, is_image)
SELECT n.domain_id, n.url, n.url_hash, n.depth, n.priority, n.redirects, $7, $8
FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::smallint[], $5::smallint[], $6::smallint[])
     AS n (domain_id, url, url_hash, depth, priority, redirects)
JOIN held ON held.id = n.domain_id
ORDER BY n.domain_id, n.url_hash
ON CONFLICT (domain_id, url_hash) DO NOTHING
RETURNING id, domain_id, url_hash, depth;

-- name: find_pages
-- Ids and depths of pages that were known already, and whether as images. In key order they cost half: neighbours are
-- found in the same block.
SELECT p.id, p.domain_id, p.url_hash, p.depth, p.is_image
FROM (SELECT * FROM unnest($1::bigint[], $2::bytea[]) AS asked (domain_id, url_hash) ORDER BY domain_id, url_hash) n
JOIN pages p ON p.domain_id = n.domain_id AND p.url_hash = n.url_hash;

-- name: next_pages
-- Known pages of domains that come after a key, so many of each, as a worker's memory takes them: 24 bytes a page, its
-- key and its id with its depth (known_table.py). Whoever is known as an image only is left out.
SELECT n.domain_id,
       (SELECT string_agg(p.url_hash || int8send(p.id << 10 | least(greatest(p.depth, 0), 1023)), ''::bytea ORDER BY p.url_hash)
        FROM (SELECT url_hash, id, depth FROM pages
              WHERE domain_id = n.domain_id AND url_hash > n.after AND NOT is_image
              ORDER BY url_hash LIMIT n.most) AS p) AS entries
FROM unnest($1::bigint[], $2::bytea[], $3::integer[]) AS n (domain_id, after, most);

-- name: update_depths
-- A shorter way to a page was found: lower its depth, and that of the pages behind it, also where its own is as low already.
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
FROM best, locked WHERE p.id = best.page_id AND locked.id = p.id AND p.depth > best.depth
RETURNING p.id, p.depth, p.domain_id, p.status::text AS status;

-- name: close_tasks
-- Visits end: outcome and evidence are written once; a task that is closed already, or was paused, stays as it is.
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
-- Pages that were read: their signals, as of now. Language is sticky: the first one stays, and chooses how keywords are stemmed; a vector that was
-- spelled beforehand is taken where it was spelled that way.
UPDATE pages p
SET status = 'fetched', fetched_at = now(), title = n.title, description = n.description,
    language = COALESCE(p.language, n.language), content_hash = n.content_hash, content_type = n.content_type,
    links_count = n.links_count, etag = n.etag, last_modified = n.last_modified,
    comparisons = p.comparisons + (n.is_changed IS NOT NULL)::int, changes = p.changes + COALESCE(n.is_changed, false)::int,
    watched_s = p.watched_s + CASE WHEN n.is_changed IS NOT NULL THEN EXTRACT(EPOCH FROM now() - p.fetched_at) ELSE 0 END,
    changed_at = CASE WHEN n.is_changed THEN now() ELSE p.changed_at END,
    flags = string_to_array(n.flags, ','), simhash = n.simhash, canonical_url = n.canonical_url, author = n.author,
    published_at = n.published_at, modified_at = n.modified_at,
    keywords_tsv = (
        SELECT CASE WHEN n.config = c.config AND n.vector IS NOT NULL THEN n.vector
               ELSE setweight(to_tsvector(c.config::regconfig, n.title_words), 'A') || setweight(to_tsvector(c.config::regconfig, n.headings), 'B')
                 || setweight(to_tsvector(c.config::regconfig, n.description_words), 'C') || to_tsvector(c.config::regconfig, n.words) END
        FROM (SELECT COALESCE(($22::text[])[array_position($21::text[], split_part(COALESCE(p.language, n.language), '-', 1))],
                              'simple') AS config) c
        WHERE n.words IS NOT NULL)
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::int[], $8::text[], $9::text[],
            $10::text[], $11::text[], $12::text[], $13::boolean[], $14::text[], $15::bigint[], $16::text[], $17::text[], $18::text[],
            $19::timestamptz[], $20::timestamptz[], $23::text[], $24::tsvector[])
     AS n (id, title, description, language, content_hash, content_type, links_count, etag, last_modified, title_words, headings, words,
           is_changed, flags, simhash, description_words, canonical_url, author, published_at, modified_at, config, vector)
WHERE p.id = n.id
RETURNING p.id, p.depth;

-- name: record_states
-- Pages that gave no reading: only where they stand.
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
-- Pages that have no links any more, or whose links are not to be stored.
DELETE FROM page_link_lists WHERE from_page_id = ANY ($1::bigint[]);

-- name: add_links
-- Who links to whom, for a batch of pages, as their newest readings have it; of a domain that does not store links, the older ones go.
-- One joined text per page and column: 12,000 array elements cost ten times as much.
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

-- name: add_retries
-- Another try later is a new task; the closed one stays as it was. Whoever waits for that one waits for the other try.
WITH made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, retry_count, parent_task_id, scheduled_for, recrawl_count, is_recurring,
                             revisit_every_s, max_retries, batch_id, webhook_url)
    SELECT t.page_id, t.domain_id, t.priority, t.retry_count + 1, t.id, now() + make_interval(secs => n.wait_s), t.recrawl_count,
           t.is_recurring, t.revisit_every_s, t.max_retries, t.batch_id, t.webhook_url
    FROM unnest($1::bigint[], $2::float8[]) AS n (task_id, wait_s) JOIN crawl_tasks t ON t.id = n.task_id
    RETURNING id, parent_task_id
)
UPDATE crawl_tasks w SET depends_on = made.id FROM made
WHERE w.depends_on = made.parent_task_id AND w.depends_on IS NOT NULL AND w.outcome IS NULL;

-- name: add_revisits
-- A recurring page gets its next task when one completes, with what was ordered for it.
INSERT INTO crawl_tasks (page_id, domain_id, priority, parent_task_id, created_by, scheduled_for, recrawl_count, revisit_every_s,
                         max_retries, webhook_url)
SELECT t.page_id, t.domain_id, t.priority, t.id, 'revisit', now() + make_interval(secs => n.wait_s), t.recrawl_count + 1,
       t.revisit_every_s, t.max_retries, t.webhook_url
FROM unnest($1::bigint[], $2::float8[]) AS n (task_id, wait_s) JOIN crawl_tasks t ON t.id = n.task_id;

-- name: note_crashes
-- Pages that were being read when their workers died: from now on they are read in a process of their own.
UPDATE pages SET crashes = crashes + 1 WHERE id = ANY ($1::bigint[]);

-- name: add_errors
-- Stack traces of our own bugs.
INSERT INTO errors (task_id, code, message, stack)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]);

-- name: mark_seeds
-- Pages known before that were now asked for by name.
UPDATE pages SET is_seed = true, priority = 1 WHERE id = ANY ($1::bigint[]) AND NOT is_seed;

-- name: run_tasks_now
-- Pages asked for by name that were to be tried again later: now. Revisits keep their time.
UPDATE crawl_tasks t SET scheduled_for = now() FROM pages p
WHERE t.page_id = ANY ($1::bigint[]) AND t.outcome IS NULL AND t.scheduled_for > now() AND p.id = t.page_id AND p.status = 'queued';

-- name: reopen_pages
-- Pages asked for by name although they failed before: a person wants another try, so each gets a new task.
WITH again AS (
    UPDATE pages SET status = 'queued', trap_id = NULL WHERE id = ANY ($1::bigint[]) AND status IN ('failed', 'blocked', 'gone')
    RETURNING id, domain_id, priority
), made AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by) SELECT id, domain_id, priority, $2 FROM again
)
SELECT domain_id, count(*)::int AS pages FROM again GROUP BY domain_id ORDER BY domain_id;

-- name: requeue_rejected
-- Pages of these domains whose last visit the address guard rejected: each gets a new task, now that the operator allows more networks.
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
