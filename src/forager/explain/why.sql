-- Queries of `forager why`. Read only. The gates of a domain are those that the claim itself checks:
-- claim_conditions().

-- name: domain
-- Returns one domain with its run, its lease holder, the terms of its score, and how many domains of its run are
-- claimed before it (1,000 at most).
SELECT d.id, d.name, d.base_url, d.source, d.status::text AS status, d.block_reason, d.block_reason_code, d.blocked_returns, d.is_active,
       d.claimed_by, d.claim_expires_at, d.frontier_size, d.pages_discovered, d.consecutive_error_count, d.error_streak_code,
       d.run_id, d.run_pages, d.max_pages_per_run, d.budget_period, d.budget_until, d.counts_revisits,
       pages_left(d, r.max_pages_per_domain, now()) AS budget_left, c.effective::text AS chosen, f.name AS profile, d.round, d.priority_score, d.ready_at, d.next_crawl_after, d.next_allowed_at,
       d.pace_extra_s, d.breaker_state, d.breaker_failures, d.breaker_opened_at,
       d.maintenance_start, d.maintenance_end, d.time_zone, d.crawl_delay_s, d.revisit_every_s, d.is_adaptive, d.revisit_price, d.refresh_every_s,
       d.first_seen_at, now() AS asked_at, d.allow_networks, d.has_new_settings,
       d.seed_rank, d.priority_boost, d.urgency, d.urgent_at, d.recent_error_rate, d.image_yield_rate,
       COALESCE(d.last_crawled_at, d.first_seen_at) AS idle_since,
       s.seed_rank AS score_seed_rank, s.boost AS score_boost, s.new_pages AS score_new_pages, s.staleness AS score_staleness,
       s.image_yield AS score_image_yield, s.recent_errors AS score_recent_errors,
       r.status::text AS run_status, r.keeper AS run_keeper, r.spec::text AS run_spec, r.round AS run_round, r.max_pages, r.max_pages_per_domain, r.pages_claimed,
       w.host, w.pid, w.heartbeat_at, paused.id AS paused_worker, paused.pause_reason, paused.pause_detail, paused.paused_since,
       COALESCE(w.status = 'running' AND w.heartbeat_at > now() - make_interval(secs => $2) AND d.claim_expires_at > now(), false) AS is_held,
       (SELECT count(*) FROM workers k
        WHERE k.run_id = d.run_id AND k.status = 'running' AND k.heartbeat_at > now() - make_interval(secs => $2)) AS run_workers,
       d.worker_label, d.content_policy, d.images_policy, chosen.effective ->> 'user_agent' AS user_agent,
       CASE WHEN chosen.effective ? 'login_fields' THEN chosen.effective ->> 'login_url' END AS login_url,
       (SELECT count(*) FROM workers k
        WHERE k.run_id = d.run_id AND k.status = 'running' AND k.heartbeat_at > now() - make_interval(secs => $2)
          AND k.drain_asked_at IS NULL AND d.worker_label = ANY (k.labels)) AS label_workers,
       pool.proxies, pool.proxies_on, pool.back_at AS proxy_back_at, pool.proxy_mode, pool.has_own AS has_own_proxies, e.emptied_at AS pool_emptied_at,
       ro.started_at AS override_at, ro.ordered_by AS override_by, ro.reason AS override_reason,
       (SELECT count(*) FROM (
            SELECT FROM domains o
            WHERE o.run_id = d.run_id AND o.worker_label = d.worker_label AND o.claimed_by IS NULL AND o.is_due AND o.status IN ('pending', 'active') AND o.is_active
              AND (-o.urgency, o.round, -o.priority_score, o.id) < (-d.urgency, d.round, -d.priority_score, d.id)
            LIMIT 1000) better) AS domains_before
FROM domains d
LEFT JOIN domain_settings chosen ON chosen.domain_id = d.id
LEFT JOIN runs r ON r.id = d.run_id
LEFT JOIN domain_settings c ON c.domain_id = d.id
LEFT JOIN robots_overrides ro ON ro.domain_id = d.id AND ro.ended_at IS NULL
LEFT JOIN profiles f ON f.id = c.profile_id
LEFT JOIN workers w ON w.id = d.claimed_by
LEFT JOIN LATERAL (
    SELECT k.id, k.pause_reason, k.pause_detail, k.paused_since FROM workers k
    WHERE k.status = 'running' AND k.pause_reason IS NOT NULL AND (k.id = d.claimed_by OR d.claimed_by IS NULL AND k.run_id = d.run_id)
    ORDER BY k.id LIMIT 1
) paused ON true
CROSS JOIN LATERAL score_terms(d, now()) s
JOIN domain_pools pool ON pool.domain_id = d.id
LEFT JOIN emptied_pools e ON e.domain_id = d.id
WHERE d.name = $1;

