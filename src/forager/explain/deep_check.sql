-- Queries of `forager check --deep` beyond `check.sql`, in the same form: the total number of broken rows, and three
-- examples as text.

-- name: deep_population
-- Returns the number of rows of each kind, which the other statements check.
SELECT (SELECT count(*) FROM products) AS products, (SELECT count(*) FROM product_prices) AS prices, (SELECT count(*) FROM records) AS records, (SELECT count(*) FROM indexed_pages) AS indexed_pages,
       (SELECT count(*) FROM pages WHERE fetched_at IS NOT NULL) AS read_pages, (SELECT count(*) FROM domains) AS domains,
       (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL) AS closed_tasks,
       (SELECT count(*) FROM domain_traps) AS traps, (SELECT count(*) FROM page_link_lists) AS link_lists, (SELECT count(*) FROM jobs) AS jobs,
       (SELECT count(*) FROM page_details) AS details;

-- name: lease_versions
-- A domain that was visited has been leased, so its lease version is above 0, and no offer has a later version.
SELECT count(*) OVER () AS broken, format('%s has lease version %s', d.name, d.version) AS example
FROM domains d LEFT JOIN dispatched_domains o ON o.domain_id = d.id
WHERE (d.version <= 0 AND d.last_crawled_at IS NOT NULL) OR o.version > d.version
LIMIT 3;

-- name: requests_on_record
-- A closed task that got a response has the time of its request and the delay in force.
SELECT count(*) OVER () AS broken, format('task %s got %s and has no %s', t.id, t.status_code, CASE WHEN t.requested_at IS NULL THEN 'moment of its request' ELSE 'pace' END) AS example
FROM crawl_tasks t
WHERE t.outcome IS NOT NULL AND t.status_code IS NOT NULL AND (t.requested_at IS NULL OR t.pace_ms IS NULL)
LIMIT 3;

-- name: robots_on_record
-- A domain that was visited while one of its robots.txt copies was valid has a recorded robots.txt request, as long as
-- those are kept.
SELECT count(*) OVER () AS broken, format('%s had its robots.txt fetched %s, and no request for one is on record', d.name, o.fetched_at) AS example
FROM domains d
JOIN (SELECT r.domain_id, max(r.robots_fetched_at) AS fetched_at FROM origins r WHERE r.robots_status_code IS NOT NULL GROUP BY r.domain_id) o ON o.domain_id = d.id
WHERE o.fetched_at > now() - make_interval(secs => $1::float8) AND NOT EXISTS (SELECT FROM robots_requests q WHERE q.domain_id = d.id)
LIMIT 3;

-- name: page_depths
-- A page is at most one link deeper than a page that links to it; a redirect leads no deeper.
SELECT count(*) OVER () AS broken, format('page %s is at depth %s, and page %s at depth %s links to it', t.id, t.depth, f.id, f.depth) AS example
FROM page_link_lists l
JOIN pages f ON f.id = l.from_page_id
JOIN pages t ON t.id = ANY (l.to_page_ids)
WHERE t.depth > f.depth + CASE l.rels WHEN 'redirect' THEN 0 ELSE 1 END
LIMIT 3;

-- name: traps_on_record
-- If links were excluded because of a trap, a trap with that rule is registered, unless a domain was purged since.
SELECT count(*) OVER () AS broken, format('links were left out by %s, and no such trap is on record', x.rule) AS example
FROM (SELECT DISTINCT substring(r.reason FROM 6) AS rule FROM run_drops r WHERE r.reason LIKE 'trap:%') x
WHERE NOT EXISTS (SELECT FROM domain_traps t WHERE t.rule = x.rule) AND NOT EXISTS (SELECT FROM purges u WHERE u.what = 'domain')
LIMIT 3;

-- name: run_bytes
-- The bytes and durations that a run counts equal those of its closed tasks, if none of them left the history.
SELECT count(*) OVER () AS broken, format('run %s counts %s bytes for %s, its tasks have %s', o.run_id, o.bytes, o.outcome, coalesce(t.bytes, 0)) AS example
FROM (SELECT r.run_id, r.outcome, sum(r.bytes) AS bytes FROM run_outcomes r GROUP BY r.run_id, r.outcome) o
LEFT JOIN (SELECT c.run_id, c.outcome, sum(c.bytes) AS bytes FROM crawl_tasks c
           WHERE c.outcome IS NOT NULL AND c.run_id IS NOT NULL GROUP BY c.run_id, c.outcome) t ON t.run_id = o.run_id AND t.outcome = o.outcome
WHERE o.bytes <> coalesce(t.bytes, 0) AND NOT EXISTS (SELECT FROM archived_rows e WHERE e.run_id = o.run_id)
LIMIT 3;

