-- Traps of a domain for operators.

-- name: list_traps
-- Lists the traps and trap candidates of a domain in the order they were detected, with the number of pages each skips.
SELECT t.id, t.rule, t.template, t.pages, t.links, t.example, t.noticed_at, t.found_at, t.released_at, t.released_by,
       CASE WHEN t.template = '' THEN 0
            ELSE (SELECT count(*) FROM pages p WHERE p.domain_id = t.domain_id AND p.trap_id = t.id) END AS pages_left_out
FROM domain_traps t
JOIN domains d ON d.id = t.domain_id
WHERE d.name = $1
ORDER BY t.id;