-- name: gates
-- Returns the gates of a domain under the limit of its run, as the claim checks them.
SELECT g.gate, g.is_open, g.opens_at
FROM domains d
LEFT JOIN runs r ON r.id = d.run_id
CROSS JOIN LATERAL claim_conditions(d, r.max_pages_per_domain) g
WHERE d.id = $1;

-- name: frontier
-- Returns what is left of a domain in scope of its run: pages never visited, tasks by due time.
SELECT (SELECT count(*) FROM pages p
        WHERE p.domain_id = $1 AND p.status = 'discovered'
          AND in_scope(p, (SELECT s FROM domain_settings s WHERE s.domain_id = $1), $2) AND (p.is_image OR p.is_sitemap OR ($3::text[] IS NULL OR p.url LIKE ANY ($3)) AND ($4::text[] IS NULL OR p.url LIKE ANY ($4)))
          AND ($5::text[] IS NULL OR p.url NOT LIKE ALL ($5))) AS discovered,
       t.due, t.later, t.locked, t.paused, t.next_at
FROM (SELECT count(*) FILTER (WHERE c.locked_at IS NULL AND c.status = 'pending' AND c.scheduled_for <= now()) AS due,
             count(*) FILTER (WHERE c.locked_at IS NULL AND c.status = 'pending' AND c.scheduled_for > now()) AS later, count(c.locked_at) AS locked,
             count(*) FILTER (WHERE c.locked_at IS NULL AND c.status = 'paused') AS paused,
             min(c.scheduled_for) FILTER (WHERE c.locked_at IS NULL AND c.status = 'pending' AND c.scheduled_for > now()) AS next_at
      FROM crawl_tasks c JOIN pages p ON p.id = c.page_id
      WHERE c.domain_id = $1 AND c.outcome IS NULL AND in_scope(p, (SELECT s FROM domain_settings s WHERE s.domain_id = $1), $2)
        AND (p.is_image OR p.is_sitemap OR ($3::text[] IS NULL OR p.url LIKE ANY ($3)) AND ($4::text[] IS NULL OR p.url LIKE ANY ($4)))
        AND ($5::text[] IS NULL OR p.url NOT LIKE ALL ($5))) t;

-- name: page
-- Returns one page with its open task, why that is paused, and its latest closed task.
SELECT p.id, p.url, p.status::text AS status, p.depth, p.priority, p.is_seed, p.is_sitemap, p.fetched_at, p.revisit_every_s, p.comparisons, p.changes,
       p.watched_s, p.trap_id, (SELECT u.url FROM pages u WHERE u.id = p.duplicate_of) AS duplicate_of, o.id AS task_id, o.status::text AS task_status, o.scheduled_for, o.locked_by, o.locked_at, o.retry_count,
       o.is_waiting, o.depends_on, b.status::text AS depends_on_status, k.ordered_at, k.ordered_by, k.reason AS order_reason,
       c.id AS visit_id, c.outcome::text AS outcome, c.status_code, c.error_code, c.error_message, c.completed_at
FROM pages p
LEFT JOIN crawl_tasks o ON o.domain_id = p.domain_id AND o.page_id = p.id AND o.outcome IS NULL
LEFT JOIN crawl_tasks b ON b.id = o.depends_on AND o.is_waiting
LEFT JOIN LATERAL (
    SELECT a.ordered_at, a.ordered_by, a.reason FROM task_orders a
    WHERE a.task_id = o.id AND a.to_status = 'paused' ORDER BY a.id DESC LIMIT 1
) k ON o.status = 'paused'
LEFT JOIN LATERAL (
    SELECT * FROM crawl_tasks t WHERE t.page_id = p.id AND t.outcome IS NOT NULL ORDER BY t.id DESC LIMIT 1
) c ON true
WHERE p.domain_id = $1 AND p.url_hash = $2;

