-- name: claim_domains
-- Leases a worker's fair share of a run's best due domains; SKIP LOCKED keeps claimants from waiting for each other.
-- Urgent and boosted domains first, then the lowest round, then the best score. The index holds due domains only, so the cost does not grow with the domains
-- that are not due. The chosen domains are passed as an array and looked up one by one; a join on the estimated maximum
-- would read the whole table. $7 are the labels the worker may claim for, including the empty one: each is a range of
-- the index, so that domains waiting for other workers cost nothing. The run's live workers share: those with the label
-- that sent a heartbeat within $8 seconds and are neither drained nor paused. A lost worker has no share. While none of
-- them is older than $9 seconds, at least $5 workers are expected. A worker without a recent heartbeat of its own gets
-- nothing: others may take its leases at any moment. $10 and $11 restrict the claim to these domains, each only if its
-- lease still has the version that a message names: a stale, duplicate or late message leases nothing. NULL: all due
-- domains.
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
            ORDER BY urgency DESC, round, priority_score DESC, id
            LIMIT GREATEST(0, CEIL(($3::int + mine.mine) * mine.workers) - mine.held)) r) ready
), due AS MATERIALIZED (
    SELECT c.id, c.urgency, c.round, c.priority_score FROM share CROSS JOIN LATERAL (
        SELECT d.id, d.urgency, d.round, d.priority_score FROM domains d
        WHERE $10::bigint[] IS NULL AND d.claimed_by IS NULL AND d.is_due AND d.status IN ('pending', 'active') AND d.is_active AND d.run_id = $2
          AND d.worker_label = share.label
          AND NOT EXISTS (SELECT FROM claim_conditions(d, $6::int) g WHERE NOT g.is_open)
        ORDER BY d.urgency DESC, d.round, d.priority_score DESC, d.id
        LIMIT share.n
        FOR NO KEY UPDATE OF d SKIP LOCKED) c
), offered AS MATERIALIZED (
    SELECT d.id, d.urgency, d.round, d.priority_score, d.worker_label
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
            SELECT id, urgency, round, priority_score FROM offered WHERE worker_label = share.label
            ORDER BY urgency DESC, round, priority_score DESC, id
            LIMIT share.n) o) c
    ORDER BY c.urgency DESC, c.round, c.priority_score DESC, c.id
    LIMIT $3::int
), round_begun AS (
    UPDATE runs SET round = r.newest FROM (SELECT max(round) AS newest FROM best) r WHERE id = $2 AND round < r.newest
)
UPDATE domains d
SET claimed_by = $1, claim_expires_at = now() + make_interval(secs => $4), version = d.version + 1,
    status = 'active', block_reason = NULL, block_reason_code = NULL, last_crawled_at = now(), has_new_settings = false
WHERE d.id = ANY (ARRAY(SELECT id FROM best))
RETURNING d.id AS domain_id, d.name AS domain, d.version,
          GREATEST(0, EXTRACT(EPOCH FROM d.next_allowed_at - now()))::float8 AS wait_s,
          (SELECT s.effective::text FROM domain_settings s WHERE s.domain_id = d.id) AS chosen,
          d.consecutive_error_count AS errors_in_a_row, d.error_streak_code, d.unreachable_cooldowns, d.pages_crawled > 0 AS has_pages,
          EXISTS (SELECT FROM domain_proxies dp WHERE dp.domain_id = d.id AND dp.is_assigned) OR EXISTS (SELECT FROM proxies p WHERE p.is_default) AS has_proxies,
          CASE WHEN d.is_adaptive THEN d.revisit_price END AS revisit_price,
          COALESCE(d.pace_delay_s, 0) AS pace_delay_s, d.pace_extra_s, d.response_s, d.breaker_state, d.breaker_failures,
          COALESCE(EXTRACT(EPOCH FROM now() - d.breaker_opened_at), 0)::float8 AS breaker_open_s, d.breaker_resets,
          d.guesses_scheme AND (d.pages_crawled = 0 OR starts_with(d.base_url, 'http://')) AS guesses_scheme, d.images_only, d.site_origin;

-- name: still_claimable
-- Returns those of the domains named by messages that another worker may claim now: they exceed this worker's share, or
-- require a label that it does not have.
SELECT d.id FROM unnest($1::bigint[], $2::bigint[]) AS n (domain_id, version)
JOIN domains d ON d.id = n.domain_id AND d.version = n.version
WHERE d.claimed_by IS NULL AND d.run_id = $3 AND NOT EXISTS (SELECT FROM claim_conditions(d, $4::int) g WHERE NOT g.is_open);

