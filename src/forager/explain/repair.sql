-- Statements of `forager repair`. Each one changes only rows that break the promise it belongs to.

-- name: allow
-- Allows moving closed tasks to another domain for the rest of the transaction.
SELECT set_config('forager.purge', 'on', true);

-- name: rehash_pages
-- Recomputes page keys from their URLs, where no other page has the key.
UPDATE pages p SET url_hash = substring(sha256(convert_to(p.url, 'UTF8')) FROM 1 FOR 16)
WHERE p.url_hash <> substring(sha256(convert_to(p.url, 'UTF8')) FROM 1 FOR 16)
  AND NOT EXISTS (SELECT FROM pages o WHERE o.domain_id = p.domain_id AND o.url_hash = substring(sha256(convert_to(p.url, 'UTF8')) FROM 1 FOR 16));

-- name: rehash_images
-- Recomputes image keys from their URLs; clears references to unknown images.
UPDATE images i SET url_hash = substring(sha256(convert_to(i.url, 'UTF8')) FROM 1 FOR 16), moved_to = CASE WHEN EXISTS (SELECT FROM images m WHERE m.id = i.moved_to) THEN i.moved_to END
WHERE (i.url_hash <> substring(sha256(convert_to(i.url, 'UTF8')) FROM 1 FOR 16) OR i.moved_to IS NOT NULL AND NOT EXISTS (SELECT FROM images m WHERE m.id = i.moved_to))
  AND NOT EXISTS (SELECT FROM images o WHERE o.id <> i.id AND o.url_hash = substring(sha256(convert_to(i.url, 'UTF8')) FROM 1 FOR 16));

-- name: free_duplicates
-- Removes the mark of duplicates whose page is not there, or is none that was read.
UPDATE pages p SET duplicate_of = NULL
WHERE p.duplicate_of IS NOT NULL AND (p.is_image OR NOT EXISTS (
    SELECT FROM pages o WHERE o.id = p.duplicate_of AND o.id <> p.id AND o.domain_id = p.domain_id AND o.duplicate_of IS NULL AND o.status IN ('fetched', 'queued')));

-- name: drop_spare_tasks
-- Deletes open tasks beyond one per page; keeps one in its page's own domain.
DELETE FROM crawl_tasks t
USING (SELECT c.id, row_number() OVER (PARTITION BY c.page_id ORDER BY (c.domain_id = p.domain_id) DESC, c.id) AS number
       FROM crawl_tasks c JOIN pages p ON p.id = c.page_id WHERE c.outcome IS NULL) n
WHERE t.id = n.id AND n.number > 1;

-- name: follow_pages
-- Moves tasks to the domain of their page.
UPDATE crawl_tasks t SET domain_id = p.domain_id FROM pages p WHERE p.id = t.page_id AND t.domain_id <> p.domain_id;

-- name: drop_orphan_tasks
-- Deletes open tasks of pages that no longer exist.
DELETE FROM crawl_tasks t WHERE t.outcome IS NULL AND NOT EXISTS (SELECT FROM pages p WHERE p.id = t.page_id);

-- name: restate_pages
-- Resets the status of pages that no worker processes from their tasks: queued with an open task and no successful
-- reading, else as the last visit left them.
UPDATE pages p
SET status = n.status
FROM (
    SELECT g.id, CASE
        WHEN o.page_id IS NOT NULL AND t.outcome IS DISTINCT FROM 'success' THEN 'queued'
        WHEN t.outcome IS NULL THEN 'discovered'
        WHEN t.outcome = 'success' THEN 'fetched'
        WHEN t.outcome = 'blocked_4xx' AND t.status_code IN (404, 410) THEN 'gone'
        WHEN t.outcome IN ('blocked_4xx', 'blocked_robots') THEN 'blocked'
        ELSE 'failed' END::page_status AS status, COALESCE(l.is_called_off, false) AS is_called_off
    FROM pages g
    LEFT JOIN (SELECT DISTINCT page_id FROM crawl_tasks WHERE outcome IS NULL) o ON o.page_id = g.id
    LEFT JOIN LATERAL (SELECT c.outcome, c.status_code FROM crawl_tasks c WHERE c.page_id = g.id AND c.outcome <> 'cancelled' ORDER BY c.id DESC LIMIT 1) t ON true
    LEFT JOIN LATERAL (SELECT c.outcome = 'cancelled' AS is_called_off FROM crawl_tasks c WHERE c.page_id = g.id AND c.outcome IS NOT NULL ORDER BY c.id DESC LIMIT 1) l ON true
    WHERE g.trap_id IS NULL
) n
WHERE p.id = n.id AND p.status <> n.status AND NOT (n.is_called_off AND p.status IN ('discovered', 'blocked') AND n.status <> 'queued');

