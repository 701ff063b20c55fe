-- Changes to send to the search server, and its indexes. Owner of search_outbox, search_rejected and search_builds.

-- name: lock_server
-- Allows one writer to the search server at a time, without waiting for another: a later batch was also read later.
SELECT pg_try_advisory_xact_lock(x'466F72616780'::bigint);

-- name: next_version
-- Returns the version number of a batch to send.
SELECT nextval('search_versions');

-- name: raise_versions
-- Raises our versions above the server's: it has higher ones if it was written to from a database that was restored since.
SELECT setval('search_versions', GREATEST($1::bigint, (SELECT last_value FROM search_versions)));

-- name: take_changes
-- Returns the oldest changes.
SELECT number, kind, id FROM search_outbox ORDER BY number LIMIT $1;

-- name: forget_changes
-- Deletes changes that the server has accepted.
DELETE FROM search_outbox WHERE number = ANY ($1::bigint[]);

-- name: count_changes
-- Counts documents waiting to be sent, up to $1.
SELECT count(*) FROM (SELECT FROM search_outbox LIMIT $1) waiting;

-- name: forget_all_changes
-- Deletes all changes without sending them.
DELETE FROM search_outbox;

-- name: page_documents
-- Returns pages as documents for the search server, with their lexemes in position order; pages that cannot be found are left out.
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
-- Returns products likewise. Their marks have no positions, so they are left out.
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
-- Returns the next pages to fill an index with.
SELECT page_id AS id FROM indexed_pages WHERE page_id > $1 ORDER BY page_id LIMIT $2;

-- name: next_products
-- Returns the next products to fill an index with.
SELECT product_id AS id FROM indexed_products WHERE product_id > $1 ORDER BY product_id LIMIT $2;

-- name: note_refused
-- Records documents that the server rejected.
INSERT INTO search_rejected (kind, id, reason) SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])
ON CONFLICT (kind, id) DO UPDATE SET reason = excluded.reason, refused_at = now();

-- name: forget_refused
-- Deletes rejections of documents that the server accepted since, or that no longer exist.
DELETE FROM search_rejected r USING unnest($1::text[], $2::bigint[]) AS n (kind, id) WHERE r.kind = n.kind AND r.id = n.id;

-- name: read_refused
-- Lists the latest rejected documents.
SELECT kind, id, reason, refused_at FROM search_rejected ORDER BY refused_at DESC, kind, id LIMIT $1;

-- name: count_refused
-- Counts rejected documents.
SELECT count(*) FROM search_rejected;

-- name: sum_refused
-- Counts rejected documents and returns the latest reason; 0 if the search server is no longer in use.
SELECT count(*) AS documents, (SELECT l.reason FROM search_rejected l ORDER BY l.refused_at DESC, l.kind, l.id LIMIT 1) AS reason
FROM search_rejected r
WHERE EXISTS (SELECT FROM pg_trigger t WHERE t.tgname = 'indexed_pages_outbox' AND t.tgrelid = 'indexed_pages'::regclass AND t.tgenabled <> 'D');

-- name: read_builds
-- Lists all index builds, oldest first.
SELECT name, owner::text AS owner, state, is_made, pages_until, products_until, is_filled, began_at, live_at
FROM search_builds ORDER BY began_at, name;

-- name: wait_briefly
-- Limits lock waits: the next statement locks tables against all writers, so it should fail rather than wait long.
SELECT set_config('lock_timeout', '5s', true);

-- name: follow
-- Turns recording of changes on or off.
SELECT follow_for_search_server($1);

-- name: is_followed
-- Whether changes are recorded.
SELECT tgenabled <> 'D' FROM pg_trigger WHERE tgname = 'indexed_pages_outbox' AND tgrelid = 'indexed_pages'::regclass;

-- name: begin_build
-- Starts an index build; there is one at a time.
INSERT INTO search_builds (name, owner)
VALUES ($1, COALESCE((SELECT owner FROM search_builds ORDER BY began_at DESC LIMIT 1), gen_random_uuid()))
ON CONFLICT DO NOTHING;

-- name: note_made
-- Records that the empty indexes exist on the server.
UPDATE search_builds SET is_made = true WHERE name = $1;

-- name: note_filled_pages
-- Stores the last page the index was filled with.
UPDATE search_builds SET pages_until = $2 WHERE name = $1;

-- name: note_filled_products
-- Stores the last product the index was filled with.
UPDATE search_builds SET products_until = $2 WHERE name = $1;

-- name: note_filled
-- Records that the index is completely filled.
UPDATE search_builds SET is_filled = true WHERE name = $1;

-- name: let_leave
-- Marks the live index for deletion.
UPDATE search_builds SET state = 'leaving' WHERE state = 'live';

-- name: go_live
-- Makes this index the live one.
UPDATE search_builds SET state = 'live', live_at = now() WHERE name = $1;

-- name: give_up_build
-- Marks a build for deletion, in any state.
UPDATE search_builds SET state = 'leaving' WHERE name = $1;

-- name: forget_build
-- Deletes the record of a build that no longer exists on the server.
DELETE FROM search_builds WHERE name = $1;

-- name: has_live
-- Whether there is an index that can be searched.
SELECT EXISTS (SELECT FROM search_builds WHERE state = 'live');

-- name: spell_places
-- Returns words as lexemes in position order, in each text search configuration used for documents (of this language, if given).
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
-- Returns which of these pages can still be found.
SELECT p.id FROM pages p JOIN indexed_pages i ON i.page_id = p.id
WHERE p.id = ANY ($1::bigint[]) AND p.status NOT IN ('gone', 'blocked');
