-- name: claim_domains
-- Leases a worker's fair share of a run's best due domains; SKIP LOCKED keeps claimants from waiting for each other.
-- Lowest round first, then the best score. The index holds due domains only, so the cost does not grow with the domains
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
    FROM crawl_tasks before
    WHERE t.domain_id = ANY ($1::bigint[]) AND t.outcome IS NULL AND t.locked_at IS NOT NULL AND before.id = t.id
    RETURNING t.domain_id, before.run_id
)
SELECT run_id, domain_id, count(*)::int AS pages FROM freed WHERE run_id IS NOT NULL GROUP BY run_id, domain_id ORDER BY run_id, domain_id;

-- name: claim_tasks
-- Turns the best due tasks and, after them, the best discovered pages of leased domains into locked tasks. The images
-- that a page shows are part of it: they need not be in the run's scope, and a domain that was added for its images
-- gets no other visits. New tasks get their ids before they are inserted, so that the page of each need not be looked
-- up: without statistics the server compares each with each, half a second of CPU for 2,560 tasks instead of a tenth.
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
