-- The promises of the design, as queries on a live database. Each statement returns what is broken: the total number of
-- rows, and three examples as text. No row means that the promise holds. All run in one snapshot, so a crawl may
-- continue meanwhile.

-- name: population
-- Returns the number of rows of each kind, which the other statements check.
SELECT p.pages, t.tasks, t.open_tasks, t.closed_tasks, t.follow_ups, t.body_refs, d.domains, d.leases, d.exhausted_domains, l.links, r.runs, r.limited_runs,
       h.moves, h.moved_domains, i.images, s.sightings, o.orders, c.slices
FROM (SELECT count(*) AS pages FROM pages) p,
     (SELECT count(*) AS tasks, count(*) FILTER (WHERE outcome IS NULL) AS open_tasks,
             count(outcome) AS closed_tasks, count(parent_task_id) AS follow_ups, count(body_ref) AS body_refs FROM crawl_tasks) t,
     (SELECT count(*) AS domains, count(claimed_by) AS leases, count(*) FILTER (WHERE status = 'exhausted') AS exhausted_domains FROM domains) d,
     (SELECT COALESCE(sum(cardinality(to_page_ids)), 0)::bigint AS links FROM page_link_lists) l,
     (SELECT count(*) AS images FROM images) i,
     (SELECT count(*) AS sightings FROM page_images) s,
     (SELECT count(*) AS slices FROM archive_parts) c,
     (SELECT count(*) AS orders FROM task_orders) o,
     (SELECT count(*) AS runs, count(max_pages) AS limited_runs FROM runs) r,
     (SELECT count(*) AS moves, count(DISTINCT domain_id) AS moved_domains FROM domain_history) h;

-- name: url_hashes
-- Every page is stored under the hash of its own URL.
SELECT count(*) OVER () AS broken, format('page %s: %s', p.id, p.url) AS example
FROM pages p
WHERE p.url_hash <> substring(sha256(convert_to(p.url, 'UTF8')) FROM 1 FOR 16)
LIMIT 3;

-- name: one_page_per_url
-- No URL is stored twice, whatever its domain.
SELECT count(*) OVER () AS broken, format('%s is known %s times', min(p.url), count(*)) AS example
FROM pages p
GROUP BY p.url_hash
HAVING count(*) > 1
LIMIT 3;

-- name: domains_of_pages
-- A page belongs to the domain its URL names, or to one above it whose subdomains are the same site; a leading www.
-- makes no difference.
SELECT count(*) OVER () AS broken, format('page %s: %s belongs to %s', p.id, p.url, d.name) AS example
FROM pages p
LEFT JOIN domains d ON d.id = p.domain_id
WHERE d.name IS NULL
   OR right('.' || substring(p.url FROM '^https?://([^/?#]+)'), length(d.name) + 1) <> '.' || d.name
LIMIT 3;

-- name: duplicates
-- A duplicate and the page with the same content are pages of one domain that were read; the other is no duplicate.
SELECT count(*) OVER () AS broken, format('page %s is a duplicate of %s', p.id, p.duplicate_of) AS example
FROM pages p
LEFT JOIN pages o ON o.id = p.duplicate_of
WHERE p.duplicate_of IS NOT NULL
  AND (o.id IS NULL OR o.id = p.id OR o.domain_id <> p.domain_id OR o.duplicate_of IS NOT NULL OR o.status NOT IN ('fetched', 'queued') OR p.is_image)
LIMIT 3;

-- name: one_open_task
-- No page has two open tasks.
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
-- A queued page has an open task, and an open task belongs to a queued page, or to a fetched one that is revisited.
SELECT count(*) OVER () AS broken,
       format('page %s is %s and has %s open task', p.id, p.status, CASE WHEN t.page_id IS NULL THEN 'no' ELSE 'an' END) AS example
FROM pages p
LEFT JOIN (SELECT DISTINCT o.page_id FROM crawl_tasks o WHERE o.outcome IS NULL) t ON t.page_id = p.id
WHERE CASE WHEN t.page_id IS NULL THEN p.status = 'queued' ELSE p.status NOT IN ('queued', 'fetched') END
LIMIT 3;

-- name: visited_pages
-- A page without an open task has the status that its latest visit left. A cancelled visit leaves the page as it was,
-- to be visited, or blocked; a visit that our own address guard rejected leaves a page that was read as it was, and so
-- does any failed visit to a sitemap.
SELECT count(*) OVER () AS broken,
       format('page %s is %s and its latest visit ended %s', p.id, p.status, coalesce(t.outcome::text, 'never')) AS example