-- name: run_links
-- The number of links seen by all runs equals the sum of the counts per minute, which may lack some for a run that
-- began before the first count.
SELECT count(*) OVER () AS broken, b.example
FROM (
    SELECT format('runs saw %s links, by the minute it were %s', r.links, s.links) AS example
    FROM (SELECT COALESCE(sum(n.links_seen), 0)::float8 AS links, COALESCE(sum(n.links_seen) FILTER (WHERE n.started_at >= f.at), 0)::float8 AS counted
          FROM (SELECT COALESCE((SELECT min(d.day + 1)::timestamp AT TIME ZONE 'UTC' FROM series_days d WHERE d.metric = 'links_seen'),
                          (SELECT min(m.minute) - interval '10 minutes'
                           FROM (SELECT minute FROM series WHERE metric = 'links_seen' UNION ALL SELECT minute FROM series_parts WHERE metric = 'links_seen') m),
                          '-infinity') AS at) f
          LEFT JOIN runs n ON true) r,
         (SELECT COALESCE(sum(amount), 0) AS links FROM (SELECT amount FROM series_totals WHERE metric = 'links_seen'
                                                         UNION ALL SELECT amount FROM series_parts WHERE metric = 'links_seen') c) s
    WHERE s.links NOT BETWEEN r.counted AND r.links AND EXISTS (SELECT FROM series_totals UNION ALL SELECT FROM series_parts)
) b
LIMIT 3;

-- name: run_pages
-- The pages that a run took from a domain are no more than the tasks the domain ever had, including those that left the
-- history.
SELECT count(*) OVER () AS broken, format('%s counts %s pages for run %s, it has %s tasks in all', d.name, d.run_pages, d.run_id, coalesce(t.tasks, 0)) AS example
FROM domains d
LEFT JOIN (SELECT c.domain_id, sum(c.tasks) AS tasks
           FROM (SELECT h.domain_id, count(*) AS tasks FROM crawl_tasks h GROUP BY h.domain_id
                 UNION ALL SELECT e.domain_id, e.tasks FROM archived_rows e) c
           GROUP BY c.domain_id) t ON t.domain_id = d.id
WHERE d.run_pages < 0 OR d.run_pages > coalesce(t.tasks, 0)
LIMIT 3;

-- name: depths_reached
-- A domain's recorded depth equals the depth of its deepest visited page, and is within the limit of its runs.
SELECT count(*) OVER () AS broken, format('%s says it was visited down to %s, the deepest page is at %s', d.name, d.depth_reached, p.depth) AS example
FROM domains d
JOIN (SELECT g.domain_id, max(g.depth) FILTER (WHERE g.status = 'fetched') AS depth, max(g.depth) AS deepest FROM pages g WHERE NOT g.is_image AND NOT g.is_sitemap GROUP BY g.domain_id) p
     ON p.domain_id = d.id
WHERE d.depth_reached < p.depth OR d.depth_reached > GREATEST(p.deepest, (SELECT max(r.max_depth) FROM runs r))
LIMIT 3;

-- name: jobs_on_record
-- The schedule contains every periodic job; it is written with the first crawl.
SELECT count(*) OVER () AS broken, format('the job %s is missing', n.name) AS example
FROM unnest($1::text[]) AS n (name)
WHERE NOT EXISTS (SELECT FROM jobs u WHERE u.name = n.name) AND EXISTS (SELECT FROM runs WHERE ended_at IS NOT NULL OR kept_at IS NOT NULL)
LIMIT 3;

-- name: current_prices
-- The price and availability of a product are those of the newest row of its history; rows read from older versions
-- later are left out.
SELECT count(*) OVER () AS broken,
       format('product %s costs %s %s, its history says %s %s', p.id, coalesce(p.price::text, 'nothing'), p.currency, coalesce(x.price::text, 'nothing'), x.currency) AS example
FROM products p
LEFT JOIN LATERAL (SELECT h.id, h.price, h.currency, h.availability FROM product_prices h
                   WHERE h.domain_id = p.domain_id AND h.product_id = p.id AND NOT h.is_backfill ORDER BY h.id DESC LIMIT 1) x ON true
WHERE x.id IS NULL OR (p.price, p.currency, p.availability) IS DISTINCT FROM (x.price, x.currency, x.availability)
LIMIT 3;

-- name: chained_prices
-- The price history of a product starts when it is first seen, and each change starts where the previous one ended. Rows
-- that were read from older versions later have no part in this chain.
SELECT count(*) OVER () AS broken, format('row %s of product %s was preceded by %s, it says %s', h.id, h.product_id, coalesce(h.before::text, 'nothing'), coalesce(h.old_price::text, 'nothing')) AS example
FROM (SELECT x.id, x.product_id, x.is_first, x.old_price, lag(x.price) OVER w AS before, row_number() OVER w AS number,
             (lag(x.price) OVER w, lag(x.currency) OVER w, lag(x.availability) OVER w) IS DISTINCT FROM (x.old_price, x.old_currency, x.old_availability) AS is_other
      FROM product_prices x WHERE NOT x.is_backfill WINDOW w AS (PARTITION BY x.product_id ORDER BY x.id)) h
