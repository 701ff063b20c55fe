-- The deny list: names of domains that links, lists and orders do not add. Owner of denied_domains.

-- name: deny
-- Puts a name on the deny list; a name that is on it keeps its first entry. Returns whether it is new there.
INSERT INTO denied_domains (name, reason, denied_by) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING RETURNING name;

-- name: allow
-- Removes a name from the deny list; returns whether it was on it.
DELETE FROM denied_domains WHERE name = $1 RETURNING name;

-- name: find_denied
-- Returns those of these names that are on the deny list.
SELECT name FROM denied_domains WHERE name = ANY ($1::text[]) ORDER BY name;

-- name: read_denied
-- Returns one entry of the deny list.
SELECT name, reason, denied_by, denied_at FROM denied_domains WHERE name = $1;

-- name: list_denied
-- Returns the deny list by name, after a name, up to a limit.
SELECT name, reason, denied_by, denied_at FROM denied_domains WHERE $1::text IS NULL OR name > $1 ORDER BY name LIMIT $2;
