-- The promises of the design, as questions to a live database. Each statement answers with what is broken: how many rows in
-- all, and three examples in words. No row means the promise holds. All run in one snapshot, so a crawl may go on meanwhile.

-- name: url_hashes
-- Every page is known by the hash of its own URL.
SELECT count(*) OVER () AS broken, format('page %s: %s', p.id, p.url) AS example
FROM pages p
WHERE p.url_hash <> substring(sha256(convert_to(p.url, 'UTF8')) FROM 1 FOR 16)
LIMIT 3;

-- name: one_page_per_url
-- No URL is known twice, whatever the domain.
SELECT count(*) OVER () AS broken, format('%s is known %s times', min(p.url), count(*)) AS example
FROM pages p
GROUP BY p.url_hash
HAVING count(*) > 1
LIMIT 3;

-- name: domains_of_pages
-- A page belongs to the domain its URL names; a leading www. makes no difference.
SELECT count(*) OVER () AS broken, format('page %s: %s belongs to %s', p.id, p.url, d.name) AS example
FROM pages p
LEFT JOIN domains d ON d.id = p.domain_id
WHERE d.name IS NULL
   OR substring(p.url FROM '^https?://([^/?#]+)') NOT IN (d.name, 'www.' || d.name)
LIMIT 3;

-- name: one_open_task
-- No page waits for two visits at once.
SELECT count(*) OVER () AS broken, format('page %s has %s open tasks', t.page_id, count(*)) AS example
FROM crawl_tasks t
WHERE t.outcome IS NULL
GROUP BY t.page_id
HAVING count(*) > 1
LIMIT 3;

-- name: tasks_of_pages
-- A task belongs to a known page and to that page's domain.
SELECT count(*) OVER () AS broken, format('task %s of page %s', t.id, t.page_id) AS example
FROM crawl_tasks t
LEFT JOIN pages p ON p.id = t.page_id
WHERE p.id IS NULL OR p.domain_id <> t.domain_id
LIMIT 3;

-- name: queued_pages
-- A page is queued exactly while it has an open task.
SELECT count(*) OVER () AS broken,
       format('page %s is %s and has %s open task', p.id, p.status, CASE WHEN t.page_id IS NULL THEN 'no' ELSE 'an' END) AS example
FROM pages p
LEFT JOIN (SELECT DISTINCT o.page_id FROM crawl_tasks o WHERE o.outcome IS NULL) t ON t.page_id = p.id
WHERE (p.status = 'queued') <> (t.page_id IS NOT NULL)
LIMIT 3;

-- name: visited_pages
-- A page that is not waiting stands where its latest visit left it.
SELECT count(*) OVER () AS broken,
       format('page %s is %s and its latest visit ended %s', p.id, p.status, coalesce(t.outcome::text, 'never')) AS example
FROM pages p
LEFT JOIN LATERAL (
    SELECT c.outcome, c.status_code
    FROM crawl_tasks c
    WHERE c.page_id = p.id AND c.outcome IS NOT NULL
    ORDER BY c.id DESC
    LIMIT 1
) t ON true
WHERE p.status <> 'queued'
  AND p.status <> CASE
        WHEN t.outcome IS NULL OR t.outcome = 'cancelled' THEN 'discovered'
        WHEN t.outcome = 'success' THEN 'fetched'
        WHEN t.outcome = 'blocked_4xx' AND t.status_code IN (404, 410) THEN 'gone'
        WHEN t.outcome IN ('blocked_4xx', 'blocked_robots') THEN 'blocked'
        ELSE 'failed'
      END::page_status
LIMIT 3;

-- name: leases_of_workers
-- A lease belongs to a worker that is on record.
SELECT count(*) OVER () AS broken, format('%s is leased by worker %s, which is unknown', d.name, d.claimed_by) AS example
FROM domains d
LEFT JOIN workers w ON w.id = d.claimed_by
WHERE d.claimed_by IS NOT NULL AND w.id IS NULL
LIMIT 3;

-- name: locks_under_leases
-- No task of a leased domain is locked by anybody but the holder; what a dead worker locked is freed by the next claim.
SELECT count(*) OVER () AS broken,
       format('task %s is locked by worker %s and %s is leased by worker %s', t.id, t.locked_by, d.name, d.claimed_by) AS example