-- name: drop_lost_tasks
-- Deletes open tasks of pages that are neither queued nor fetched.
DELETE FROM crawl_tasks t USING pages p WHERE t.outcome IS NULL AND p.id = t.page_id AND p.status NOT IN ('queued', 'fetched');

-- name: free_leases
-- Ends leases of unknown workers, of domains that are not active, and leases without an end.
UPDATE domains d SET claimed_by = NULL, claim_expires_at = NULL, version = d.version + 1
WHERE (d.claimed_by IS NOT NULL OR d.claim_expires_at IS NOT NULL)
  AND (d.claim_expires_at IS NULL OR d.claimed_by IS NULL OR d.status <> 'active' OR NOT EXISTS (SELECT FROM workers w WHERE w.id = d.claimed_by));

-- name: unlock_tasks
-- Unlocks open tasks that are locked by a worker other than the lease holder of their domain.
UPDATE crawl_tasks t SET locked_by = NULL, locked_at = NULL, status = 'pending'
FROM domains d
WHERE d.id = t.domain_id AND t.outcome IS NULL AND t.locked_by IS NOT NULL AND t.locked_by IS DISTINCT FROM d.claimed_by;

-- name: raise_versions
-- Raises lease versions that were set back above any that was ever assigned.
UPDATE domains d SET version = GREATEST(d.version, COALESCE((SELECT o.version FROM dispatched_domains o WHERE o.domain_id = d.id), 0)) + 1000000000
WHERE (d.version <= 0 AND d.last_crawled_at IS NOT NULL) OR EXISTS (SELECT FROM dispatched_domains o WHERE o.domain_id = d.id AND o.version > d.version);

-- name: cut_chains
-- Clears the predecessor of open tasks if that is not closed, not known or not earlier.
UPDATE crawl_tasks t SET parent_task_id = NULL
WHERE t.outcome IS NULL AND t.parent_task_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM crawl_tasks b WHERE b.id = t.parent_task_id AND b.outcome IS NOT NULL AND b.page_id = t.page_id AND b.id < t.id);

-- name: order_calls
-- Adds missing webhook calls of closed tasks.
INSERT INTO webhook_calls (task_id, url)
SELECT t.id, t.webhook_url FROM crawl_tasks t WHERE t.webhook_url IS NOT NULL AND t.outcome IS NOT NULL
ON CONFLICT (task_id) DO NOTHING;

-- name: give_up_bodies
-- Marks snapshots and texts whose files are missing or damaged as dropped, so that nothing relies on them any more.
UPDATE bodies SET dropped_at = now(), deleted_at = now() WHERE name = ANY ($1::text[]) AND kind <> 'archive' AND dropped_at IS NULL;

-- name: give_up_images
-- Marks images whose files are missing or damaged as dropped; returns the locations of the files.
UPDATE images SET dropped_at = now(), status = 'dropped' WHERE id = ANY ($1::bigint[]) AND dropped_at IS NULL RETURNING body_ref;

-- name: put_bodies_on_record
-- Registers snapshots and texts that tasks refer to and that are not registered, as dropped.
INSERT INTO bodies (name, kind, size_bytes, stored_bytes, dropped_at, deleted_at)
SELECT DISTINCT split_part(t.body_ref, ':', 2), CASE split_part(t.body_ref, ':', 1) WHEN 'warc' THEN 'archive' ELSE split_part(t.body_ref, ':', 1) END, 0, 0, now(), now()
FROM crawl_tasks t WHERE t.body_ref IS NOT NULL AND NOT EXISTS (SELECT FROM bodies b WHERE b.name = split_part(t.body_ref, ':', 2))
ON CONFLICT (name) DO NOTHING;

