-- What the search server has to hear of, and its indexes. Owner of search_outbox, search_rejected and search_builds.

-- name: lock_server
-- One writer to the search server at a time, without waiting for another: what comes later was read later.
SELECT pg_try_advisory_xact_lock(x'466F72616780'::bigint);

-- name: next_version
-- The number of a portion that is sent.
SELECT nextval('search_versions');

-- name: raise_versions
-- The server has higher numbers than we: it was written to from a database that was restored since, and ours go on above them.
SELECT setval('search_versions', GREATEST($1::bigint, (SELECT last_value FROM search_versions)));

-- name: take_changes
-- What was noted first.
SELECT number, kind, id FROM search_outbox ORDER BY number LIMIT $1;

-- name: forget_changes
-- The server has them.
DELETE FROM search_outbox WHERE number = ANY ($1::bigint[]);

-- name: count_changes
-- How many documents wait, counted no further than to $1.
SELECT count(*) FROM (SELECT FROM search_outbox LIMIT $1) waiting;

-- name: forget_all_changes
-- Nobody is to hear of them.
DELETE FROM search_outbox;

-- name: page_documents
-- Pages as the search server has them, with their lexemes in the order of their places; those that cannot be found are left out.
SELECT p.id, p.url, p.title, p.description, p.language, p.depth, p.fetched_at, p.domain_id, d.name AS domain_name, i.config, i.read_at,
       w.lexemes, w.places, w.weights
FROM pages p
JOIN indexed_pages i ON i.page_id = p.id
JOIN domains d ON d.id = p.domain_id
CROSS JOIN LATERAL (
    SELECT array_agg(t.lexeme ORDER BY x.place, t.lexeme) AS lexemes, array_agg(x.place::int ORDER BY x.place, t.lexeme) AS places,
           string_agg(x.weight, '' ORDER BY x.place, t.lexeme) AS weights
    FROM unnest(p.keywords_tsv) t CROSS JOIN LATERAL unnest(t.positions, t.weights) AS x (place, weight)) w
WHERE p.id = ANY ($1::bigint[]) AND p.status NOT IN ('gone', 'blocked') AND p.keywords_tsv IS NOT NULL;

-- name: product_documents
-- Products likewise. Their marks have no places, so they are left out.
SELECT r.id, r.url, r.product_name, left(r.description, 20000) AS description, r.page_id, r.created_at, r.updated_at, r.price::float8 AS price,
       r.brand, r.category, r.availability, r.currency, lower(r.brand) AS brand_folded, lower(r.category) AS category_folded,
       lower(r.availability) AS availability_folded, lower(r.currency) AS currency_folded,
       p.language, r.domain_id, d.name AS domain_name, i.config, w.lexemes, w.places, w.weights
FROM products r
JOIN indexed_products i ON i.product_id = r.id
JOIN pages p ON p.id = r.page_id
JOIN domains d ON d.id = r.domain_id
CROSS JOIN LATERAL (
    SELECT array_agg(t.lexeme ORDER BY x.place, t.lexeme) AS lexemes, array_agg(x.place::int ORDER BY x.place, t.lexeme) AS places,
           string_agg(x.weight, '' ORDER BY x.place, t.lexeme) AS weights
    FROM unnest(i.terms) t CROSS JOIN LATERAL unnest(t.positions, t.weights) AS x (place, weight)) w
WHERE r.id = ANY ($1::bigint[]);

-- name: next_pages
-- The next pages an index is filled with.
SELECT page_id AS id FROM indexed_pages WHERE page_id > $1 ORDER BY page_id LIMIT $2;

-- name: next_products
-- The next products it is filled with.
SELECT product_id AS id FROM indexed_products WHERE product_id > $1 ORDER BY product_id LIMIT $2;

-- name: note_refused
-- Documents the server would not take.
INSERT INTO search_rejected (kind, id, reason) SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])
ON CONFLICT (kind, id) DO UPDATE SET reason = excluded.reason, refused_at = now();

-- name: forget_refused
-- Documents it took since, or that are gone.
DELETE FROM search_rejected r USING unnest($1::text[], $2::bigint[]) AS n (kind, id) WHERE r.kind = n.kind AND r.id = n.id;