FROM crawl_tasks t
JOIN domains d ON d.id = t.domain_id
WHERE t.outcome IS NULL AND t.locked_by <> d.claimed_by
LIMIT 3;

-- name: closed_tasks
-- A closed task says how and when it ended, in a final state, and nobody holds it.
SELECT count(*) OVER () AS broken, format('task %s: %s, %s', t.id, t.status, coalesce(t.outcome::text, 'no outcome')) AS example
FROM crawl_tasks t
WHERE (t.outcome IS NOT NULL OR t.completed_at IS NOT NULL OR t.status IN ('completed', 'failed', 'cancelled'))
  AND (t.outcome IS NULL OR t.completed_at IS NULL OR t.locked_at IS NOT NULL OR t.locked_by IS NOT NULL
       OR t.status <> CASE t.outcome WHEN 'success' THEN 'completed' WHEN 'cancelled' THEN 'cancelled' ELSE 'failed' END::task_status)
LIMIT 3;

-- name: evidence
-- A closed task carries the evidence of its outcome: a fitting status code, or an error.
SELECT count(*) OVER () AS broken,
       format('task %s ended %s with status %s', t.id, t.outcome, coalesce(t.status_code::text, 'none')) AS example
FROM crawl_tasks t
WHERE t.outcome IS NOT NULL AND CASE t.outcome
        WHEN 'success' THEN t.status_code IS NULL OR t.status_code NOT BETWEEN 200 AND 399
        WHEN 'blocked_4xx' THEN t.status_code IS NULL OR t.status_code NOT BETWEEN 400 AND 499
        WHEN 'blocked_5xx' THEN t.status_code IS NULL OR t.status_code NOT BETWEEN 500 AND 599
        WHEN 'cancelled' THEN false
        ELSE t.error_code IS NULL
      END
LIMIT 3;

-- name: chains_of_tries
-- Another try follows a closed task of the same page.
SELECT count(*) OVER () AS broken, format('task %s follows task %s', t.id, t.parent_task_id) AS example
FROM crawl_tasks t
LEFT JOIN crawl_tasks before ON before.id = t.parent_task_id
WHERE t.parent_task_id IS NOT NULL
  AND (before.id IS NULL OR before.outcome IS NULL OR before.page_id <> t.page_id OR before.id >= t.id)
LIMIT 3;

-- name: history_guard
-- The database itself refuses to change a closed task.
SELECT count(*) OVER () AS broken, format('the trigger %s is missing or off', n.name) AS example
FROM (VALUES ('crawl_tasks_closed_stay')) AS n (name)
WHERE NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgname = n.name AND g.tgrelid = 'crawl_tasks'::regclass AND g.tgenabled IN ('O', 'A'))
LIMIT 3;

-- name: link_ends
-- Both ends of a link are known pages.
SELECT count(*) OVER () AS broken, format('link %s of page %s leads to page %s', l.position, l.from_page_id, l.to_page_id) AS example
FROM page_links l
LEFT JOIN pages f ON f.id = l.from_page_id
LEFT JOIN pages t ON t.id = l.to_page_id
WHERE f.id IS NULL OR t.id IS NULL OR f.domain_id <> l.domain_id
LIMIT 3;

-- name: links_of_pages
-- A page has exactly the links that were counted when it was read.
SELECT count(*) OVER () AS broken,
       format('page %s counts %s links and has %s', p.id, coalesce(p.links_count::text, 'no'), coalesce(l.links, 0)) AS example
FROM pages p
LEFT JOIN (SELECT k.from_page_id, count(*) AS links FROM page_links k GROUP BY k.from_page_id) l ON l.from_page_id = p.id
WHERE coalesce(p.links_count, 0) <> coalesce(l.links, 0)
LIMIT 3;

-- name: page_counters
-- A domain's number of known pages, and what is left of them, can be recounted.
SELECT count(*) OVER () AS broken,
       format('%s counts %s known and %s waiting, there are %s and %s', d.name, d.pages_discovered, d.frontier_size,
              coalesce(p.known, 0), coalesce(p.discovered, 0) + coalesce(t.open, 0)) AS example