-- name: pages_of_bodies
-- Returns pages whose newest body is one of these, or is not registered as present; a visit must fetch the whole page.
UPDATE pages p SET etag = NULL, last_modified = NULL
WHERE p.id IN (SELECT t.page_id FROM crawl_tasks t WHERE t.body_ref = ANY ($1::text[])
               UNION SELECT t.page_id FROM crawl_tasks t JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2)
                     WHERE b.deleted_at >= now() - interval '1 minute' AND b.stored_bytes = 0)
  AND NOT p.is_image AND NOT p.is_sitemap
RETURNING p.id;

-- name: pages_of_images
-- Returns the pages of images, to be visited again.
SELECT p.id FROM images i JOIN pages p ON p.url_hash = i.url_hash AND p.is_image WHERE i.id = ANY ($1::bigint[]);

-- name: last_visits
-- Returns the last visit of each of these pages.
SELECT max(t.id) AS id FROM crawl_tasks t WHERE t.page_id = ANY ($1::bigint[]) AND t.outcome IS NOT NULL GROUP BY t.page_id ORDER BY 1;

-- name: trim_links
-- Removes links to unknown pages, and assigns links to the domain of the page that contains them.
WITH kept AS (
    SELECT l.from_page_id, f.domain_id, array_agg(l.to_page_id ORDER BY l.position) FILTER (WHERE t.id IS NOT NULL) AS to_page_ids,
           string_agg(l.rel, ',' ORDER BY l.position) FILTER (WHERE t.id IS NOT NULL) AS rels,
           string_agg(l.anchor, E'\x1f' ORDER BY l.position) FILTER (WHERE t.id IS NOT NULL) AS anchors
    FROM page_links l LEFT JOIN pages f ON f.id = l.from_page_id LEFT JOIN pages t ON t.id = l.to_page_id
    GROUP BY l.from_page_id, f.domain_id
    HAVING bool_or(t.id IS NULL) OR bool_or(f.domain_id IS DISTINCT FROM l.domain_id)
), gone AS (
    DELETE FROM page_link_lists l USING kept k WHERE l.from_page_id = k.from_page_id AND (k.domain_id IS NULL OR k.to_page_ids IS NULL)
)
UPDATE page_link_lists l SET domain_id = k.domain_id, to_page_ids = k.to_page_ids, rels = k.rels, anchors = k.anchors
FROM kept k WHERE l.from_page_id = k.from_page_id AND k.domain_id IS NOT NULL AND k.to_page_ids IS NOT NULL;

-- name: count_links
-- Recounts the links of pages; pages that lost some must be read again in full.
UPDATE pages p SET links_count = COALESCE(cardinality(l.to_page_ids), 0), etag = NULL, last_modified = NULL
FROM pages g LEFT JOIN page_link_lists l ON l.from_page_id = g.id
WHERE g.id = p.id AND COALESCE(p.links_count, 0) <> COALESCE(cardinality(l.to_page_ids), 0)
  AND (l.from_page_id IS NOT NULL OR EXISTS (SELECT FROM domains d WHERE d.id = p.domain_id AND d.stores_links AND d.links_since IS NULL))
RETURNING p.id;

-- name: free_trapped
-- Frees pages excluded by a trap that is unknown, only suspected or released, so that they are visited; one that was
-- visited gets its status from its tasks.
UPDATE pages p SET trap_id = NULL, status = CASE WHEN EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = p.id AND c.outcome = 'success') THEN 'fetched' ELSE 'discovered' END::page_status
WHERE p.trap_id IS NOT NULL
  AND (NOT EXISTS (SELECT FROM domain_traps t WHERE t.id = p.trap_id AND t.domain_id = p.domain_id AND t.found_at IS NOT NULL AND t.released_at IS NULL)
       OR p.status <> 'blocked' OR EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = p.id AND c.outcome <> 'cancelled'));

-- name: drop_sightings
-- Deletes image occurrences whose image or page is unknown, or whose page belongs to another domain.
DELETE FROM page_images s
WHERE NOT EXISTS (SELECT FROM pages p WHERE p.id = s.page_id AND p.domain_id = s.domain_id) OR NOT EXISTS (SELECT FROM images i WHERE i.id = s.image_id);