FROM pages p
LEFT JOIN LATERAL (
    SELECT c.outcome, c.status_code
    FROM crawl_tasks c
    WHERE c.page_id = p.id AND c.outcome <> 'cancelled'
      AND NOT (p.status = 'fetched' AND (c.error_code IS NOT DISTINCT FROM 'address_refused' OR p.is_sitemap AND c.outcome <> 'success'))
    ORDER BY c.id DESC
    LIMIT 1
) t ON true
LEFT JOIN LATERAL (
    SELECT c.outcome = 'cancelled' AS is_called_off
    FROM crawl_tasks c
    WHERE c.page_id = p.id AND c.outcome IS NOT NULL
    ORDER BY c.id DESC
    LIMIT 1
) latest ON true
WHERE p.status <> 'queued' AND p.trap_id IS NULL
  AND NOT (p.status IN ('discovered', 'blocked') AND COALESCE(latest.is_called_off, false))
  AND p.status <> CASE
        WHEN t.outcome IS NULL THEN 'discovered'
        WHEN t.outcome = 'success' THEN 'fetched'
        WHEN t.outcome = 'blocked_4xx' AND t.status_code IN (404, 410) THEN 'gone'
        WHEN t.outcome IN ('blocked_4xx', 'blocked_robots') THEN 'blocked'
        ELSE 'failed'
      END::page_status
LIMIT 3;

-- name: leases_of_workers
-- A lease belongs to a registered worker.
SELECT count(*) OVER () AS broken, format('%s is leased by worker %s, which is unknown', d.name, d.claimed_by) AS example
FROM domains d
LEFT JOIN workers w ON w.id = d.claimed_by
WHERE d.claimed_by IS NOT NULL AND w.id IS NULL
LIMIT 3;

-- name: locks_under_leases
-- No task of a leased domain is locked by any worker but the lease holder; locks of a dead worker are freed by the next
-- claim.
SELECT count(*) OVER () AS broken,
       format('task %s is locked by worker %s and %s is leased by worker %s', t.id, t.locked_by, d.name, d.claimed_by) AS example
FROM crawl_tasks t
JOIN domains d ON d.id = t.domain_id
WHERE t.outcome IS NULL AND t.locked_by <> d.claimed_by
LIMIT 3;

-- name: closed_tasks
-- A closed task has an outcome and an end time, is in a final state, and is not locked.
SELECT count(*) OVER () AS broken, format('task %s: %s, %s', t.id, t.status, coalesce(t.outcome::text, 'no outcome')) AS example
FROM crawl_tasks t
WHERE (t.outcome IS NOT NULL OR t.completed_at IS NOT NULL OR t.status IN ('completed', 'failed', 'cancelled'))
  AND (t.outcome IS NULL OR t.completed_at IS NULL OR t.locked_at IS NOT NULL OR t.locked_by IS NOT NULL
       OR t.status <> CASE t.outcome WHEN 'success' THEN 'completed' WHEN 'cancelled' THEN 'cancelled' ELSE 'failed' END::task_status)
LIMIT 3;

-- name: evidence
-- A closed task has the evidence of its outcome: a matching status code, or an error.
SELECT count(*) OVER () AS broken,
       format('task %s ended %s with status %s', t.id, t.outcome, coalesce(t.status_code::text, 'none')) AS example
FROM crawl_tasks t
WHERE t.outcome IS NOT NULL AND CASE t.outcome
        WHEN 'success' THEN t.status_code IS NULL OR t.status_code NOT BETWEEN 200 AND 399
        WHEN 'blocked_4xx' THEN t.status_code IS NULL OR t.status_code NOT BETWEEN 400 AND 499
             AND NOT (t.status_code BETWEEN 200 AND 299 AND t.error_code IN ('challenge', 'captcha', 'consent_wall'))
        WHEN 'blocked_5xx' THEN t.status_code IS NULL OR t.status_code NOT BETWEEN 500 AND 599
        WHEN 'cancelled' THEN false
        ELSE t.error_code IS NULL
      END
LIMIT 3;

