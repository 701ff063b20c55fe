-- Crawl settings: what was chosen for domains, and profiles. Owner of domain_settings and profiles.

-- name: read_settings
-- Returns the layers of crawl settings of a domain: its profile's and its own.
SELECT d.id AS domain_id, d.name, p.name AS profile, p.settings::text AS profile_settings, COALESCE(s.settings, '{}')::text AS settings
FROM domains d LEFT JOIN domain_settings s ON s.domain_id = d.id LEFT JOIN profiles p ON p.id = s.profile_id
WHERE d.name = $1;

-- name: find_future_profile
-- Returns the profile that a domain with this name joins when it is added.
SELECT p.name, p.settings::text AS settings FROM profiles p WHERE p.id = profile_for($1);

-- name: save_settings
-- Stores what was chosen for a domain. Triggers combine it with the profile, copy what statements need, and ask the lease holder to
-- release the domain.
-- With $4 the scope was chosen, or taken back; otherwise it stays what it is, also where nobody chose it.
INSERT INTO domain_settings (domain_id, settings, updated_by) VALUES ($1, $2::jsonb, $3)
ON CONFLICT (domain_id) DO UPDATE
SET settings = EXCLUDED.settings, has_implied_scope = domain_settings.has_implied_scope AND NOT $4, updated_by = EXCLUDED.updated_by, updated_at = now();

-- name: merge_settings
-- Adds the settings of an order to those of its domains, whose rows the caller has locked: $2 replaces the values of the same name.
-- $4: nobody chose its scope, if it has one.
INSERT INTO domain_settings (domain_id, settings, has_implied_scope, updated_by)
SELECT id, $2::jsonb, $2::jsonb ? 'scope' AND $4::boolean, $3 FROM unnest($1::bigint[]) AS id
ON CONFLICT (domain_id) DO UPDATE
SET settings = domain_settings.settings || EXCLUDED.settings,
    has_implied_scope = CASE WHEN EXCLUDED.settings ? 'scope' THEN EXCLUDED.has_implied_scope ELSE domain_settings.has_implied_scope END,
    updated_by = EXCLUDED.updated_by, updated_at = now()
WHERE NOT domain_settings.settings @> EXCLUDED.settings
   OR (EXCLUDED.settings ? 'scope' AND domain_settings.has_implied_scope <> EXCLUDED.has_implied_scope);

-- name: replaced_settings
-- Returns which of the settings $2 replace another value that was set for one of these domains or its profile, and that value.
SELECT d.name AS domain, n.key AS setting, (s.effective -> n.key)::text AS before
FROM domains d JOIN domain_settings s ON s.domain_id = d.id CROSS JOIN LATERAL jsonb_each($2::jsonb) n
WHERE d.name = ANY ($1::text[]) AND s.effective ? n.key AND s.effective -> n.key <> n.value
ORDER BY n.key, d.name;

-- name: drop_implied_scopes
-- Takes back the scopes that nobody chose of the domains with these names, and returns the ids of these domains.
WITH held AS MATERIALIZED (
    SELECT d.id FROM domains d JOIN domain_settings s ON s.domain_id = d.id
    WHERE d.name = ANY ($1::text[]) AND s.has_implied_scope
    ORDER BY d.id
    FOR NO KEY UPDATE OF d)
UPDATE domain_settings s SET settings = s.settings - 'scope', has_implied_scope = false, updated_by = $2, updated_at = now()
FROM held WHERE s.domain_id = held.id AND s.has_implied_scope
RETURNING s.domain_id;

-- name: read_scopes
-- Returns the scopes and prefixes of domains by name, locked in id order, and whether each was crawled before: it has pages of its own.
-- images_only: only images of it were wanted so far.
SELECT d.id AS domain_id, d.name, d.pages_discovered > 0 AND NOT d.images_only AS is_crawled,
       COALESCE(s.effective ->> 'scope', 'host') AS scope, COALESCE(s.effective ? 'scope', false) AS has_scope,
       COALESCE(s.has_implied_scope, false) AS has_implied_scope,
       ARRAY(SELECT jsonb_array_elements_text(COALESCE(s.effective -> 'prefixes', '[]'))) AS prefixes