WHERE (h.number = 1) <> h.is_first OR (h.number > 1 AND h.is_other)
LIMIT 3;

-- name: products_of_pages
-- A product belongs to a page of its own domain and URL.
SELECT count(*) OVER () AS broken, format('product %s: %s', r.id, r.url) AS example
FROM products r LEFT JOIN pages p ON p.id = r.page_id
WHERE p.id IS NULL OR r.url_hash <> substring(sha256(convert_to(r.url, 'UTF8')) FROM 1 FOR 16) OR p.url_hash <> r.url_hash
LIMIT 3;

-- name: records_of_pages
-- A record belongs to the domain of its page, has a history that begins with its first sight, and is what the newest row of each field says.
SELECT count(*) OVER () AS broken, format('record %s of %s is not what its history says', r.id, r.extractor) AS example
FROM records r JOIN pages p ON p.id = r.page_id
WHERE r.domain_id <> p.domain_id
   OR NOT EXISTS (SELECT FROM record_changes c WHERE c.record_id = r.id AND c.event = 'first')
   OR (r.gone_at IS NULL) = (SELECT c.event = 'gone' FROM record_changes c WHERE c.record_id = r.id AND c.event <> 'changed' ORDER BY c.id DESC LIMIT 1)
   OR EXISTS (SELECT FROM (SELECT DISTINCT ON (c.field) c.field, c.new_value FROM record_changes c
                           WHERE c.record_id = r.id AND c.event = 'changed' ORDER BY c.field, c.id DESC) n
              WHERE n.new_value IS DISTINCT FROM NULLIF(r.fields -> n.field, 'null'))
LIMIT 3;

-- name: indexed_pages
-- Every page that was read before the index's mark, and has words, is in the index.
SELECT count(*) OVER () AS broken, format('page %s cannot be found: %s', p.id, p.url) AS example
FROM pages p
JOIN search_marks m ON m.name = 'pages' AND (p.fetched_at, p.id) <= (m.read_at, m.page_id)
LEFT JOIN indexed_pages i ON i.page_id = p.id
WHERE p.fetched_at IS NOT NULL AND p.keywords_tsv IS NOT NULL AND i.page_id IS NULL
LIMIT 3;

-- name: indexed_products
-- Every product of an indexed page is in the index too.
SELECT count(*) OVER () AS broken, format('product %s cannot be found: %s', r.id, r.product_name) AS example
FROM products r JOIN indexed_pages i ON i.page_id = r.page_id
LEFT JOIN indexed_products x ON x.product_id = r.id
JOIN pages p ON p.id = r.page_id
JOIN search_marks m ON m.name = 'pages' AND (p.fetched_at, p.id) <= (m.read_at, m.page_id)
WHERE x.product_id IS NULL AND NOT r.is_listed
LIMIT 3;

-- name: indexed_signals
-- The stored content signals of a page are those of when the page was read.
SELECT count(*) OVER () AS broken, format('page %s is not what was read: %s', p.id, p.url) AS example
FROM pages p
JOIN search_marks m ON m.name = 'pages' AND (p.fetched_at, p.id) <= (m.read_at, m.page_id)
JOIN indexed_pages i ON i.page_id = p.id
WHERE p.status = 'fetched' AND (i.content_hash IS DISTINCT FROM p.content_hash
      OR i.signals <> row_digest(ROW(p.title, p.description, p.language, p.content_hash)::text))
LIMIT 3;

-- name: details_of_pages
-- The stored headline, site, dates and structured data of a page are those written when the page was read.
SELECT count(*) OVER () AS broken, format('page %s: %s', p.id, p.url) AS example
FROM page_details d JOIN pages p ON p.id = d.page_id
WHERE d.content_hash <> substring(sha256(convert_to(concat_ws(E'\x1f', COALESCE(d.headline, ''), COALESCE(d.site_name, ''), COALESCE(d.section, ''),
          COALESCE(array_to_string(d.tags, E'\x1f'), ''), COALESCE(d.rating::text, ''), COALESCE(d.rating_count::text, ''), COALESCE(to_char(d.published_on, 'YYYY-MM-DD'), ''),
          COALESCE(to_char(d.modified_on, 'YYYY-MM-DD'), '')), 'UTF8') || COALESCE(d.structured_data, '')) FROM 1 FOR 16)
LIMIT 3;