-- name: chains_of_tries
-- A retry follows a closed task of the same page, which is in the history, or left it for an archive file or by a
-- purge.
SELECT count(*) OVER () AS broken, format('task %s follows task %s', t.id, t.parent_task_id) AS example
FROM crawl_tasks t
LEFT JOIN crawl_tasks before ON before.id = t.parent_task_id
WHERE t.parent_task_id IS NOT NULL
  AND (before.outcome IS NULL OR before.page_id <> t.page_id OR before.id >= t.id)
  AND (before.id IS NOT NULL OR t.parent_task_id >= t.id
       OR NOT EXISTS (SELECT FROM archive_parts s WHERE t.parent_task_id BETWEEN s.first_id AND s.last_id AND s.moved > 0 AND s.kind <> 'pages')
          AND NOT EXISTS (SELECT FROM purges u WHERE u.tasks > 0 AND u.purged_at > t.created_at))
LIMIT 3;

-- name: archived_rows
-- All rows that left the history are counted: as many tasks as archive parts took and purges deleted; a finished part
-- is complete.
SELECT count(*) OVER () AS broken, b.example
FROM (
    SELECT format('%s tasks left, slices and purges took %s', d.tasks, s.moved + u.tasks) AS example
    FROM (SELECT COALESCE(sum(tasks), 0) AS tasks FROM archived_rows) d, (SELECT COALESCE(sum(moved), 0) AS moved FROM archive_parts WHERE kind <> 'pages') s,
         (SELECT COALESCE(sum(tasks), 0) AS tasks FROM purges) u
    WHERE d.tasks <> s.moved + u.tasks
    UNION ALL
    SELECT format('slice %s is %s and took %s of %s', s.id, s.status, s.moved, s.row_count) FROM archive_parts s
    WHERE s.moved <> CASE s.status WHEN 'writing' THEN 0 WHEN 'moving' THEN s.moved ELSE s.row_count END AND s.kind <> 'pages'
) b
LIMIT 3;

-- name: history_guard
-- The database itself rejects changes to a closed task.
SELECT count(*) OVER () AS broken, format('the trigger %s is missing or off', n.name) AS example
FROM (VALUES ('crawl_tasks_closed_stay')) AS n (name)
WHERE NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgname = n.name AND g.tgrelid = 'crawl_tasks'::regclass AND g.tgenabled IN ('O', 'A'))
LIMIT 3;

-- name: told_tasks
-- Every closed task with a webhook URL has one webhook call.
SELECT count(*) OVER () AS broken, format('task %s is closed, and %s was not called', t.id, substring(t.webhook_url FROM '^[a-z]+://[^/]+')) AS example
FROM crawl_tasks t
LEFT JOIN webhook_calls w ON w.task_id = t.id
WHERE t.webhook_url IS NOT NULL AND t.outcome IS NOT NULL AND w.id IS NULL
LIMIT 3;

-- name: bodies_on_record
-- The file that contains a task's body is registered.
SELECT count(*) OVER () AS broken, format('task %s refers to %s', t.id, left(t.body_ref, 100)) AS example
FROM crawl_tasks t
LEFT JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2)
WHERE t.body_ref IS NOT NULL AND b.name IS NULL
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
-- A page has exactly the links that were counted when it was read; none if its domain did not store links then.
SELECT count(*) OVER () AS broken,
       format('page %s counts %s links and has %s', p.id, coalesce(p.links_count::text, 'no'), coalesce(l.links, 0)) AS example
FROM pages p
JOIN domains d ON d.id = p.domain_id
LEFT JOIN (SELECT k.from_page_id, cardinality(k.to_page_ids) AS links FROM page_link_lists k) l ON l.from_page_id = p.id
WHERE coalesce(p.links_count, 0) <> coalesce(l.links, 0)
  AND (l.links IS NOT NULL OR d.stores_links
       AND (d.links_since IS NULL
            OR EXISTS (SELECT FROM crawl_tasks t WHERE t.page_id = p.id AND t.outcome = 'success' AND t.status_code <> 304
                         AND t.completed_at >= d.links_since)))
LIMIT 3;

-- name: sightings
-- An image shown by a page is known, and so is the page; it belongs to the page's domain.
SELECT count(*) OVER () AS broken, format('page %s shows image %s', s.page_id, s.image_id) AS example
FROM page_images s
LEFT JOIN pages p ON p.id = s.page_id
LEFT JOIN images i ON i.id = s.image_id
WHERE p.id IS NULL OR i.id IS NULL OR p.domain_id <> s.domain_id
LIMIT 3;

