-- Traps of domains: candidates, detected and released ones. Owner of domain_traps.

-- name: traps_of
-- Returns all traps and candidates of these domains.
SELECT id, domain_id, rule, template, pages, found_at, released_at IS NOT NULL AS is_released
FROM domain_traps WHERE domain_id = ANY ($1::bigint[]) ORDER BY id;

-- name: save_candidates
-- Stores the progress of trap candidates; those back at zero were harmless and are deleted.
WITH suspects AS (
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::text[]) AS n (domain_id, rule, template, pages, example)
), harmless AS (
    DELETE FROM domain_traps t USING suspects n
    WHERE n.pages = 0 AND t.domain_id = n.domain_id AND t.rule = n.rule AND t.template = n.template AND t.found_at IS NULL
)
INSERT INTO domain_traps (domain_id, rule, template, pages, example)
SELECT domain_id, rule, template, pages, example FROM suspects WHERE pages > 0 ORDER BY domain_id, rule, template
ON CONFLICT (domain_id, rule, template) DO UPDATE SET pages = EXCLUDED.pages, example = EXCLUDED.example
WHERE domain_traps.found_at IS NULL;

-- name: find_traps
-- Marks templates as traps; returns those that were not marked before.
INSERT INTO domain_traps (domain_id, rule, template, pages, example, found_at)
SELECT n.domain_id, n.rule, n.template, n.pages, n.example, now()
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::text[]) AS n (domain_id, rule, template, pages, example)
ORDER BY n.domain_id, n.rule, n.template
ON CONFLICT (domain_id, rule, template) DO UPDATE SET pages = EXCLUDED.pages, example = EXCLUDED.example, found_at = EXCLUDED.found_at
WHERE domain_traps.found_at IS NULL
RETURNING id, domain_id, rule, template, pages, found_at, false AS is_released;

-- name: count_links
-- Counts links that matched rules, by target domain; the first match adds the rule there. Unknown domains have no traps.
INSERT INTO domain_traps (domain_id, rule, template, links, example, found_at)
SELECT d.id, n.rule, n.template, n.links, n.example, now()
FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[]) AS n (domain, rule, template, links, example)
JOIN domains d ON d.name = n.domain
ORDER BY d.id, n.rule, n.template
ON CONFLICT (domain_id, rule, template) DO UPDATE SET links = domain_traps.links + EXCLUDED.links, example = EXCLUDED.example;

-- name: count_subdomains
-- Counts the domains below these registrable domains that were found by links; not if an operator released the trap.
SELECT d.parent_domain, count(*)::int AS domains
FROM domains d
WHERE d.parent_domain = ANY ($1::text[]) AND d.source = 'link'
  AND NOT EXISTS (SELECT FROM domain_traps t JOIN domains o ON o.id = t.domain_id
                  WHERE o.parent_domain = d.parent_domain AND t.rule = $2 AND t.released_at IS NOT NULL)
GROUP BY d.parent_domain;

-- name: note_subdomains
-- Records registrable domains with too many subdomains, at the oldest domain below each.
INSERT INTO domain_traps (domain_id, rule, template, links, example, found_at)
SELECT (SELECT d.id FROM domains d WHERE d.parent_domain = n.parent_domain ORDER BY d.id LIMIT 1), $4, '*.' || n.parent_domain, n.links, n.example, now()
FROM unnest($1::text[], $2::bigint[], $3::text[]) AS n (parent_domain, links, example)
ORDER BY n.parent_domain
ON CONFLICT (domain_id, rule, template) DO UPDATE SET links = domain_traps.links + EXCLUDED.links, example = EXCLUDED.example;

-- name: leave_out
-- Removes pages from the frontiers of these domains because a trap was found.
UPDATE domains d SET frontier_size = d.frontier_size - n.pages
FROM unnest($1::bigint[], $2::int[]) AS n (domain_id, pages) WHERE d.id = n.domain_id;

-- name: release_trap
-- Releases a trap for an operator; returns nothing if there is none, or it was released before.
UPDATE domain_traps SET released_at = now(), released_by = $3
WHERE id = $1 AND domain_id = $2 AND found_at IS NOT NULL AND released_at IS NULL
RETURNING id, domain_id, rule, template, pages, found_at, true AS is_released;
