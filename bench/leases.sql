-- Domains as a long crawl leaves them, all of one run: most asleep, some exhausted or blocked, a few due. Numbered from 1.

-- name: add_domains
-- Domains number $2 up to number $3 of run $1: of twenty 14 sleep for days, two are exhausted, one is blocked, three are due.
INSERT INTO domains (name, parent_domain, base_url, source, run_id, status, ready_at, next_crawl_after, block_reason_code,
                     first_blocked_at, pages_discovered, frontier_size, priority_score)
SELECT name, name, 'https://' || name, 'bench', $1, status::domain_status,
       CASE WHEN is_asleep THEN now() + random() * interval '30 days' + interval '1 hour' WHEN is_due THEN now() END,
       CASE WHEN status IN ('exhausted', 'blocked') THEN now() + random() * interval '14 days' + interval '1 hour' END,
       CASE WHEN status = 'blocked' THEN 'forbidden' END, CASE WHEN status = 'blocked' THEN now() END,
       CASE WHEN is_due THEN 1 ELSE 0 END, CASE WHEN is_due THEN 1 ELSE 0 END, random() * 2000
FROM (SELECT 'site-' || lpad(n::text, 7, '0') || '.example' AS name, n % 20 < 14 AS is_asleep, n % 20 > 16 AS is_due,
             CASE WHEN n % 20 IN (14, 15) THEN 'exhausted' WHEN n % 20 = 16 THEN 'blocked' ELSE 'active' END AS status
      FROM generate_series($2::int, $3::int) AS n ORDER BY n) made;

-- name: add_pages
-- One page to visit in every domain that is due and has none.
INSERT INTO pages (domain_id, url, url_hash, depth, priority)
SELECT d.id, d.base_url || '/', substring(sha256(convert_to(d.base_url || '/', 'UTF8')) FOR 16), 0, 5
FROM domains d WHERE d.is_due AND d.source = 'bench'
ON CONFLICT (domain_id, url_hash) DO NOTHING;
