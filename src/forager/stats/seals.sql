-- Digests of rows that never change. Owner of seals and seal_marks.

-- name: lock_seals
-- Allows one sealer at a time, without waiting for another one, nor for audited deletions: triggers hold the same lock,
-- shared.
SELECT pg_try_advisory_xact_lock(x'466F7261677A'::bigint);

-- name: read_marks
-- For each table: how far it is sealed, its end when it was last marked, and whether it may be sealed up to there:
-- every transaction that began before the mark has ended. A transaction that has been running for ten minutes, such as
-- an export, writes none of these rows.
SELECT w.what, COALESCE((SELECT max(s.until) FROM seals s WHERE s.what = w.what), 0) AS sealed_until, m.position,
       m.seen_at < (SELECT LEAST(now(), min(a.xact_start)) FROM pg_stat_activity a
                    WHERE a.datname = current_database() AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
                      AND a.xact_start > now() - interval '10 minutes') AS is_settled
FROM unnest(ARRAY['crawl_tasks', 'product_prices', 'domain_history', 'robots_requests', 'audit_log']) AS w (what)
LEFT JOIN seal_marks m ON m.what = w.what;

-- name: write_marks
-- Marks the current end of each table.
INSERT INTO seal_marks (what, position, seen_at)
SELECT m.what, m.position, clock_timestamp()
FROM (VALUES ('crawl_tasks', (EXTRACT(EPOCH FROM now()) * 1000000)::bigint), ('product_prices', (SELECT max(id) FROM product_prices)),
             ('domain_history', (SELECT max(id) FROM domain_history)), ('robots_requests', (SELECT max(id) FROM robots_requests)),
             ('audit_log', (SELECT max(id) FROM audit_log))) AS m (what, position)
WHERE m.position IS NOT NULL AND m.what = ANY ($1::text[])
ON CONFLICT (what) DO UPDATE SET position = EXCLUDED.position, seen_at = EXCLUDED.seen_at;

-- name: end_of_stretch
-- The position of the $4th row after a position of a table, up to another; no row: fewer are left.
SELECT x.position FROM (
    (SELECT sealed_position(t) AS position FROM crawl_tasks t
     WHERE $1::text = 'crawl_tasks' AND t.outcome IS NOT NULL AND t.completed_at > 'epoch'::timestamptz + ($2::bigint - 1) * interval '1 microsecond'
       AND sealed_position(t) > $2 AND sealed_position(t) <= $3::bigint ORDER BY t.completed_at OFFSET $4::bigint - 1 LIMIT 1)
    UNION ALL (SELECT p.id FROM product_prices p WHERE $1 = 'product_prices' AND p.id > $2 AND p.id <= $3 ORDER BY p.id OFFSET $4 - 1 LIMIT 1)
    UNION ALL (SELECT h.id FROM domain_history h WHERE $1 = 'domain_history' AND h.id > $2 AND h.id <= $3 ORDER BY h.id OFFSET $4 - 1 LIMIT 1)
    UNION ALL (SELECT r.id FROM robots_requests r WHERE $1 = 'robots_requests' AND r.id > $2 AND r.id <= $3 ORDER BY r.id OFFSET $4 - 1 LIMIT 1)
    UNION ALL (SELECT a.id FROM audit_log a WHERE $1 = 'audit_log' AND a.id > $2 AND a.id <= $3 ORDER BY a.id OFFSET $4 - 1 LIMIT 1)
) x;

-- name: write_digests
-- Seals the rows of a table after a position and up to another; writes nothing where there are none.
INSERT INTO seals (what, after, until, row_count, digest, chain)
SELECT $1::text, $2::bigint, $3::bigint, c.row_count, c.digest,
       sha256(convert_to(concat_ws(' ', (SELECT encode(p.chain, 'hex') FROM seals p WHERE p.what = $1 ORDER BY p.until DESC LIMIT 1),
                                   $1, $2, $3, c.row_count, c.digest), 'UTF8'))
FROM count_sealed($1::text, ARRAY[$2::bigint, $3::bigint]) c
RETURNING row_count;

-- name: broken_seals
-- Seals of a table whose rows differ: the expected and actual number of rows, and the positions.
WITH made AS MATERIALIZED (
    SELECT s.id, s.after, s.until, s.row_count - s.left_rows AS row_count, s.digest - s.left_digest AS digest,
           row_number() OVER (ORDER BY s.until)::int AS stretch
    FROM seals s WHERE s.what = $1::text
), bounds AS MATERIALIZED (
    SELECT ARRAY(SELECT b FROM (SELECT min(after) AS b FROM made UNION SELECT until FROM made) x WHERE b IS NOT NULL ORDER BY b) AS at
), found AS (
    SELECT c.* FROM bounds CROSS JOIN LATERAL count_sealed($1::text, bounds.at) c WHERE cardinality(bounds.at) > 1
)
SELECT m.id, m.after, m.until, m.row_count AS expected, COALESCE(f.row_count, 0) AS found
FROM made m LEFT JOIN found f ON f.stretch = m.stretch
WHERE (m.row_count, m.digest) IS DISTINCT FROM (COALESCE(f.row_count, 0), COALESCE(f.digest, 0))
ORDER BY m.until;

-- name: broken_chain
-- Seals whose chain does not follow from the one before: one was altered, removed or inserted.
SELECT s.id, s.what
FROM (SELECT e.*, lag(encode(e.chain, 'hex')) OVER w AS before, lag(e.until) OVER w AS until_before FROM seals e WINDOW w AS (PARTITION BY e.what ORDER BY e.until)) s
WHERE s.chain <> sha256(convert_to(concat_ws(' ', s.before, s.what, s.after, s.until, s.row_count, s.digest), 'UTF8')) OR s.after < s.until_before
ORDER BY s.id;

-- name: count_seals
-- Number of seals and of sealed rows by table.
SELECT what, count(*) AS seals, sum(row_count - left_rows)::bigint AS row_count FROM seals GROUP BY what;