-- name: wake_domains
-- Fires the trigger that maintains the due time, for every unleased domain.
UPDATE domains SET ready_at = ready_at WHERE claimed_by IS NULL;

-- name: deep_pages
-- Returns pages that are deeper than a link to them allows, each with the depth by that link.
SELECT t.id, min(f.depth + CASE l.rels WHEN 'redirect' THEN 0 ELSE 1 END)::int AS depth
FROM page_link_lists l JOIN pages f ON f.id = l.from_page_id JOIN pages t ON t.id = ANY (l.to_page_ids)
WHERE t.depth > f.depth + CASE l.rels WHEN 'redirect' THEN 0 ELSE 1 END
GROUP BY t.id;

-- name: recount_runs
-- Recounts the visits of runs from their tasks; runs some of whose tasks left the history stay unchanged.
WITH counted AS (
    SELECT t.run_id, t.outcome, CASE WHEN p.is_image THEN 'image ' WHEN p.is_sitemap THEN 'sitemap ' ELSE '' END
               || COALESCE(CASE WHEN t.error_code IN ('challenge', 'captcha', 'consent_wall') THEN split_part(t.error_message, ', ', 2) END,
                           t.status_code::text, t.error_code, 'unknown') AS reason, count(*) AS pages,
           COALESCE(sum(t.bytes), 0)::bigint AS bytes, COALESCE(sum(t.response_time_ms), 0)::bigint AS time_ms
    FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
    WHERE t.outcome IS NOT NULL AND t.run_id IS NOT NULL GROUP BY 1, 2, 3
), wrong AS (
    SELECT COALESCE(a.run_id, b.run_id) AS run_id
    FROM (SELECT run_id, outcome, sum(pages) AS pages, sum(bytes) AS bytes FROM counted GROUP BY 1, 2) a
    FULL JOIN (SELECT run_id, outcome, sum(pages) AS pages, sum(bytes) AS bytes FROM run_outcomes GROUP BY 1, 2) b ON a.run_id = b.run_id AND a.outcome = b.outcome
    WHERE (a.pages, a.bytes) IS DISTINCT FROM (b.pages, b.bytes) AND NOT EXISTS (SELECT FROM archived_rows e WHERE e.run_id = COALESCE(a.run_id, b.run_id))
), emptied AS (
    UPDATE run_outcomes o SET pages = 0, bytes = 0, time_ms = 0
    WHERE o.run_id IN (SELECT run_id FROM wrong) AND NOT EXISTS (SELECT FROM counted c WHERE c.run_id = o.run_id AND c.outcome = o.outcome AND c.reason = o.reason)
)
INSERT INTO run_outcomes (run_id, outcome, reason, pages, bytes, time_ms)
SELECT c.* FROM counted c WHERE c.run_id IN (SELECT run_id FROM wrong) AND EXISTS (SELECT FROM runs r WHERE r.id = c.run_id)
ON CONFLICT (run_id, outcome, reason) DO UPDATE SET pages = EXCLUDED.pages, bytes = EXCLUDED.bytes, time_ms = EXCLUDED.time_ms;

-- name: recount_claims
-- Recounts the pages that runs with a limit took from it; images do not count.
UPDATE runs r SET pages_claimed = n.tasks
FROM (SELECT u.id, COALESCE((SELECT count(*) FROM crawl_tasks h JOIN pages p ON p.id = h.page_id WHERE h.run_id = u.id AND NOT p.is_sitemap AND NOT p.is_image), 0)
                   + COALESCE((SELECT sum(e.tasks) FROM archived_rows e WHERE e.run_id = u.id AND NOT e.is_sitemap AND NOT e.is_image), 0) AS tasks FROM runs u) n
WHERE r.id = n.id AND r.max_pages IS NOT NULL AND r.pages_claimed <> n.tasks;