-- name: images_of_domains
-- An image is stored under the hash of its own URL, belongs to a known domain, and refers to a known image if it moved.
SELECT count(*) OVER () AS broken, format('image %s: %s', i.id, i.url) AS example
FROM images i
LEFT JOIN domains d ON d.id = i.domain_id
LEFT JOIN images m ON m.id = i.moved_to
WHERE d.id IS NULL OR i.url_hash <> substring(sha256(convert_to(i.url, 'UTF8')) FROM 1 FOR 16) OR (i.moved_to IS NOT NULL AND m.id IS NULL)
LIMIT 3;

-- name: trapped_pages
-- A page excluded by a trap is blocked and was never visited, and its trap is registered and not released.
SELECT count(*) OVER () AS broken,
       format('page %s is %s, left out by trap %s, which %s', p.id, p.status, p.trap_id,
              CASE WHEN t.id IS NULL THEN 'is unknown' WHEN t.released_at IS NOT NULL THEN 'was released' ELSE 'is shut' END) AS example
FROM pages p
LEFT JOIN domain_traps t ON t.id = p.trap_id AND t.domain_id = p.domain_id
WHERE p.trap_id IS NOT NULL
  AND (t.id IS NULL OR t.found_at IS NULL OR t.released_at IS NOT NULL OR p.status <> 'blocked'
       OR EXISTS (SELECT FROM crawl_tasks c WHERE c.page_id = p.id AND c.outcome <> 'cancelled'))
LIMIT 3;

-- name: page_counters
-- A domain's numbers of known pages, and of queued pages and images, match a recount; revisits do not count as queued.
SELECT count(*) OVER () AS broken,
       format('%s counts %s known and %s waiting, there are %s and %s', d.name, d.pages_discovered, d.frontier_size,
              coalesce(p.known, 0), coalesce(p.waiting, 0)) AS example
FROM domains d
LEFT JOIN (SELECT g.domain_id, count(*) FILTER (WHERE NOT g.is_image AND NOT g.is_sitemap) AS known, count(*) FILTER (WHERE g.status IN ('discovered', 'queued')) AS waiting
           FROM pages g GROUP BY g.domain_id) p ON p.domain_id = d.id
WHERE d.pages_discovered <> coalesce(p.known, 0) OR d.frontier_size <> coalesce(p.waiting, 0)
LIMIT 3;

-- name: visit_counters
-- A domain's numbers of successful and failed visits to pages match a recount, from the history and from the counters
-- of visits that left it; a visit counts as failed if the site or the network is to blame.
SELECT count(*) OVER () AS broken,
       format('%s counts %s visits and %s errors, there are %s and %s', d.name, d.pages_crawled, d.total_error_count,
              coalesce(t.good, 0) + coalesce(l.good, 0), coalesce(t.bad, 0) + coalesce(l.bad, 0)) AS example
FROM domains d
LEFT JOIN (SELECT c.domain_id, count(*) FILTER (WHERE c.outcome = 'success') AS good,
                  count(*) FILTER (WHERE c.blame IN ('site', 'network')) AS bad
           FROM crawl_tasks c JOIN pages g ON g.id = c.page_id
           WHERE c.outcome IS NOT NULL AND NOT g.is_image AND NOT g.is_sitemap GROUP BY c.domain_id) t ON t.domain_id = d.id
LEFT JOIN (SELECT e.domain_id, sum(e.tasks) FILTER (WHERE e.outcome = 'success') AS good, sum(e.errors) AS bad
           FROM archived_rows e WHERE NOT e.is_image AND NOT e.is_sitemap GROUP BY e.domain_id) l ON l.domain_id = d.id
WHERE d.pages_crawled <> coalesce(t.good, 0) + coalesce(l.good, 0) OR d.total_error_count <> coalesce(t.bad, 0) + coalesce(l.bad, 0)
LIMIT 3;

-- name: image_counters
-- A domain's numbers of images shown by its pages, and of stored images that it showed first, match a recount.
SELECT count(*) OVER () AS broken,
       format('%s counts %s images shown and %s stored, there are %s and %s', d.name, d.images_found, d.images_stored,
              coalesce(s.shown, 0), coalesce(i.stored, 0)) AS example
FROM domains d
LEFT JOIN (SELECT p.domain_id, count(*) AS shown FROM page_images p GROUP BY p.domain_id) s ON s.domain_id = d.id
LEFT JOIN (SELECT m.domain_id, count(*) AS stored FROM images m WHERE m.stored_at IS NOT NULL GROUP BY m.domain_id) i ON i.domain_id = d.id
WHERE d.images_found <> coalesce(s.shown, 0) OR d.images_stored <> coalesce(i.stored, 0)
LIMIT 3;

