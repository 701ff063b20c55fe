-- Domains that hints name. The gates, the share and the lease are those of `claim_domains`; only who is looked at differs.

-- name: claim_offered
-- Lease, of the domains that hints name, a worker's fair share: those whose lease is still of the version the hint tells, and that may be
-- claimed now. A hint that is stale, doubled or late finds nothing. $7 are the labels we may claim for; $8 and $9 are those of `claim_domains`.
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
), offered AS MATERIALIZED (
    SELECT d.id, d.round, d.priority_score, d.worker_label
    FROM (SELECT DISTINCT domain_id, version FROM unnest($10::bigint[], $11::bigint[]) AS h (domain_id, version)) n
    JOIN domains d ON d.id = n.domain_id AND d.version = n.version
    WHERE d.claimed_by IS NULL AND d.run_id = $2 AND d.worker_label = ANY ($7)
      AND NOT EXISTS (SELECT FROM domain_gates(d, $6::int) g WHERE NOT g.is_open)
    FOR NO KEY UPDATE OF d SKIP LOCKED
), best AS MATERIALIZED (
    SELECT p.id, p.round FROM (
        SELECT o.*, row_number() OVER (PARTITION BY o.worker_label ORDER BY o.round, o.priority_score DESC, o.id) AS place FROM offered o) p
    JOIN share ON share.label = p.worker_label AND p.place <= share.n
    ORDER BY p.round, p.priority_score DESC, p.id
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
-- Of domains that hints name, those that another worker may claim now: they are beyond our share, or want a label that we have not.
SELECT d.id FROM unnest($1::bigint[], $2::bigint[]) AS n (domain_id, version)
JOIN domains d ON d.id = n.domain_id AND d.version = n.version
WHERE d.claimed_by IS NULL AND d.run_id = $3 AND NOT EXISTS (SELECT FROM domain_gates(d, $4::int) g WHERE NOT g.is_open);