-- name: free_tasks
-- Releases the locked tasks of these domains: those of a dead worker, or the worker's own when it stops. They do not
-- count for any run. Tasks that were paused meanwhile stay paused.
WITH freed AS (
    UPDATE crawl_tasks t
    SET locked_at = NULL, locked_by = NULL, run_id = NULL, status = CASE t.status WHEN 'paused' THEN 'paused' ELSE 'pending' END::task_status
    FROM crawl_tasks before, pages p, domains d
    WHERE t.domain_id = ANY ($1::bigint[]) AND t.outcome IS NULL AND t.locked_at IS NOT NULL AND before.id = t.id AND p.id = t.page_id AND d.id = t.domain_id
    RETURNING t.domain_id, before.run_id, is_charged(before, p, d.counts_revisits) AS is_charged, NOT p.is_image AND NOT p.is_sitemap AS is_page
)
SELECT run_id, domain_id, count(*) FILTER (WHERE is_page)::int AS pages, count(*) FILTER (WHERE is_charged)::int AS charged
FROM freed WHERE run_id IS NOT NULL GROUP BY run_id, domain_id ORDER BY run_id, domain_id;

-- name: claim_tasks
-- Turns the best due tasks and discovered pages of leased domains into locked tasks. First come urgent tasks, then new
-- seeds, then both by priority. Of the same priority, tasks of pages that were never read come first (retries, and
-- what a dead worker had taken), then new pages of priority 2, then whatever waits longest. A part of the places is kept
-- for revisits and for first visits each (kept_places), so that neither wait forever. A page budget that is spent leaves
-- revisits and images; a run that made all visits it may leaves images only ($11). The images that a page shows are part
-- of it: they need not be in the run's scope, and a domain that was added for its images gets no other visits. New tasks
-- get their ids before they are inserted, so that the page of each need not be looked up: without statistics the server
-- compares each with each, half a second of CPU for 2,560 tasks instead of a tenth. The conditions on a page are one
-- COALESCE: taken apart, the planner expects next to no page to meet them and reads all pages for each claim, a quarter of
-- a second for 30,000.
WITH queue AS MATERIALIZED (
    SELECT w.domain_id, w.want, pages_left(d, $6::int, now()) AS budget, d.counts_revisits, d.images_only, s AS settings,
           kept_places(d.pages_crawled + d.total_error_count, w.want) AS kept_revisits,
           kept_places(d.pages_crawled + d.total_error_count + 2, w.want) AS kept_new
    FROM unnest($1::bigint[], $2::bigint[], $3::int[]) AS w (domain_id, version, want)
    JOIN domains d ON d.id = w.domain_id AND d.version = w.version AND d.claimed_by = $4
    LEFT JOIN domain_settings s ON s.domain_id = d.id
), urgent AS MATERIALIZED (
    SELECT t.* FROM queue CROSS JOIN LATERAL (
        SELECT t.id, t.domain_id, t.priority, t.scheduled_for, p.status = 'fetched' AS is_revisit, is_charged(t, p, queue.counts_revisits) AS is_charged
        FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
        WHERE t.domain_id = queue.domain_id AND t.is_urgent AND t.outcome IS NULL AND t.locked_at IS NULL
          AND t.status = 'pending' AND t.scheduled_for <= now()
          AND COALESCE(in_scope(p, queue.settings, $7)
              AND (p.is_image OR p.is_sitemap OR ($8::text[] IS NULL OR p.url LIKE ANY ($8)) AND ($9::text[] IS NULL OR p.url LIKE ANY ($9)))
              AND ($10::text[] IS NULL OR p.url NOT LIKE ALL ($10)) AND (p.is_image OR p.is_sitemap AND NOT $11 OR NOT (queue.images_only OR $11)), false)
          AND (COALESCE(queue.budget > 0, true) OR NOT is_charged(t, p, queue.counts_revisits))
        ORDER BY t.priority, t.scheduled_for
        LIMIT GREATEST(queue.want, 0)
        FOR NO KEY UPDATE OF t SKIP LOCKED) t
), due AS MATERIALIZED (
    SELECT t.* FROM queue CROSS JOIN LATERAL (
        SELECT t.id, t.domain_id, t.priority, t.scheduled_for, p.status = 'fetched' AS is_revisit, is_charged(t, p, queue.counts_revisits) AS is_charged
        FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
        WHERE t.domain_id = queue.domain_id AND NOT t.is_urgent AND t.outcome IS NULL AND t.locked_at IS NULL
          AND t.status = 'pending' AND t.scheduled_for <= now()
          AND COALESCE(in_scope(p, queue.settings, $7)
              AND (p.is_image OR p.is_sitemap OR ($8::text[] IS NULL OR p.url LIKE ANY ($8)) AND ($9::text[] IS NULL OR p.url LIKE ANY ($9)))
              AND ($10::text[] IS NULL OR p.url NOT LIKE ALL ($10)) AND (p.is_image OR p.is_sitemap AND NOT $11 OR NOT (queue.images_only OR $11)), false)
          AND (COALESCE(queue.budget > 0, true) OR NOT is_charged(t, p, queue.counts_revisits))
        ORDER BY t.priority, t.scheduled_for
        LIMIT GREATEST(queue.want, 0)
        FOR NO KEY UPDATE OF t SKIP LOCKED) t
), fresh AS MATERIALIZED (
    SELECT p.* FROM queue CROSS JOIN LATERAL (
        SELECT p.id, p.domain_id, p.priority, p.discovered_at, NOT p.is_image AND NOT p.is_sitemap AS is_charged FROM pages p
        WHERE p.domain_id = queue.domain_id AND p.status = 'discovered'
          AND p.depth <= CASE $7 WHEN 0 THEN 0 ELSE COALESCE((queue.settings).max_depth, $7) END -- also in in_scope; by the index here
          AND COALESCE(in_scope(p, queue.settings, $7)
              AND (p.is_image OR p.is_sitemap OR ($8::text[] IS NULL OR p.url LIKE ANY ($8)) AND ($9::text[] IS NULL OR p.url LIKE ANY ($9)))
              AND ($10::text[] IS NULL OR p.url NOT LIKE ALL ($10)) AND (p.is_image OR p.is_sitemap AND NOT $11 OR NOT (queue.images_only OR $11)), false)
          AND (p.is_image OR p.is_sitemap OR COALESCE(queue.budget > 0, true))
        ORDER BY p.priority, p.id
        LIMIT GREATEST(queue.want, 0)) p
), candidate AS (
    SELECT id, domain_id, priority, scheduled_for AS since, true AS is_task, is_revisit, is_charged, 0 AS tier, 2 * is_revisit::int AS kind FROM urgent
    UNION ALL
    SELECT id, domain_id, priority, scheduled_for, true, is_revisit, is_charged, 2, 2 * is_revisit::int FROM due
    UNION ALL
    SELECT id, domain_id, priority, discovered_at, false, false, is_charged, CASE WHEN priority = 1 THEN 1 ELSE 2 END,
           CASE WHEN priority <= 2 THEN 1 ELSE 2 END
    FROM fresh
), ranked AS (
    SELECT c.*, row_number() OVER (PARTITION BY domain_id, is_revisit ORDER BY tier, priority, kind, since, NOT is_task, id) AS rank FROM candidate c
), placed AS (
    SELECT c.*, queue.want, queue.budget, row_number() OVER (
        PARTITION BY c.domain_id
        ORDER BY LEAST(c.tier, 1 + (c.rank > CASE WHEN c.is_revisit THEN queue.kept_revisits ELSE queue.kept_new END)::int),
                 c.priority, c.kind, c.since, NOT c.is_task, c.id) AS place
    FROM ranked c JOIN queue ON queue.domain_id = c.domain_id
), charged AS (
    SELECT p.*, count(*) FILTER (WHERE p.is_charged) OVER (PARTITION BY p.domain_id ORDER BY p.place) AS charges FROM placed p
), affordable AS (
    SELECT c.*, row_number() OVER (PARTITION BY c.domain_id ORDER BY c.place) AS turn
    FROM charged c WHERE NOT c.is_charged OR COALESCE(c.charges <= c.budget, true)
), chosen AS MATERIALIZED (
    SELECT id, is_task, is_charged, row_number() OVER (ORDER BY domain_id, tier, priority, kind, since, NOT is_task, id) AS position
    FROM affordable WHERE turn <= want
), relocked AS (
    UPDATE crawl_tasks t SET locked_at = now(), locked_by = $4, status = 'crawling', run_id = $5
    FROM chosen c WHERE c.is_task AND t.id = c.id
    RETURNING t.id, t.page_id, t.domain_id, t.retry_count, t.revisit_every_s, t.max_retries, t.is_recurring, c.is_charged, t.is_urgent, c.position
), queued AS (
    UPDATE pages p SET status = 'queued' FROM chosen c WHERE NOT c.is_task AND p.id = c.id AND p.status = 'discovered'
    RETURNING p.id, p.domain_id, p.url, p.depth, p.redirects, p.priority, p.revisit_every_s, p.crashes, p.is_image, p.is_sitemap, p.is_seed, c.position
), numbered AS MATERIALIZED (
    SELECT nextval('crawl_tasks_id_seq') AS task_id, q.* FROM (SELECT * FROM queued ORDER BY position) q
), made AS (
    INSERT INTO crawl_tasks (id, page_id, domain_id, run_id, status, priority, locked_at, locked_by, is_image) OVERRIDING SYSTEM VALUE
    SELECT task_id, id, domain_id, $5, 'crawling', priority, now(), $4, is_image FROM numbered
)
SELECT r.id AS task_id, p.id AS page_id, p.domain_id, p.url, p.depth, p.redirects, r.retry_count,
       COALESCE(r.revisit_every_s, p.revisit_every_s) AS revisit_every_s, p.crashes, p.is_image, r.max_retries, r.is_recurring,
       p.status = 'fetched' AS is_revisit, p.etag, p.last_modified, p.content_hash, p.comparisons, p.changes,
       p.watched_s, EXTRACT(EPOCH FROM now() - p.fetched_at)::float8 AS since_s, COALESCE(p.lastmod_at > p.fetched_at, false) AS is_claimed,
       r.is_charged, r.is_urgent, r.position, p.is_sitemap, p.is_seed
FROM relocked r JOIN pages p ON p.id = r.page_id
UNION ALL
SELECT n.task_id, n.id, n.domain_id, n.url, n.depth, n.redirects, 0, n.revisit_every_s, n.crashes, n.is_image, NULL, true, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false,
       NOT n.is_image AND NOT n.is_sitemap, false, n.position, n.is_sitemap, n.is_seed
FROM numbered n
ORDER BY position;