-- name: run_counters
-- A run's counters equal the tasks it closed, including those that left the history.
SELECT count(*) OVER () AS broken,
       format('run %s counts %s %s, there are %s', coalesce(r.run_id, t.run_id), coalesce(r.pages, 0),
              coalesce(r.outcome, t.outcome), coalesce(t.tasks, 0)) AS example
FROM (SELECT o.run_id, o.outcome, sum(o.pages) AS pages FROM run_outcomes o GROUP BY o.run_id, o.outcome) r
FULL JOIN (SELECT c.run_id, c.outcome, sum(c.tasks) AS tasks
           FROM (SELECT h.run_id, h.outcome, count(*) AS tasks FROM crawl_tasks h WHERE h.outcome IS NOT NULL AND h.run_id IS NOT NULL
                 GROUP BY h.run_id, h.outcome
                 UNION ALL
                 SELECT e.run_id, e.outcome, e.tasks FROM archived_rows e WHERE e.run_id IS NOT NULL) c
           GROUP BY c.run_id, c.outcome) t
       ON t.run_id = r.run_id AND t.outcome = r.outcome
WHERE coalesce(r.pages, 0) <> coalesce(t.tasks, 0)
LIMIT 3;

-- name: run_limits
-- The pages that a run with a limit took from it equal the tasks it holds and closed, including those that left the
-- history; images and sitemaps are not taken from it.
SELECT count(*) OVER () AS broken, format('run %s took %s of its %s pages, it has %s tasks', r.id, r.pages_claimed, r.max_pages, coalesce(t.tasks, 0)) AS example
FROM runs r
LEFT JOIN (SELECT c.run_id, sum(c.tasks) AS tasks
           FROM (SELECT h.run_id, count(*) AS tasks FROM crawl_tasks h JOIN pages p ON p.id = h.page_id
                 WHERE h.run_id IS NOT NULL AND NOT p.is_sitemap AND NOT p.is_image GROUP BY h.run_id
                 UNION ALL
                 SELECT e.run_id, e.tasks FROM archived_rows e WHERE e.run_id IS NOT NULL AND NOT e.is_sitemap AND NOT e.is_image) c
           GROUP BY c.run_id) t ON t.run_id = r.id
WHERE r.max_pages IS NOT NULL AND r.pages_claimed <> coalesce(t.tasks, 0)
LIMIT 3;

-- name: nothing_forgotten
-- An unleased domain with a page to visit in scope of its run can be claimed for it, now or after its cooldown.
SELECT count(*) OVER () AS broken, format('%s has %s waiting and is never ready', d.name, d.frontier_size) AS example
FROM domains d
JOIN runs r ON r.id = d.run_id
LEFT JOIN domain_settings s ON s.domain_id = d.id
WHERE d.claimed_by IS NULL AND d.ready_at IS NULL AND NOT (d.status = 'exhausted' AND d.next_crawl_after IS NOT NULL)
  AND COALESCE(pages_left(d, r.max_pages_per_domain, now()) > 0, true)
  AND r.spec ->> 'scope' NOT IN ('page', 'prefix') AND r.spec -> 'include' = '[]' AND r.spec -> 'exclude' = '[]'
  AND (EXISTS (SELECT FROM pages p WHERE p.domain_id = d.id AND p.status = 'discovered' AND in_scope(p, s, r.max_depth)
                 AND (p.is_image OR p.is_sitemap OR NOT d.images_only))
       OR EXISTS (SELECT FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
                  WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.status = 'pending' AND in_scope(p, s, r.max_depth)
                    AND (p.is_image OR p.is_sitemap OR NOT d.images_only)))
LIMIT 3;

-- name: due_times
-- The due time of a domain is when it is ready and its cooldown is over, or the end of its maintenance window; where
-- revisits are charged to a page budget that is spent, the time when it renews.
SELECT count(*) OVER () AS broken,
       format('%s is due %s, ready %s and rests until %s', d.name, coalesce(d.due_at::text, 'never'), coalesce(d.ready_at::text, 'never'),
              coalesce(d.next_crawl_after::text, 'now')) AS example