-- name: read_refused
-- The last ones it would not take.
SELECT kind, id, reason, refused_at FROM search_rejected ORDER BY refused_at DESC, kind, id LIMIT $1;

-- name: count_refused
-- How many it would not take.
SELECT count(*) FROM search_rejected;

-- name: sum_refused
-- How many it would not take, and why the last one; of a server that was left, nothing.
SELECT count(*) AS documents, (SELECT l.reason FROM search_rejected l ORDER BY l.refused_at DESC, l.kind, l.id LIMIT 1) AS reason
FROM search_rejected r
WHERE EXISTS (SELECT FROM pg_trigger t WHERE t.tgname = 'indexed_pages_outbox' AND t.tgrelid = 'indexed_pages'::regclass AND t.tgenabled <> 'D');

-- name: read_builds
-- All indexes, the oldest first.
SELECT name, owner::text AS owner, state, is_made, pages_until, products_until, is_filled, began_at, live_at
FROM search_builds ORDER BY began_at, name;

-- name: wait_briefly
-- What is asked for next takes tables from all who write to them: better not at all than after a long wait.
SELECT set_config('lock_timeout', '5s', true);

-- name: follow
-- From now on changes are noted, or no longer.
SELECT follow_for_search_server($1);

-- name: is_followed
-- Whether changes are noted.
SELECT tgenabled <> 'D' FROM pg_trigger WHERE tgname = 'indexed_pages_outbox' AND tgrelid = 'indexed_pages'::regclass;

-- name: begin_build
-- An index that is to be made; there is one at a time.
INSERT INTO search_builds (name, owner)
VALUES ($1, COALESCE((SELECT owner FROM search_builds ORDER BY began_at DESC LIMIT 1), gen_random_uuid()))
ON CONFLICT DO NOTHING;

-- name: note_made
-- Its empty indexes are on the server.
UPDATE search_builds SET is_made = true WHERE name = $1;

-- name: note_filled_pages
-- How far it is filled with pages.
UPDATE search_builds SET pages_until = $2 WHERE name = $1;

-- name: note_filled_products
-- How far it is filled with products.
UPDATE search_builds SET products_until = $2 WHERE name = $1;

-- name: note_filled
-- Nothing is left to fill it with.
UPDATE search_builds SET is_filled = true WHERE name = $1;

-- name: let_leave
-- What is searched so far is to be deleted.
UPDATE search_builds SET state = 'leaving' WHERE state = 'live';

-- name: go_live
-- It is searched from now on.
UPDATE search_builds SET state = 'live', live_at = now() WHERE name = $1;

-- name: give_up_build
-- It is to be deleted, whatever it was.
UPDATE search_builds SET state = 'leaving' WHERE name = $1;

-- name: forget_build
-- It is gone.
DELETE FROM search_builds WHERE name = $1;

-- name: has_live
-- Whether there is an index that can be searched.
SELECT EXISTS (SELECT FROM search_builds WHERE state = 'live');

-- name: spell_places
-- Words in every configuration that documents, of this language if one is wanted, were indexed with: lexemes in the order of their places.
SELECT c.config, w.place::int AS leaf, s.lexemes, s.places
FROM (SELECT DISTINCT config FROM search_languages
      WHERE $2::text IS NULL OR language = $2 OR split_part(language, '-', 1) = $2) c
CROSS JOIN unnest($1::text[]) WITH ORDINALITY AS w (words, place)
CROSS JOIN LATERAL (
    SELECT COALESCE(array_agg(t.lexeme ORDER BY x.place, t.lexeme), '{}') AS lexemes,
           COALESCE(array_agg(x.place::int ORDER BY x.place, t.lexeme), '{}') AS places
    FROM unnest(to_tsvector(c.config::regconfig, w.words)) t CROSS JOIN LATERAL unnest(t.positions) AS x (place)) s
ORDER BY c.config, w.place;

-- name: still_pages
-- Which of these pages can still be found.
SELECT p.id FROM pages p JOIN indexed_pages i ON i.page_id = p.id
WHERE p.id = ANY ($1::bigint[]) AND p.status NOT IN ('gone', 'blocked');