FROM domains d LEFT JOIN domain_settings s ON s.domain_id = d.id
WHERE d.name = ANY ($1::text[])
ORDER BY d.id
FOR NO KEY UPDATE OF d;

-- name: inherit_settings
-- Gives new domains the settings of the domains that link to them; the array positions correspond. Logins do not pass on, nor does the
-- scope any: it would lead through the whole web.
INSERT INTO domain_settings (domain_id, settings, updated_by)
SELECT d.id, s.effective - $3::text[] || CASE s.effective ->> 'scope' WHEN 'any' THEN '{"scope": "host"}' ELSE '{}' END::jsonb, 'link'
FROM unnest($1::text[], $2::text[]) AS n (name, source)
JOIN domains d ON d.name = n.name JOIN domains o ON o.name = n.source JOIN domain_settings s ON s.domain_id = o.id
ORDER BY d.id
ON CONFLICT (domain_id) DO NOTHING;

-- name: list_profiles
-- Returns all profiles with the number of their domains.
SELECT p.name, p.settings::text AS settings, p.members, p.updated_at, p.updated_by,
       (SELECT count(*) FROM domain_settings s WHERE s.profile_id = p.id)::int AS domains
FROM profiles p ORDER BY p.name;

-- name: find_profile
-- Returns one profile, locked until the transaction ends.
SELECT id, name, settings::text AS settings, members, updated_at, updated_by FROM profiles WHERE name = $1 FOR UPDATE;

-- name: save_profile
-- Creates a profile, or changes its settings and members; a trigger applies new settings to its domains.
INSERT INTO profiles (name, settings, members, updated_by) VALUES ($1, $2::jsonb, $3::text[], $4)
ON CONFLICT (name) DO UPDATE
SET settings = EXCLUDED.settings, members = EXCLUDED.members, updated_by = EXCLUDED.updated_by, updated_at = now();

-- name: delete_profile
-- Deletes a profile that no domain belongs to any more.
DELETE FROM profiles WHERE name = $1;

-- name: lock_profile_tables
-- Lets one change of profiles happen at a time: membership depends on all of them.
SELECT pg_advisory_xact_lock(hashtextextended('forager profiles', 0));

-- name: misplaced_domains
-- Returns domains whose profile is not the one that names them, locked in id order, up to $1. $2 leaves those out that are in a profile
-- which is about to be deleted.
SELECT d.id, d.name, s.profile_id AS was, m.profile_id AS is_now
FROM domains d LEFT JOIN domain_settings s ON s.domain_id = d.id
CROSS JOIN LATERAL (SELECT profile_for(d.name) AS profile_id) m
WHERE s.profile_id IS DISTINCT FROM m.profile_id
ORDER BY d.id
LIMIT $1
FOR NO KEY UPDATE OF d;

-- name: place_domains
-- Sets the profiles of domains.
INSERT INTO domain_settings (domain_id, profile_id, updated_by)
SELECT n.domain_id, n.profile_id, $3 FROM unnest($1::bigint[], $2::bigint[]) AS n (domain_id, profile_id)
ON CONFLICT (domain_id) DO UPDATE SET profile_id = EXCLUDED.profile_id, updated_by = EXCLUDED.updated_by, updated_at = now();

-- name: domains_of_profile
-- Returns the domains of a profile, in name order, up to $2.
SELECT d.name FROM domain_settings s JOIN profiles p ON p.id = s.profile_id JOIN domains d ON d.id = s.domain_id
WHERE p.name = $1 ORDER BY d.name LIMIT $2;

-- name: rules_of_domains
-- Returns the settings that decide which links to a domain are followed and how its URLs are normalised, of every domain that has some.
SELECT d.name, s.effective::text AS effective FROM domain_settings s JOIN domains d ON d.id = s.domain_id
WHERE s.effective ?| $1::text[];

-- name: explain_override
-- Stores why robots.txt of a domain is overridden, with the override that is in force.
UPDATE robots_overrides SET reason = $2, ordered_by = $3 WHERE domain_id = $1 AND ended_at IS NULL;