FROM domains d
LEFT JOIN runs r ON r.id = d.run_id
CROSS JOIN LATERAL (SELECT CASE WHEN d.ready_at IS NULL THEN NULL
                                WHEN d.counts_revisits AND d.run_pages > 0 AND pages_left(d, r.max_pages_per_domain, d.updated_at) <= 0
                                THEN CASE WHEN d.budget_until IS NOT NULL THEN GREATEST(d.ready_at, d.next_crawl_after, d.budget_until) END
                                ELSE GREATEST(d.ready_at, d.next_crawl_after) END AS at) due
WHERE (d.due_at IS NULL) <> (due.at IS NULL) OR d.due_at < due.at
   OR (d.due_at > due.at AND d.maintenance_start IS NULL)
   OR (d.is_due AND coalesce(d.due_at > clock_timestamp(), true))
LIMIT 3;

-- name: urgent_domains
-- A domain is urgent from the time of its first urgent task on, and marked as its urgent tasks and its boost say.
SELECT count(*) OVER () AS broken,
       format('%s is urgent from %s on (urgency %s), by its tasks from %s on', d.name, coalesce(d.urgent_at::text, 'never'), d.urgency,
              coalesce(t.first::text, 'never')) AS example
FROM domains d
LEFT JOIN (SELECT c.domain_id, min(c.scheduled_for) AS first FROM crawl_tasks c
           WHERE c.is_urgent AND c.outcome IS NULL AND c.locked_at IS NULL AND c.status = 'pending' GROUP BY c.domain_id) t ON t.domain_id = d.id
WHERE d.urgent_at IS DISTINCT FROM t.first
   OR (d.urgency = 2 AND coalesce(d.urgent_at > clock_timestamp(), true))
   OR (d.urgency < 2 AND d.urgency <> (d.priority_boost > 0)::int)
LIMIT 3;

-- name: lease_states
-- A leased domain is active, and its lease has an end.
SELECT count(*) OVER () AS broken, format('%s is %s and leased by worker %s', d.name, d.status, coalesce(d.claimed_by::text, 'nobody')) AS example
FROM domains d
WHERE (d.claimed_by IS NULL) <> (d.claim_expires_at IS NULL) OR (d.claimed_by IS NOT NULL AND d.status <> 'active')
LIMIT 3;

-- name: copied_settings
-- Columns of a domain that are copies of its crawl settings have their values, and these are its profile's and its own.
SELECT count(*) OVER () AS broken, format('%s has a copy that differs from its settings', d.name) AS example
FROM domains d LEFT JOIN domain_settings s ON s.domain_id = d.id LEFT JOIN profiles p ON p.id = s.profile_id
WHERE has_stale_copies(d, COALESCE(s.effective, '{}')) OR (s.domain_id IS NOT NULL AND s.effective <> COALESCE(p.settings, '{}') || s.settings)
LIMIT 3;

-- name: exhausted_domains
-- An exhausted domain has no page in scope that waits for its first visit.
SELECT count(*) OVER () AS broken, format('%s is exhausted with %s waiting', d.name, d.frontier_size) AS example
FROM domains d LEFT JOIN runs r ON r.id = d.run_id LEFT JOIN domain_settings s ON s.domain_id = d.id
WHERE d.status = 'exhausted' AND NOT d.images_only
  AND EXISTS (SELECT FROM pages p WHERE p.domain_id = d.id AND p.status = 'discovered' AND in_scope(p, s, COALESCE(r.max_depth, 1000)))
LIMIT 3;

-- name: blocked_domains
-- A blocked or unreachable domain has a reason, and no other domain has one.
SELECT count(*) OVER () AS broken, format('%s is %s, reason %s', d.name, d.status, coalesce(d.block_reason_code, 'none')) AS example
FROM domains d
WHERE (d.status IN ('blocked', 'unreachable')) <> (d.block_reason_code IS NOT NULL)
LIMIT 3;

-- name: last_moves
-- A domain has the state to which its last recorded transition led, and is enabled or disabled as that says.
SELECT count(*) OVER () AS broken,
       format('%s is %s, switched %s; its last move led to %s, %s', d.name, d.status, CASE WHEN d.is_active THEN 'on' ELSE 'off' END,
              h.to_status, CASE WHEN h.is_active THEN 'on' ELSE 'off' END) AS example
FROM domains d
CROSS JOIN LATERAL (SELECT m.to_status, m.is_active FROM domain_history m WHERE m.domain_id = d.id ORDER BY m.id DESC LIMIT 1) h
WHERE h.to_status <> d.status OR h.is_active <> d.is_active
LIMIT 3;

