-- Finds the page that a URL means. Read only.

-- name: domain_of_host
-- Returns the domain that a host belongs to: its own ($1), or the nearest one above it ($2) whose subdomains are the
-- same site; and under which origin the site is known.
SELECT d.id, d.name, d.site_origin
FROM unnest(array_prepend($1::text, $2::text[])) WITH ORDINALITY AS n (name, position)
JOIN domains d ON d.name = n.name AND (n.position = 1 OR d.strips_subdomains)
ORDER BY n.position
LIMIT 1;

-- name: first_known
-- Returns the position of the first of these keys of which the domain has a page.
SELECT n.position::int FROM unnest($2::bytea[]) WITH ORDINALITY AS n (key, position)
JOIN pages p ON p.domain_id = $1 AND p.url_hash = n.key
ORDER BY n.position
LIMIT 1;