-- name: recount_links
-- Sets the links of the only run to the counts per minute; if it began before the first count, to no fewer than it has.
UPDATE runs r SET links_seen = s.links
FROM (SELECT COALESCE(sum(amount), 0)::bigint AS links FROM (SELECT amount FROM series_totals WHERE metric = 'links_seen'
                                                             UNION ALL SELECT amount FROM series_parts WHERE metric = 'links_seen') c) s,
     (SELECT COALESCE((SELECT min(d.day + 1)::timestamp AT TIME ZONE 'UTC' FROM series_days d WHERE d.metric = 'links_seen'),
                          (SELECT min(m.minute) - interval '10 minutes'
                           FROM (SELECT minute FROM series WHERE metric = 'links_seen' UNION ALL SELECT minute FROM series_parts WHERE metric = 'links_seen') m),
                          '-infinity') AS at) f
WHERE (SELECT count(*) FROM runs) = 1 AND r.links_seen <> s.links AND (r.started_at >= f.at OR s.links > r.links_seen);

-- name: copy_settings
-- Combines and copies the crawl settings of domains again where copies differ.
INSERT INTO domain_settings (domain_id, updated_by)
SELECT d.id, 'repair' FROM domains d LEFT JOIN domain_settings s ON s.domain_id = d.id LEFT JOIN profiles p ON p.id = s.profile_id
WHERE has_stale_copies(d, COALESCE(s.effective, '{}')) OR (s.domain_id IS NOT NULL AND s.effective <> COALESCE(p.settings, '{}') || s.settings)
ORDER BY d.id
ON CONFLICT (domain_id) DO UPDATE SET updated_by = 'repair', updated_at = now();

-- name: recount_run_pages
-- Recounts the pages that runs took from unleased domains, where they exceed all tasks the domain ever had, from the
-- run's tasks.
UPDATE domains d SET run_pages = n.own
FROM (SELECT o.id, (SELECT count(*) FROM crawl_tasks h WHERE h.domain_id = o.id AND h.run_id = o.run_id) AS own,
             (SELECT count(*) FROM crawl_tasks h WHERE h.domain_id = o.id) + COALESCE((SELECT sum(e.tasks) FROM archived_rows e WHERE e.domain_id = o.id), 0) AS tasks
      FROM domains o) n
WHERE d.id = n.id AND d.claimed_by IS NULL AND (d.run_pages < 0 OR d.run_pages > n.tasks);

-- name: recount_depths
-- Recomputes the depth of domains from their deepest page that was read.
UPDATE domains d SET depth_reached = p.depth
FROM (SELECT g.domain_id, max(g.depth) FILTER (WHERE g.status = 'fetched') AS depth, max(g.depth) AS deepest FROM pages g WHERE NOT g.is_image AND NOT g.is_sitemap GROUP BY g.domain_id) p
WHERE p.domain_id = d.id AND p.depth IS NOT NULL AND (d.depth_reached < p.depth OR d.depth_reached > p.deepest);

-- name: explain_blocks
-- Sets a reason for blocked and unreachable domains, and clears it for others.
UPDATE domains d
SET block_reason_code = CASE WHEN d.status IN ('blocked', 'unreachable') THEN COALESCE(d.block_reason_code, 'unknown') END,
    block_reason = CASE WHEN d.status IN ('blocked', 'unreachable') THEN COALESCE(d.block_reason, 'its reason was lost') END
WHERE (d.status IN ('blocked', 'unreachable')) <> (d.block_reason_code IS NOT NULL);

-- name: note_moves
-- Records the transition from the last recorded state to a domain's current state.
INSERT INTO domain_history (domain_id, from_status, to_status, is_active, reason_code, reason, moved_by)
SELECT d.id, h.to_status, d.status, d.is_active, 'repair', 'the move was not on record', $1
FROM domains d
CROSS JOIN LATERAL (SELECT m.to_status, m.is_active FROM domain_history m WHERE m.domain_id = d.id ORDER BY m.id DESC LIMIT 1) h
WHERE (h.to_status <> d.status OR h.is_active <> d.is_active)
  AND (h.to_status = d.status OR EXISTS (SELECT FROM domain_transitions v WHERE v.from_status = h.to_status AND v.to_status = d.status));

-- name: forget_domain_moves
-- Clears the table of domain transitions, to be rewritten.
DELETE FROM domain_transitions;

