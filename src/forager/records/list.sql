-- Read-only queries on records, extractors and items for operators.
-- Optional filters are NULL when not given; PostgreSQL drops them while planning, so the rest can use its index.

-- name: list_records
-- Lists records, those found last first; conditions on fields are names, signs and values.
SELECT r.id, d.name AS domain, p.url, r.extractor, r.kind, r.key, r.fields::text AS fields, r.problems, r.first_seen_at, r.last_seen_at, r.changed_at,
       r.gone_at, r.page_id, r.task_id
FROM records r JOIN pages p ON p.id = r.page_id JOIN domains d ON d.id = r.domain_id
WHERE r.id < COALESCE($1::bigint, 9223372036854775807)
  AND ($2::text IS NULL OR r.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2))
  AND ($3::text IS NULL OR r.kind = $3)
  AND ($4::text IS NULL OR r.extractor = $4)
  AND ($5::bigint IS NULL OR r.page_id = $5)
  AND ($6::timestamptz IS NULL OR r.changed_at >= $6)
  AND ($7::boolean IS NULL OR (r.gone_at IS NULL) = $7)
  AND ($8::boolean IS NULL OR (r.problems = '{}') = $8)
  AND NOT EXISTS (SELECT FROM unnest($9::text[], $10::text[], $11::text[]) AS w (name, sign, value) WHERE NOT has_value(r.fields, w.name, w.sign, w.value))
ORDER BY r.id DESC LIMIT $12::bigint;

-- name: find_record
-- Finds one record by its id, with its evidence.
SELECT r.id, d.name AS domain, p.url, r.extractor, r.kind, r.key, r.fields::text AS fields, r.evidence, r.problems, r.first_seen_at, r.last_seen_at,
       r.changed_at, r.gone_at, r.page_id, r.task_id, p.status::text AS page_status
FROM records r JOIN pages p ON p.id = r.page_id JOIN domains d ON d.id = r.domain_id WHERE r.id = $1;

-- name: record_history
-- Lists what became of one record, oldest first, up to a limit.
SELECT c.id, c.seen_at, c.event, c.field, c.old_value::text AS old_value, c.new_value::text AS new_value, c.is_correction, c.task_id
FROM record_changes c WHERE c.record_id = $1 AND c.id > COALESCE($2::bigint, 0) ORDER BY c.id LIMIT $3::bigint;

-- name: list_coverage
-- Lists how often each field of each extractor was found in a domain on a day, newest day first; the empty field is the record as a whole.
SELECT d.name AS domain, g.day, g.extractor, g.field, g.found, g.valid, g.missing, g.failed, g.last_error,
       g.valid::float8 / NULLIF(g.found + g.missing, 0) AS rate
FROM extractor_days g JOIN domains d ON d.id = g.domain_id
WHERE ($1::text IS NULL OR d.name = $1) AND ($2::text IS NULL OR g.extractor = $2)
  AND g.day >= (now() AT TIME ZONE 'UTC')::date - $3::int
ORDER BY g.day DESC, g.extractor, d.name, g.field LIMIT $4::bigint;

-- name: list_dropped_fields
-- Lists fields that are found less often in a domain yesterday and today than in the week before, largest drop first.
SELECT d.name AS domain, r.extractor, r.field, r.tried, r.rate, r.rate_before
FROM (SELECT g.domain_id, g.extractor, g.field, sum(g.found + g.missing) FILTER (WHERE g.day >= t.today - 1) AS tried,
             sum(g.valid) FILTER (WHERE g.day >= t.today - 1)::float8 / NULLIF(sum(g.found + g.missing) FILTER (WHERE g.day >= t.today - 1), 0) AS rate,
             sum(g.valid) FILTER (WHERE g.day < t.today - 1)::float8 / NULLIF(sum(g.found + g.missing) FILTER (WHERE g.day < t.today - 1), 0) AS rate_before
      FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) t JOIN extractor_days g ON g.day >= t.today - 8
      GROUP BY g.domain_id, g.extractor, g.field) r
JOIN domains d ON d.id = r.domain_id
WHERE r.tried >= $1 AND r.rate_before - r.rate > $2 AND ($3::text IS NULL OR d.name = $3)
ORDER BY r.rate - r.rate_before, d.name, r.extractor, r.field LIMIT $4::bigint;

-- name: count_by_extractor
-- Counts the records of each extractor, and says when it last found one and how it failed last.
SELECT e.extractor, e.records, e.complete, e.gone, e.domains, e.last_seen_at,
       f.failed, f.last_error
FROM (SELECT r.extractor, count(*) FILTER (WHERE r.gone_at IS NULL) AS records, count(*) FILTER (WHERE r.gone_at IS NULL AND r.problems = '{}') AS complete,
             count(*) FILTER (WHERE r.gone_at IS NOT NULL) AS gone, count(DISTINCT r.domain_id) AS domains, max(r.last_seen_at) AS last_seen_at
      FROM records r GROUP BY r.extractor) e
LEFT JOIN LATERAL (
    SELECT sum(g.failed)::bigint AS failed, (array_agg(g.last_error ORDER BY g.day DESC) FILTER (WHERE g.last_error IS NOT NULL))[1] AS last_error
    FROM extractor_days g WHERE g.extractor = e.extractor AND g.field = '' AND g.day >= (now() AT TIME ZONE 'UTC')::date - 7) f ON true
ORDER BY e.extractor;

-- name: sample_bodies
-- Returns stored bodies to try an extractor on: the newest pages of a domain or of all, or one page.
SELECT p.id AS page_id, p.url, t.body_ref
FROM (SELECT c.page_id, max(c.id) AS id FROM
          (SELECT x.page_id, x.id FROM crawl_tasks x
           WHERE x.body_ref IS NOT NULL AND ($1::bigint IS NULL OR x.page_id = $1) AND ($2::text IS NULL OR x.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2))
           ORDER BY x.id DESC LIMIT 2000) c
      GROUP BY c.page_id) n
JOIN crawl_tasks t ON t.id = n.id JOIN pages p ON p.id = n.page_id
JOIN bodies b ON b.name = split_part(t.body_ref, ':', 2) AND b.dropped_at IS NULL
WHERE NOT p.is_image AND NOT p.is_sitemap
ORDER BY n.id DESC LIMIT $3::bigint;

-- name: list_item_pages
-- Lists pages with structured data after a page, with a type of item or all, compressed.
SELECT e.page_id, p.url, d.name AS domain, p.fetched_at, e.structured_data
FROM page_details e JOIN pages p ON p.id = e.page_id JOIN domains d ON d.id = p.domain_id
WHERE e.page_id > $1::bigint AND e.structured_data IS NOT NULL
  AND ($2::text IS NULL OR e.item_types @> ARRAY[$2])
  AND ($3::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $3))
  AND ($4::bigint IS NULL OR e.page_id = $4)
ORDER BY e.page_id LIMIT $5::bigint;
