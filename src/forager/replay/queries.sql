-- Replays of stored bodies. Owner of replays and replay_readings.

-- name: count_stored
-- Counts the pages with a body that matches, and their domains; and the pages whose body was deleted since.
WITH newest AS (
    SELECT DISTINCT ON (t.page_id) t.page_id, t.domain_id, t.body_ref, t.completed_at, t.id
    FROM crawl_tasks t
    WHERE t.body_ref IS NOT NULL AND NOT starts_with(t.body_ref, 'text:') AND ($1::bigint IS NULL OR t.domain_id = $1) AND ($2::bigint IS NULL OR t.page_id = $2)
      AND ($5::timestamptz IS NULL OR t.completed_at <= $5)
    ORDER BY t.page_id, t.id DESC
)
SELECT count(*) FILTER (WHERE b.dropped_at IS NULL) AS pages, count(b.dropped_at) AS deleted,
       count(DISTINCT n.domain_id) FILTER (WHERE b.dropped_at IS NULL) AS domains
FROM newest n JOIN bodies b ON b.name = split_part(n.body_ref, ':', 2)
WHERE ($3::timestamptz IS NULL OR n.completed_at >= $3) AND ($4::timestamptz IS NULL OR n.completed_at < $4);

-- name: has_text
-- Returns whether the text of a page was stored, from which nothing can be parsed.
SELECT EXISTS (SELECT FROM crawl_tasks t WHERE starts_with(t.body_ref, 'text:') AND ($1::bigint IS NULL OR t.domain_id = $1)
               AND ($2::bigint IS NULL OR t.page_id = $2));

-- name: next_stored
-- Returns a batch of pages after a given one, with the body each returned or confirmed last, and with what is
-- stored of them. `is_newest`: no later visit parsed anything that this body does not have.
SELECT p.id AS page_id, p.domain_id, d.name AS domain, p.url, p.depth, p.redirects, p.crashes, p.fetched_at, p.content_type, p.etag,
       p.last_modified, d.parser_name, d.images_policy, s.effective->'extractors' AS extractors, s.effective->'items' AS items, s.effective->'search_words' AS search_words,
       t.id AS task_id, t.body_ref, t.completed_at, COALESCE(t.run_id, d.run_id) AS run_id,
       b.dropped_at IS NOT NULL AS is_deleted, p.status::text AS status,
       NOT EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = p.id AND c.id > t.id AND c.outcome = 'success'
                                               AND c.status_code BETWEEN 200 AND 299) AS is_newest,
       p.title, p.description, p.language, encode(p.content_hash, 'hex') AS content_hash, p.simhash, p.links_count, p.flags,
       p.canonical_url, p.author, p.published_at, p.modified_at,
       e.headline, e.site_name, e.section, e.tags, e.rating, e.rating_count, e.published_on, e.modified_on
FROM (SELECT DISTINCT ON (c.page_id) c.page_id, c.id, c.body_ref, c.completed_at, c.run_id
      FROM crawl_tasks c
      WHERE c.body_ref IS NOT NULL AND NOT starts_with(c.body_ref, 'text:') AND c.page_id > $1 AND ($2::bigint IS NULL OR c.domain_id = $2)
        AND ($3::bigint IS NULL OR c.page_id = $3) AND ($7::timestamptz IS NULL OR c.completed_at <= $7)
      ORDER BY c.page_id, c.id DESC LIMIT $6) t
JOIN pages p ON p.id = t.page_id
JOIN domains d ON d.id = p.domain_id
JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2)
LEFT JOIN page_details e ON e.page_id = p.id
LEFT JOIN domain_settings s ON s.domain_id = p.domain_id
WHERE ($4::timestamptz IS NULL OR t.completed_at >= $4) AND ($5::timestamptz IS NULL OR t.completed_at < $5)
ORDER BY p.id;

-- name: last_of_portion
-- Returns the last page of the batch that `next_stored` reads, whether or not its body matches; NULL after the last
-- one.
SELECT max(page_id) FROM (
    SELECT DISTINCT ON (c.page_id) c.page_id FROM crawl_tasks c
    WHERE c.body_ref IS NOT NULL AND NOT starts_with(c.body_ref, 'text:') AND c.page_id > $1 AND ($2::bigint IS NULL OR c.domain_id = $2) AND ($3::bigint IS NULL OR c.page_id = $3)
      AND ($5::timestamptz IS NULL OR c.completed_at <= $5)
    ORDER BY c.page_id, c.id DESC LIMIT $4) t;

-- name: older_versions
-- Returns the versions of pages except the newest of each, of pages after one and up to another.
SELECT n.page_id, n.id AS task_id, p.url, d.name AS domain, n.completed_at, n.body_ref, b.name IS NULL OR b.dropped_at IS NOT NULL AS is_deleted,
       p.crashes, d.parser_name, p.content_type