-- name: write_domain_moves
-- Writes the domain transitions that the program defines.
INSERT INTO domain_transitions SELECT n.f::domain_status, n.t::domain_status FROM unnest($1::text[], $2::text[]) AS n (f, t);

-- name: forget_task_moves
-- Clears the table of task transitions, to be rewritten.
DELETE FROM task_transitions;

-- name: write_task_moves
-- Writes the task transitions that the program defines.
INSERT INTO task_transitions SELECT n.f::task_status, n.t::task_status FROM unnest($1::text[], $2::text[]) AS n (f, t);

-- name: stop_waiting
-- Pauses tasks that wait for an unknown task, or for themselves, until an operator resumes them.
UPDATE crawl_tasks t SET is_waiting = false, depends_on = NULL
WHERE t.is_waiting AND t.outcome IS NULL AND (t.depends_on = t.id OR NOT EXISTS (SELECT FROM crawl_tasks d WHERE d.id = t.depends_on));

-- name: post_jobs
-- Adds jobs missing from the schedule as due now; the program that maintains it sets the interval.
INSERT INTO jobs (name, every_s) SELECT n.name, 60 FROM unnest($1::text[]) AS n (name) ON CONFLICT (name) DO NOTHING;

-- name: reprice_products
-- Sets the price of products from the newest row of their history.
UPDATE products p SET price = x.price, currency = x.currency, availability = x.availability
FROM (SELECT DISTINCT ON (h.product_id) h.product_id, h.price, h.currency, h.availability FROM product_prices h WHERE NOT h.is_backfill ORDER BY h.product_id, h.id DESC) x
WHERE x.product_id = p.id AND (p.price, p.currency, p.availability) IS DISTINCT FROM (x.price, x.currency, x.availability);

-- name: missing_from_index
-- Returns pages that were read before the index's mark and are not in the index, or whose products are not.
SELECT p.id
FROM pages p
JOIN search_marks m ON m.name = 'pages' AND (p.fetched_at, p.id) <= (m.read_at, m.page_id)
LEFT JOIN indexed_pages i ON i.page_id = p.id
WHERE p.fetched_at IS NOT NULL AND p.keywords_tsv IS NOT NULL
  AND (i.page_id IS NULL OR EXISTS (SELECT FROM products r LEFT JOIN indexed_products x ON x.product_id = r.id
                                    WHERE r.page_id = p.id AND x.product_id IS NULL AND NOT r.is_listed))
ORDER BY p.id;

-- name: forget_signals
-- Resets pages whose content is not what was read, so that they are read again in full; the index has no digest of them
-- until then.
WITH other AS (
    SELECT p.id
    FROM pages p
    JOIN search_marks m ON m.name = 'pages' AND (p.fetched_at, p.id) <= (m.read_at, m.page_id)
    JOIN indexed_pages i ON i.page_id = p.id
    WHERE p.status = 'fetched' AND (i.content_hash IS DISTINCT FROM p.content_hash
          OR i.signals <> row_digest(ROW(p.title, p.description, p.language, p.content_hash)::text))
), unsealed AS (
    UPDATE indexed_pages i SET signals = NULL, content_hash = NULL FROM other o WHERE i.page_id = o.id
)
UPDATE pages p SET etag = NULL, last_modified = NULL, content_hash = NULL FROM other o WHERE p.id = o.id
RETURNING p.id;

-- name: forget_details
-- Deletes page details that differ from what was read; the pages are read again in full.
WITH other AS (
    DELETE FROM page_details d
    WHERE d.content_hash <> substring(sha256(convert_to(concat_ws(E'\x1f', COALESCE(d.headline, ''), COALESCE(d.site_name, ''), COALESCE(d.section, ''),
          COALESCE(array_to_string(d.tags, E'\x1f'), ''), COALESCE(d.rating::text, ''), COALESCE(d.rating_count::text, ''), COALESCE(to_char(d.published_on, 'YYYY-MM-DD'), ''),
          COALESCE(to_char(d.modified_on, 'YYYY-MM-DD'), '')), 'UTF8') || COALESCE(d.structured_data, '')) FROM 1 FOR 16)
    RETURNING d.page_id
)
UPDATE pages p SET etag = NULL, last_modified = NULL FROM other o WHERE p.id = o.page_id
RETURNING p.id;