-- name: place
-- Returns how many visits of its domain come before a page's, in claim order: those in progress, and the tasks due by
-- then and the discovered pages that rank higher. The places that the claim keeps for each kind may bring it forward.
WITH mine AS MATERIALIZED (
    SELECT p.id, p.domain_id, o.scheduled_for,
           ROW(CASE WHEN o.is_urgent THEN 0 WHEN o.id IS NULL AND p.priority = 1 THEN 1 ELSE 2 END, COALESCE(o.priority, p.priority),
               CASE WHEN o.id IS NOT NULL THEN 2 * (p.status = 'fetched')::int WHEN p.priority <= 2 THEN 1 ELSE 2 END,
               COALESCE(o.scheduled_for, p.discovered_at), o.id IS NULL, COALESCE(o.id, p.id)) AS rank
    FROM pages p
    LEFT JOIN crawl_tasks o ON o.domain_id = p.domain_id AND o.page_id = p.id AND o.outcome IS NULL
    WHERE p.id = $1
)
SELECT (SELECT count(*) FROM crawl_tasks t
        WHERE t.domain_id = m.domain_id AND t.outcome IS NULL AND t.locked_at IS NOT NULL AND t.page_id <> m.id) AS under_way,
       (SELECT count(*) FROM crawl_tasks t JOIN pages q ON q.id = t.page_id
        WHERE t.domain_id = m.domain_id AND t.outcome IS NULL AND t.locked_at IS NULL AND t.page_id <> m.id
          AND t.status = 'pending' AND t.scheduled_for <= GREATEST(now(), m.scheduled_for)
          AND ROW(CASE WHEN t.is_urgent THEN 0 ELSE 2 END, t.priority, 2 * (q.status = 'fetched')::int, t.scheduled_for, false, t.id) < m.rank
          AND in_scope(q, (SELECT s FROM domain_settings s WHERE s.domain_id = q.domain_id), $2) AND (q.is_image OR q.is_sitemap OR ($3::text[] IS NULL OR q.url LIKE ANY ($3)) AND ($4::text[] IS NULL OR q.url LIKE ANY ($4)))
          AND ($5::text[] IS NULL OR q.url NOT LIKE ALL ($5)))
     + (SELECT count(*) FROM pages q
        WHERE q.domain_id = m.domain_id AND q.status = 'discovered'
          AND ROW(CASE WHEN q.priority = 1 THEN 1 ELSE 2 END, q.priority, CASE WHEN q.priority <= 2 THEN 1 ELSE 2 END, q.discovered_at, true, q.id)
              < m.rank
          AND in_scope(q, (SELECT s FROM domain_settings s WHERE s.domain_id = q.domain_id), $2) AND (q.is_image OR q.is_sitemap OR ($3::text[] IS NULL OR q.url LIKE ANY ($3)) AND ($4::text[] IS NULL OR q.url LIKE ANY ($4)))
          AND ($5::text[] IS NULL OR q.url NOT LIKE ALL ($5))) AS before
FROM mine m;

-- name: robots
-- Returns the stored robots.txt of each origin of a domain.
SELECT o.origin, o.robots_txt, o.robots_error, o.robots_status_code, o.robots_fetched_at, o.robots_expires_at, o.robots_expires_at > now() AS is_valid
FROM origins o
WHERE o.domain_id = $1;

-- name: traps
-- Returns the traps found in a domain.
SELECT t.id, t.rule, t.template, t.released_at IS NOT NULL AS is_released FROM domain_traps t WHERE t.domain_id = $1 AND t.found_at IS NOT NULL ORDER BY t.id;

-- name: cut_pages
-- Returns pages of a domain that had more links than were taken.
SELECT p.url, p.links_count FROM pages p WHERE p.domain_id = $1 AND 'links_cut' = ANY (p.flags) ORDER BY p.id LIMIT 3;

-- name: crowd
-- Returns the trap that keeps further subdomains of a registrable domain unknown, and the domain it is recorded with.
SELECT t.id, t.rule, t.template, d.name AS domain
FROM domain_traps t JOIN domains d ON d.id = t.domain_id
WHERE d.parent_domain = $1 AND t.rule = $2 AND t.released_at IS NULL;

-- name: after_window
-- Returns the given time, or the end of the maintenance window it falls into.
SELECT COALESCE(window_end($1::timestamptz, $2::time, $3::time, $4::text), $1::timestamptz);

-- name: clock
-- Returns the database's time.
SELECT now();
