-- The reverse of v0002_domains_remember.up.sql: what was remembered with it is forgotten.

DROP TRIGGER domains_moved ON domains;
DROP TRIGGER domains_keep ON domains;
DROP FUNCTION note_domain_move, keep_domain, domain_score, score_terms, domain_gates, window_end;
-- What was left out by a trap is only waiting again.
UPDATE domains d
SET frontier_size = d.frontier_size + p.pages, status = CASE d.status WHEN 'exhausted' THEN 'active' ELSE d.status END,
    ready_at = LEAST(COALESCE(d.ready_at, now()), now())
FROM (SELECT domain_id, count(*) AS pages FROM pages WHERE trap_id IS NOT NULL GROUP BY domain_id) p WHERE p.domain_id = d.id;
UPDATE pages SET status = 'discovered' WHERE trap_id IS NOT NULL;
DROP TABLE domain_traps, domain_days, duties, domain_history, robots_requests;

DROP INDEX crawl_tasks_completed;
ALTER TABLE crawl_tasks DROP COLUMN is_changed, DROP COLUMN pace_ms, DROP COLUMN earlier_requests;
ALTER TABLE pages
    DROP COLUMN revisit_every_s, DROP COLUMN comparisons, DROP COLUMN changes, DROP COLUMN watched_s, DROP COLUMN changed_at,
    DROP COLUMN crashes, DROP COLUMN flags, DROP COLUMN simhash, DROP COLUMN trap_id;
ALTER TABLE origins DROP COLUMN sitemaps;
ALTER TABLE domains DROP COLUMN verifies_tls;

DROP INDEX domains_claimable, domains_asleep, domains_resting, domains_windows, domains_held;
ALTER TABLE domains
    DROP CONSTRAINT domains_max_pages_per_run_check,
    DROP COLUMN seed_rank, DROP COLUMN blocked_returns, DROP COLUMN error_streak_code, DROP COLUMN error_rate,
    DROP COLUMN image_yield_rate, DROP COLUMN avg_images_per_page, DROP COLUMN images_found, DROP COLUMN images_stored,
    DROP COLUMN depth_reached, DROP COLUMN round, DROP COLUMN priority_computed_at, DROP COLUMN due_at, DROP COLUMN is_due,
    DROP COLUMN maintenance_start, DROP COLUMN maintenance_end, DROP COLUMN revisit_every_s, DROP COLUMN is_adaptive,
    DROP COLUMN revisits_per_day, DROP COLUMN revisit_price, DROP COLUMN refresh_every_s,
    DROP COLUMN pace_delay_s, DROP COLUMN pace_extra_s, DROP COLUMN response_s, DROP COLUMN breaker_state, DROP COLUMN breaker_failures,
    DROP COLUMN breaker_opened_at, DROP COLUMN breaker_resets;
ALTER TABLE domains RESET (autovacuum_vacuum_scale_factor);
CREATE INDEX domains_claimable ON domains (run_id, priority_score DESC, id)
    WHERE claimed_by IS NULL AND status IN ('pending', 'active') AND is_active AND ready_at IS NOT NULL;
COMMENT ON COLUMN domains.next_crawl_after IS 'A cooldown: nothing is claimed before.';

DROP TABLE domain_proxies, proxies;
ALTER TABLE crawl_tasks DROP COLUMN proxy_id;
ALTER TABLE domains DROP COLUMN proxy_country, DROP COLUMN paces_per_proxy;

ALTER TABLE runs DROP COLUMN round;
