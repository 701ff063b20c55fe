-- What can be found, made from the pages that were read. Owner of indexed_pages, indexed_products, page_clusters, search_*.

-- name: lock_index
-- One indexer at a time, without waiting for another.
SELECT pg_try_advisory_xact_lock(x'466F72616779'::bigint);

-- name: await_index
-- For who has something to index now: after whoever is at it.
SELECT pg_advisory_xact_lock(x'466F72616779'::bigint);

-- name: settled_until
-- Up to when all that was recorded can be seen: pages carry the time their transaction began. What has been running for
-- ten minutes, such as an export, records nothing, and neither does vacuum.
SELECT LEAST(now(), min(xact_start)) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND xact_start > now() - interval '10 minutes';

-- name: read_mark
-- Up to which page an index is made.
SELECT read_at, page_id FROM search_marks WHERE name = $1;

-- name: write_mark
-- Up to which page it is made now.
INSERT INTO search_marks (name, read_at, page_id) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET read_at = excluded.read_at, page_id = excluded.page_id;

-- name: forget_mark
-- It is made anew from the first page on.
DELETE FROM search_marks WHERE name = $1;

-- name: take_read
-- The next pages in the order they were read, and what the index has of them.
SELECT p.id, p.fetched_at, p.simhash, p.title, p.description, p.language, p.keywords_tsv IS NOT NULL AS has_keywords,
       i.page_id IS NOT NULL AS is_indexed, i.cluster_id,
       i.content_hash IS NOT DISTINCT FROM p.content_hash
           AND i.signals IS NOT DISTINCT FROM row_digest(ROW(p.title, p.description, p.language, p.content_hash)::text) AS is_same
FROM pages p LEFT JOIN indexed_pages i ON i.page_id = p.id
WHERE p.fetched_at IS NOT NULL AND (p.fetched_at, p.id) > ($1::timestamptz, $2::bigint) AND p.fetched_at < $3
ORDER BY p.fetched_at, p.id LIMIT $4;

-- name: take_named
-- These pages, for who knows that they were read anew.
SELECT p.id, p.fetched_at, p.simhash, p.title, p.description, p.language, p.keywords_tsv IS NOT NULL AS has_keywords,
       i.page_id IS NOT NULL AS is_indexed, i.cluster_id, false AS is_same
FROM pages p LEFT JOIN indexed_pages i ON i.page_id = p.id
WHERE p.id = ANY ($1::bigint[]) AND p.fetched_at IS NOT NULL ORDER BY p.id;

-- name: count_waiting
-- How many pages were read and are not indexed, counted no further than to $3.
SELECT count(*) FROM (SELECT FROM pages WHERE fetched_at IS NOT NULL AND (fetched_at, id) > ($1::timestamptz, $2::bigint) LIMIT $3) waiting;

-- name: put_pages
-- Terms of pages: lexemes, those of the title once more, and marks for what a search may be narrowed to.
INSERT INTO indexed_pages (page_id, domain_id, config, content_hash, read_at, cluster_id, terms, signals)
SELECT p.id, p.domain_id, n.config, p.content_hash, p.fetched_at, n.cluster_id,
       strip(p.keywords_tsv) || array_to_tsvector(
           ARRAY(SELECT '=a' || lexeme FROM unnest(tsvector_to_array(ts_filter(p.keywords_tsv, '{a}'))) AS lexeme)
           || ARRAY['=c' || n.config, '=d' || p.domain_id, '=t' || LEAST(p.depth, 4), '=l' || lower(COALESCE(p.language, '')),
                    '=l' || split_part(lower(COALESCE(p.language, '')), '-', 1),
                    to_char(p.fetched_at AT TIME ZONE 'UTC', '"=e"YYYYMMDD'), to_char(p.fetched_at AT TIME ZONE 'UTC', '"=m"YYYYMM')]),
       row_digest(ROW(p.title, p.description, p.language, p.content_hash)::text)
FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS n (id, config, cluster_id)
JOIN pages p ON p.id = n.id
WHERE p.keywords_tsv IS NOT NULL
ON CONFLICT (page_id) DO UPDATE
SET config = excluded.config, content_hash = excluded.content_hash, read_at = excluded.read_at, cluster_id = excluded.cluster_id,
    terms = excluded.terms, signals = excluded.signals;

-- name: drop_pages
-- Pages that have no keywords any more.
DELETE FROM indexed_pages WHERE page_id = ANY ($1::bigint[]);