FROM domains d
LEFT JOIN (SELECT g.domain_id, count(*) AS known, count(*) FILTER (WHERE g.status = 'discovered') AS discovered
           FROM pages g GROUP BY g.domain_id) p ON p.domain_id = d.id
LEFT JOIN (SELECT o.domain_id, count(*) AS open FROM crawl_tasks o WHERE o.outcome IS NULL GROUP BY o.domain_id) t ON t.domain_id = d.id
WHERE d.pages_discovered <> coalesce(p.known, 0)
   OR d.frontier_size <> coalesce(p.discovered, 0) + coalesce(t.open, 0)
LIMIT 3;

-- name: visit_counters
-- A domain's numbers of good and bad visits can be recounted; bad are those the site or the network is to blame for.
SELECT count(*) OVER () AS broken,
       format('%s counts %s visits and %s errors, there are %s and %s', d.name, d.pages_crawled, d.total_error_count,
              coalesce(t.good, 0), coalesce(t.bad, 0)) AS example
FROM domains d
LEFT JOIN (SELECT c.domain_id, count(*) FILTER (WHERE c.outcome = 'success') AS good,
                  count(*) FILTER (WHERE c.blame IN ('site', 'network')) AS bad
           FROM crawl_tasks c WHERE c.outcome IS NOT NULL GROUP BY c.domain_id) t ON t.domain_id = d.id
WHERE d.pages_crawled <> coalesce(t.good, 0) OR d.total_error_count <> coalesce(t.bad, 0)
LIMIT 3;

-- name: run_counters
-- A run's tally equals the tasks it closed.
SELECT count(*) OVER () AS broken,
       format('run %s counts %s %s, there are %s', coalesce(r.run_id, t.run_id), coalesce(r.pages, 0),
              coalesce(r.outcome, t.outcome), coalesce(t.tasks, 0)) AS example
FROM (SELECT o.run_id, o.outcome, sum(o.pages) AS pages FROM run_outcomes o GROUP BY o.run_id, o.outcome) r
FULL JOIN (SELECT c.run_id, c.outcome, count(*) AS tasks FROM crawl_tasks c
           WHERE c.outcome IS NOT NULL AND c.run_id IS NOT NULL GROUP BY c.run_id, c.outcome) t
       ON t.run_id = r.run_id AND t.outcome = r.outcome
WHERE coalesce(r.pages, 0) <> coalesce(t.tasks, 0)
LIMIT 3;

-- name: nothing_forgotten
-- A domain nobody holds that has an open task in reach of its run can be claimed for it.
SELECT count(*) OVER () AS broken, format('%s has %s waiting and is never ready', d.name, d.frontier_size) AS example
FROM domains d
JOIN runs r ON r.id = d.run_id
WHERE d.claimed_by IS NULL AND d.ready_at IS NULL
  AND r.spec ->> 'scope' NOT IN ('page', 'prefix') AND r.spec -> 'include' = '[]' AND r.spec -> 'exclude' = '[]'
  AND EXISTS (SELECT FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
              WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.status = 'pending' AND p.depth <= r.max_depth)
LIMIT 3;

-- name: domain_states
-- An exhausted domain has nothing left, a blocked one says why, and a lease has an end.
SELECT count(*) OVER () AS broken, format('%s is %s with %s waiting', d.name, d.status, d.frontier_size) AS example
FROM domains d
WHERE (d.status = 'exhausted' AND d.frontier_size <> 0)
   OR (d.status IN ('blocked', 'unreachable')) <> (d.block_reason_code IS NOT NULL)
   OR (d.claimed_by IS NULL) <> (d.claim_expires_at IS NULL)
   OR (d.claimed_by IS NOT NULL AND d.status <> 'active')
LIMIT 3;

-- name: moves_guard
-- The database itself refuses a domain's forbidden moves.
SELECT count(*) OVER () AS broken, format('the trigger %s is missing or off', n.name) AS example
FROM (VALUES ('domains_move')) AS n (name)
WHERE NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgname = n.name AND g.tgrelid = 'domains'::regclass AND g.tgenabled IN ('O', 'A'))
LIMIT 3;
