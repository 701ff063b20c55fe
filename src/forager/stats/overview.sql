-- Overview of the whole crawl, for displays and charts. Reads only.

-- name: totals
-- Totals of stored and finished work, from counters that are updated together with what they count.
SELECT d.*, (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM runs WHERE status = 'running') AS running_runs,
       (SELECT count(*) FROM products) AS products
FROM (SELECT count(*) AS domains, COALESCE(sum(pages_discovered), 0)::bigint AS pages_known, COALESCE(sum(pages_crawled), 0)::bigint AS pages_crawled,
             COALESCE(sum(total_error_count), 0)::bigint AS errors, COALESCE(sum(images_found), 0)::bigint AS images_found,
             COALESCE(sum(images_stored), 0)::bigint AS images_stored, count(*) FILTER (WHERE NOT is_active) AS paused_domains
      FROM domains) d;
