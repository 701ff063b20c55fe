ALTER TABLE domains
    ADD COLUMN allow_networks text[],
    ADD COLUMN has_new_settings boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN domains.allow_networks IS 'Networks that are not public and may be dialled for this domain: given with --allow-network when it was crawled.';
COMMENT ON COLUMN domains.has_new_settings IS 'Its settings were changed while a worker had it: the worker hands the lease back within a second, and the next claim takes them.';

-- A visit that our own address guard rejected is not the last word on its page: the one before it stays.
CREATE OR REPLACE FUNCTION old_visits(visit_s double precision, failure_s double precision) RETURNS SETOF crawl_tasks LANGUAGE sql STABLE AS $$
    SELECT t.*
    FROM crawl_tasks t JOIN domains d ON d.id = t.domain_id
    WHERE t.outcome IS NOT NULL
      AND t.completed_at < (SELECT max(r.day) FROM domain_days r)::timestamp AT TIME ZONE 'UTC'
      AND t.completed_at < date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '1 day'
      AND t.completed_at < now() - make_interval(secs => COALESCE(
              d.history_retention_s, CASE WHEN t.outcome IN ('success', 'cancelled') THEN visit_s ELSE failure_s END))
      AND EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id AND n.outcome <> 'cancelled'
                  AND n.error_code IS DISTINCT FROM 'address_refused')
      AND (t.body_ref IS NULL
           OR (EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id AND n.body_ref IS NOT NULL)
               AND NOT EXISTS (SELECT FROM bodies b WHERE b.name = split_part(t.body_ref, ':', 2) AND b.kind = 'snapshot' AND b.dropped_at IS NULL)))
      AND (t.batch_id IS NULL OR EXISTS (SELECT FROM crawl_tasks n WHERE n.batch_id = t.batch_id AND n.page_id = t.page_id AND n.id > t.id))
      AND (t.webhook_url IS NULL OR NOT EXISTS (SELECT FROM webhook_calls w WHERE w.task_id = t.id AND w.delivered_at IS NULL))
      AND NOT EXISTS (SELECT FROM crawl_tasks n WHERE n.depends_on = t.id AND n.outcome IS NULL)
$$;