-- name: put_products
-- Terms of the products of pages, where they changed: lexemes, those of the name once more, and marks, of the price its range.
INSERT INTO indexed_products (product_id, config, updated_at, terms)
SELECT r.id, n.config, r.updated_at,
       setweight(name.terms, 'A')
       || setweight(to_tsvector(n.config::regconfig, concat_ws(' ', r.brand, r.category, r.gtin, r.sku)), 'B')
       || to_tsvector(n.config::regconfig, left(COALESCE(r.description, ''), 4000))
       || array_to_tsvector(
          ARRAY(SELECT '=a' || lexeme FROM unnest(tsvector_to_array(name.terms)) AS lexeme)
          || array_remove(ARRAY[
              '=c' || n.config, '=d' || r.domain_id, '=l' || lower(COALESCE(p.language, '')),
              '=l' || split_part(lower(COALESCE(p.language, '')), '-', 1),
              '=b' || lower(r.brand), '=k' || lower(r.category), '=v' || lower(r.availability), '=u' || lower(r.currency),
              '=p' || width_bucket(r.price, '{10,25,50,100,250,500,1000,2500,10000}'::numeric[]),
              to_char(r.updated_at AT TIME ZONE 'UTC', '"=e"YYYYMMDD'), to_char(r.updated_at AT TIME ZONE 'UTC', '"=m"YYYYMM')], NULL))
FROM unnest($1::bigint[], $2::text[]) AS n (id, config)
JOIN pages p ON p.id = n.id
JOIN products r ON r.domain_id = p.domain_id AND r.page_id = p.id
CROSS JOIN to_tsvector(n.config::regconfig, r.product_name) AS name (terms)
LEFT JOIN indexed_products i ON i.product_id = r.id
WHERE i.updated_at IS DISTINCT FROM r.updated_at
ON CONFLICT (product_id) DO UPDATE SET config = excluded.config, updated_at = excluded.updated_at, terms = excluded.terms;

-- name: add_languages
-- Languages that were met, each with its configuration.
INSERT INTO search_languages SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT (language) DO NOTHING;

-- name: tidy_terms
-- What was put in since the last time goes to its place, so that no search has to read it from end to end.
SELECT gin_clean_pending_list(name::regclass)
FROM unnest(ARRAY['indexed_pages_terms', 'indexed_products_terms', 'search_words_near']) AS name;

-- name: count_words
-- Known words that were seen again; answers them, and whether what they are found by is still to be written.
UPDATE search_words w SET seen = LEAST(w.seen::bigint + n.seen, 2000000000)
FROM unnest($1::text[], $2::int[]) AS n (word, seen) WHERE w.word = n.word
RETURNING w.word, w.near = '{}' AS is_unmarked;

-- name: has_many_words
-- Whether more words than so many are known.
SELECT count(*) > $1 FROM (SELECT FROM search_words LIMIT $1 + 1) w;

-- name: mark_words
-- What words are found by that were seen before.
UPDATE search_words w SET near = n.near::int[] FROM unnest($1::text[], $2::text[]) AS n (word, near) WHERE w.word = n.word;

-- name: add_words
-- Words met for the first time; what they are found by comes as one array literal each.
INSERT INTO search_words (word, seen, near)
SELECT word, seen, near::int[] FROM unnest($1::text[], $2::int[], $3::text[]) AS n (word, seen, near) ON CONFLICT (word) DO NOTHING;

-- name: forget_rare_words
-- Of more words than $1, as far as the server knows, those seen once.
DELETE FROM search_words WHERE seen = 1 AND (SELECT reltuples FROM pg_class WHERE oid = 'search_words'::regclass) > $1::float8;

-- name: find_clusters
-- For each hash the nearest cluster. Of a crowd in one quarter 2,000 are looked at, so that nobody can make it slow.
SELECT n.place::int AS place, found.id
FROM unnest($1::bigint[]) WITH ORDINALITY AS n (simhash, place)
CROSS JOIN LATERAL (
    SELECT c.id
    FROM (SELECT id, simhash FROM page_clusters
          WHERE bands && ARRAY[(n.simhash & 65535)::int, (65536 + (n.simhash >> 16 & 65535))::int,
                               (131072 + (n.simhash >> 32 & 65535))::int, (196608 + (n.simhash >> 48 & 65535))::int]
          LIMIT 2000) c
    WHERE bit_count((c.simhash # n.simhash)::bit(64)) <= 3
    ORDER BY bit_count((c.simhash # n.simhash)::bit(64)), c.id
    LIMIT 1) found;

-- name: add_clusters
-- Texts unlike all others so far, in their order, with their pages; the quarters come as one array literal each.
INSERT INTO page_clusters (simhash, bands, pages)
SELECT simhash, bands::int[], pages FROM unnest($1::bigint[], $2::text[], $3::int[]) WITH ORDINALITY AS n (simhash, bands, pages, place)
ORDER BY place
RETURNING id;

-- name: count_members
-- Pages that came to a cluster, or left it.
UPDATE page_clusters c SET pages = GREATEST(0, c.pages + n.more) FROM unnest($1::bigint[], $2::int[]) AS n (id, more) WHERE c.id = n.id;

-- name: forget_empty
-- Clusters that everybody left.
DELETE FROM page_clusters WHERE id = ANY ($1::bigint[]) AND pages = 0;
