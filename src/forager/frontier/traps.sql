-- Excludes the pages of a trap, and includes them again.

-- name: exclude_pages
-- Blocks pages of traps that were never visited, until the trap is released. Pages that a person requested explicitly
-- stay.
WITH shut AS (
    UPDATE pages p SET status = 'blocked', trap_id = n.trap_id
    FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS n (trap_id, domain_id, pattern)
    WHERE p.domain_id = n.domain_id AND p.status = 'discovered' AND NOT p.is_seed AND p.url ~ n.pattern
    RETURNING p.domain_id
)
SELECT domain_id, count(*)::int AS pages FROM shut GROUP BY domain_id ORDER BY domain_id;

-- name: open_pages
-- Makes pages of a released trap wait for their first visit again.
WITH opened AS (
    UPDATE pages SET status = 'discovered', trap_id = NULL WHERE domain_id = $1 AND trap_id = $2
    RETURNING id
)
SELECT count(*)::int FROM opened;
