-- Pages with the same content as another page of their domain: their canonical URL, or their twin under another scheme
-- or www.

-- name: mark_duplicates
-- Compares pages of a batch with the pages that they name as canonical ($2, keys), with those that name them, if they
-- are new or changed ($3), and with their twins ($4 to $6: page, key of the twin, whether the twin is better; NULL: the
-- older one is). A page is marked as a duplicate while the other one is read, names no other page, is no duplicate
-- itself and has the same content, or nearly the same under the same title; otherwise its mark is removed. A mark lasts
-- no longer than its reasons: it is decided again whenever one of the two was visited. Returns each compared pair. Pages
-- are looked up one by one: joined by their domain, all pages of a large one would be read.
WITH batch AS MATERIALIZED (
    SELECT n.page_id, n.canonical_key, n.is_new, p.domain_id, p.url, p.duplicate_of
    FROM unnest($1::bigint[], $2::bytea[], $3::boolean[]) AS n (page_id, canonical_key, is_new) JOIN pages p ON p.id = n.page_id
), twins AS MATERIALIZED (
    SELECT CASE WHEN o.is_better THEN b.page_id ELSE t.id END AS page_id, CASE WHEN o.is_better THEN t.id ELSE b.page_id END AS other_id
    FROM unnest($4::bigint[], $5::bytea[], $6::boolean[]) AS n (page_id, twin_key, is_better)
    JOIN batch b ON b.page_id = n.page_id
    CROSS JOIN LATERAL (
        SELECT t.id FROM pages t
        WHERE t.domain_id = b.domain_id AND t.url_hash = n.twin_key AND t.status = 'fetched' AND t.content_hash IS NOT NULL LIMIT 1) t
    CROSS JOIN LATERAL (SELECT COALESCE(n.is_better, t.id < b.page_id) AS is_better) o
), pairs AS MATERIALIZED (
    SELECT b.page_id, c.id AS other_id, false AS is_twin FROM batch b CROSS JOIN LATERAL (
        SELECT c.id FROM pages c WHERE c.domain_id = b.domain_id AND c.url_hash = b.canonical_key LIMIT 1) c
    UNION ALL
    SELECT q.id, b.page_id, false FROM batch b CROSS JOIN LATERAL (
        SELECT q.id FROM pages q
        WHERE q.domain_id = b.domain_id AND hashtextextended(q.canonical_url, 0) = hashtextextended(b.url, 0) AND q.canonical_url = b.url
          AND q.status = 'fetched' LIMIT 500) q
    WHERE b.is_new
    UNION ALL
    SELECT page_id, other_id, true FROM twins
    UNION ALL
    SELECT q.id, b.page_id, false FROM batch b CROSS JOIN LATERAL (
        SELECT q.id FROM pages q WHERE q.domain_id = b.domain_id AND q.duplicate_of = b.page_id OFFSET 0) q
    UNION ALL
    SELECT b.page_id, b.duplicate_of, false FROM batch b WHERE b.duplicate_of IS NOT NULL
), judged AS MATERIALIZED (
    SELECT i.page_id, i.other_id, i.is_twin, p.domain_id, p.url, p.duplicate_of AS was, c.url AS other_url,
           COALESCE(p.content_hash = c.content_hash OR p.title IS NOT DISTINCT FROM c.title AND bit_count((p.simhash # c.simhash)::bit(64)) <= 3, false) AS is_same,
           COALESCE(p.status IN ('fetched', 'queued') AND c.status IN ('fetched', 'queued') AND c.id <> p.id AND c.domain_id = p.domain_id AND c.canonical_url IS NULL
                    AND c.duplicate_of IS NULL AND NOT c.is_image AND NOT p.is_image
                    AND NOT EXISTS (SELECT FROM pages q WHERE q.domain_id = p.domain_id AND q.duplicate_of = p.id), false) AS may_be
    FROM pairs i
    CROSS JOIN LATERAL (SELECT * FROM pages p WHERE p.id = i.page_id LIMIT 1) p
    LEFT JOIN LATERAL (SELECT * FROM pages c WHERE c.id = i.other_id LIMIT 1) c ON true
), decided AS MATERIALIZED (
    SELECT page_id, min(other_id) FILTER (WHERE is_same AND may_be) AS other_id, min(was) AS was FROM judged GROUP BY page_id
), final AS MATERIALIZED (
    SELECT d.page_id, d.was, CASE WHEN NOT EXISTS (SELECT FROM decided o WHERE o.page_id = d.other_id AND o.other_id IS NOT NULL) THEN d.other_id END AS other_id
    FROM decided d
), marked AS (
    UPDATE pages p SET duplicate_of = f.other_id FROM final f WHERE p.id = f.page_id AND p.duplicate_of IS DISTINCT FROM f.other_id
)
SELECT DISTINCT j.page_id, j.domain_id, j.url, j.other_url, j.is_twin, j.is_same, f.other_id AS duplicate_of, f.was
FROM judged j JOIN final f ON f.page_id = j.page_id;

-- name: revisit_freed
-- Adds a visit to pages that are no longer duplicates, in domains whose pages are revisited: nothing else would.
INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by)
SELECT p.id, p.domain_id, p.priority, 'revisit' FROM pages p WHERE p.id = ANY ($1::bigint[]) AND p.status = 'fetched' ORDER BY p.id
ON CONFLICT (domain_id, page_id) WHERE outcome IS NULL DO NOTHING;