FROM (SELECT c.page_id, c.id, c.body_ref, c.completed_at, c.id = max(c.id) OVER (PARTITION BY c.page_id) AS is_newest
      FROM crawl_tasks c
      WHERE c.body_ref IS NOT NULL AND NOT starts_with(c.body_ref, 'text:') AND NOT c.is_image AND c.page_id > $1 AND c.page_id <= $2 AND ($3::bigint IS NULL OR c.domain_id = $3)
        AND ($4::bigint IS NULL OR c.page_id = $4) AND ($7::timestamptz IS NULL OR c.completed_at <= $7)) n
JOIN pages p ON p.id = n.page_id
JOIN domains d ON d.id = p.domain_id
LEFT JOIN bodies b ON b.name = split_part(n.body_ref, ':', 2)
WHERE NOT n.is_newest AND ($5::timestamptz IS NULL OR n.completed_at >= $5) AND ($6::timestamptz IS NULL OR n.completed_at < $6)
ORDER BY n.page_id, n.id;

-- name: known_products
-- Returns what is stored of the products of these pages, as far as a replay compares it.
SELECT page_id, product_name AS name, price::text AS price, currency, availability, rating::text AS rating, review_count, brand, category, sku, gtin,
       description, image_urls, variants::text AS variants, mpn, regular_price::text AS regular_price, unit_price::text AS unit_price, unit, seller,
       condition, shipping::text AS shipping, attributes::text AS attributes
FROM products WHERE page_id = ANY ($1::bigint[]);

-- name: known_records
-- Returns the records of these pages that are not gone, as far as a replay compares them.
SELECT page_id, extractor, key, fields::text AS fields FROM records WHERE page_id = ANY ($1::bigint[]) AND gone_at IS NULL ORDER BY id;

-- name: known_images
-- Returns the stored images of these pages, in page order.
SELECT s.page_id, array_agg(i.url ORDER BY s.position) AS urls, array_agg(s.alt_text::text ORDER BY s.position) AS alts,
       min(i.url) FILTER (WHERE s.image_type = 'primary') AS primary_url
FROM pages p JOIN page_images s ON s.domain_id = p.domain_id AND s.page_id = p.id AND s.last_seen_at IS NULL JOIN images i ON i.id = s.image_id
WHERE p.id = ANY ($1::bigint[]) GROUP BY s.page_id;

-- name: hold_pages
-- Locks pages whose new parse is about to be written, if they are unchanged since they were read; pages visited
-- since are skipped.
SELECT p.id FROM unnest($1::bigint[], $2::timestamptz[]) AS n (id, fetched_at) JOIN pages p ON p.id = n.id
WHERE p.fetched_at IS NOT DISTINCT FROM n.fetched_at
ORDER BY p.id FOR NO KEY UPDATE OF p;

-- name: find_replay
-- Returns an unfinished replay with the same config, to resume.
SELECT id, after_page, tally, pid, pid_started FROM replays WHERE status = 'running' AND spec = $1::jsonb ORDER BY id DESC LIMIT 1;

-- name: start_replay
-- Creates a replay.
INSERT INTO replays (spec, created_by, pid, pid_started) VALUES ($1::jsonb, $2, $3, $4) RETURNING id;

-- name: read_replay
-- Returns the status of a replay, and whether a process is running it.
SELECT r.spec, r.status, r.tally,
       EXISTS (SELECT FROM pg_locks l
               WHERE l.locktype = 'advisory' AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
                 AND l.classid = (hashtext('forager replay')::bigint & 4294967295)::oid AND l.objid = r.id::int::oid AND l.granted) AS is_held
FROM replays r WHERE r.id = $1;

-- name: take_replay
-- Records the process that resumes it.
UPDATE replays SET pid = $2, pid_started = $3, touched_at = now() WHERE id = $1;

-- name: lock_replay
-- Returns whether this connection is the only one that runs it; the lock ends with the connection.
SELECT pg_try_advisory_lock(hashtext('forager replay'), $1::int);

-- name: note_progress
-- Records that a batch is done, in the transaction that wrote it.
UPDATE replays SET after_page = $2, tally = $3::jsonb, touched_at = now() WHERE id = $1;

-- name: end_replay
-- Records that the replay is finished.
UPDATE replays SET status = 'finished', tally = $2::jsonb, ended_at = now(), touched_at = now() WHERE id = $1;

-- name: add_shadows
-- Records fields that were parsed differently, beside the live tables.
INSERT INTO replay_readings (replay_id, page_id, task_id, fields, old, new)
SELECT $1, n.page_id, n.task_id, string_to_array(n.fields, ','), n.old::jsonb, n.new::jsonb
FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[]) AS n (page_id, task_id, fields, old, new)
ON CONFLICT (replay_id, page_id) DO UPDATE SET task_id = excluded.task_id, fields = excluded.fields, old = excluded.old, new = excluded.new;

-- name: find_task
-- Returns one task with its page, its domain and its body.
SELECT t.id, t.page_id, p.url, t.body_ref, d.name AS domain, d.content_policy
FROM crawl_tasks t JOIN pages p ON p.id = t.page_id JOIN domains d ON d.id = t.domain_id WHERE t.id = $1;

-- name: policy_of
-- Returns the content policy of a domain; NULL: that of the settings.
SELECT content_policy FROM domains WHERE name = $1;