-- name: chained_moves
-- Each transition of a domain starts in the state where the previous one ended.
SELECT count(*) OVER () AS broken, format('move %s of domain %s begins at %s, the one before led to %s', h.id, h.domain_id, h.from_status, h.before) AS example
FROM (SELECT m.id, m.domain_id, m.from_status, lag(m.to_status) OVER (PARTITION BY m.domain_id ORDER BY m.id) AS before FROM domain_history m) h
WHERE h.before <> h.from_status
LIMIT 3;

-- name: allowed_moves
-- Every recorded transition is an allowed one; one that does not change the state enabled or disabled the domain.
SELECT count(*) OVER () AS broken, format('move %s of domain %s went from %s to %s', h.id, h.domain_id, h.from_status, h.to_status) AS example
FROM domain_history h
WHERE h.from_status <> h.to_status
  AND NOT EXISTS (SELECT FROM unnest($1::text[], $2::text[]) AS m (from_status, to_status)
                  WHERE m.from_status = h.from_status::text AND m.to_status = h.to_status::text)
LIMIT 3;

-- name: table_of_moves
-- The database allows exactly the transitions that the program defines.
SELECT count(*) OVER () AS broken,
       format('from %s to %s is allowed by the %s only', coalesce(m.from_status, s.from_status::text), coalesce(m.to_status, s.to_status::text),
              CASE WHEN m.from_status IS NULL THEN 'database' ELSE 'program' END) AS example
FROM unnest($1::text[], $2::text[]) AS m (from_status, to_status)
FULL JOIN domain_transitions s ON s.from_status::text = m.from_status AND s.to_status::text = m.to_status
WHERE m.from_status IS NULL OR s.from_status IS NULL
LIMIT 3;

-- name: moves_guard
-- The database itself rejects forbidden transitions, records every transition, and maintains the due time of a domain.
SELECT count(*) OVER () AS broken, format('the trigger %s is missing or off', n.name) AS example
FROM (VALUES ('domains_move'), ('domains_moved'), ('domains_keep')) AS n (name)
WHERE NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgname = n.name AND g.tgrelid = 'domains'::regclass AND g.tgenabled IN ('O', 'A'))
LIMIT 3;

-- name: task_moves_table
-- The database allows exactly the task transitions that the program defines.
SELECT count(*) OVER () AS broken,
       format('from %s to %s is allowed by the %s only', coalesce(m.from_status, s.from_status::text), coalesce(m.to_status, s.to_status::text),
              CASE WHEN m.from_status IS NULL THEN 'database' ELSE 'program' END) AS example
FROM unnest($1::text[], $2::text[]) AS m (from_status, to_status)
FULL JOIN task_transitions s ON s.from_status::text = m.from_status AND s.to_status::text = m.to_status
WHERE m.from_status IS NULL OR s.from_status IS NULL
LIMIT 3;

-- name: task_moves_guard
-- The database itself rejects forbidden task transitions, and records the webhook calls of closed tasks.
SELECT count(*) OVER () AS broken, format('the trigger %s is missing or off', n.name) AS example
FROM (VALUES ('crawl_tasks_move'), ('crawl_tasks_tell')) AS n (name)
WHERE NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgname = n.name AND g.tgrelid = 'crawl_tasks'::regclass AND g.tgenabled IN ('O', 'A'))
LIMIT 3;

-- name: ordered_moves
-- Every task transition requested by an operator is an allowed one.
SELECT count(*) OVER () AS broken, format('order %s moved task %s from %s to %s', o.id, o.task_id, o.from_status, o.to_status) AS example
FROM task_orders o
WHERE o.from_status <> o.to_status
  AND NOT EXISTS (SELECT FROM unnest($1::text[], $2::text[]) AS m (from_status, to_status)
                  WHERE m.from_status = o.from_status::text AND m.to_status = o.to_status::text)
LIMIT 3;

-- name: waiting_tasks
-- A task that waits for another one depends on a known task other than itself.
SELECT count(*) OVER () AS broken, format('task %s waits for task %s', t.id, t.depends_on) AS example
FROM crawl_tasks t
LEFT JOIN crawl_tasks d ON d.id = t.depends_on
WHERE t.depends_on IS NOT NULL AND t.outcome IS NULL AND t.is_waiting AND (d.id IS NULL OR d.id = t.id)
LIMIT 3;
