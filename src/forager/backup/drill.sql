-- Compares a restored copy with its original. Reads only.

-- name: read_sizes
-- Returns how much an instance has: domains, pages, those of them that wait for their first visit, tasks, products.
SELECT (SELECT count(*) FROM domains) AS domains, (SELECT count(*) FROM pages) AS pages,
       (SELECT count(*) FROM pages WHERE status IN ('discovered', 'queued')) AS waiting, (SELECT count(*) FROM crawl_tasks) AS tasks,
       (SELECT count(*) FROM products) AS products;
