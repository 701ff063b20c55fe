-- The search index, built from parsed pages. Owner of indexed_pages, indexed_products, page_clusters, search_*.

-- name: lock_index
-- Allows one indexer at a time; does not wait for another.
SELECT pg_try_advisory_xact_lock(x'466F72616779'::bigint);

-- name: await_index
-- Waits for the running indexer, for callers that must index now.
SELECT pg_advisory_xact_lock(x'466F72616779'::bigint);

-- name: settled_until
-- Returns the time up to which all recorded pages are visible: pages carry the start time of their transaction. Transactions running for
-- more than ten minutes, such as an export, are ignored because they record no pages; so is vacuum.
SELECT LEAST(now(), min(xact_start)) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND xact_start > now() - interval '10 minutes';

-- name: read_mark
-- Returns the last page indexed.
SELECT read_at, page_id FROM search_marks WHERE name = $1;

-- name: write_mark
-- Stores the last page indexed.
INSERT INTO search_marks (name, read_at, page_id) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET read_at = excluded.read_at, page_id = excluded.page_id;

-- name: forget_mark
-- Deletes the progress mark, so that indexing restarts with the first page.
DELETE FROM search_marks WHERE name = $1;

-- name: take_read
-- Returns the next pages in the order they were fetched, and their state in the index.
SELECT p.id, p.url, p.fetched_at, p.simhash, p.title, p.description, p.language, p.keywords_tsv IS NOT NULL AS has_keywords,
       i.page_id IS NOT NULL AS is_indexed, i.cluster_id,
       i.content_hash IS NOT DISTINCT FROM p.content_hash
           AND i.signals IS NOT DISTINCT FROM row_digest(ROW(p.title, p.description, p.language, p.content_hash)::text) AS is_same
FROM pages p LEFT JOIN indexed_pages i ON i.page_id = p.id
WHERE p.fetched_at IS NOT NULL AND (p.fetched_at, p.id) > ($1::timestamptz, $2::bigint) AND p.fetched_at < $3
ORDER BY p.fetched_at, p.id LIMIT $4;

-- name: take_named
-- Returns the given pages, which the caller knows were parsed again.
SELECT p.id, p.url, p.fetched_at, p.simhash, p.title, p.description, p.language, p.keywords_tsv IS NOT NULL AS has_keywords,
       i.page_id IS NOT NULL AS is_indexed, i.cluster_id, false AS is_same
FROM pages p LEFT JOIN indexed_pages i ON i.page_id = p.id
WHERE p.id = ANY ($1::bigint[]) AND p.fetched_at IS NOT NULL ORDER BY p.id;

-- name: count_waiting
-- Counts pages that were fetched and are not indexed, up to $3.
SELECT count(*) FROM (SELECT FROM pages WHERE fetched_at IS NOT NULL AND (fetched_at, id) > ($1::timestamptz, $2::bigint) LIMIT $3) waiting;

-- name: put_pages
-- Stores the terms of pages: lexemes, the title's lexemes again with a prefix, and marks for search filters. The words of each URL are
-- one text, separated by spaces.
INSERT INTO indexed_pages (page_id, domain_id, config, content_hash, read_at, cluster_id, language, depth, terms, signals)
SELECT p.id, p.domain_id, n.config, p.content_hash, p.fetched_at, n.cluster_id, p.language, p.depth,
       strip(p.keywords_tsv) || array_to_tsvector(
           ARRAY(SELECT '=a' || lexeme FROM unnest(tsvector_to_array(ts_filter(p.keywords_tsv, '{a}'))) AS lexeme)
           || ARRAY(SELECT '=w' || word FROM unnest(string_to_array(n.url_words, ' ')) AS word)
           || ARRAY['=c' || n.config, '=d' || p.domain_id, '=t' || LEAST(p.depth, 4), '=l' || lower(COALESCE(p.language, '')),
                    '=l' || split_part(lower(COALESCE(p.language, '')), '-', 1),
                    to_char(p.fetched_at AT TIME ZONE 'UTC', '"=e"YYYYMMDD'), to_char(p.fetched_at AT TIME ZONE 'UTC', '"=m"YYYYMM')]),
       row_digest(ROW(p.title, p.description, p.language, p.content_hash)::text)
FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[]) AS n (id, config, cluster_id, url_words)
JOIN pages p ON p.id = n.id
WHERE p.keywords_tsv IS NOT NULL
ON CONFLICT (page_id) DO UPDATE
SET config = excluded.config, content_hash = excluded.content_hash, read_at = excluded.read_at, cluster_id = excluded.cluster_id,
    language = excluded.language, depth = excluded.depth, terms = excluded.terms, signals = excluded.signals;

-- name: drop_pages
-- Deletes pages that have no keywords any more.
DELETE FROM indexed_pages WHERE page_id = ANY ($1::bigint[]);

-- name: put_products
-- Stores the terms of changed products: lexemes, the name's lexemes again with a prefix, and filter marks, for the price its range.
INSERT INTO indexed_products (product_id, config, updated_at, terms)
SELECT r.id, n.config, r.updated_at,
       setweight(name.terms, 'A')
       || setweight(to_tsvector(n.config::regconfig, concat_ws(' ', r.brand, r.category, r.gtin, r.sku)), 'B')
       || to_tsvector(n.config::regconfig, left(COALESCE(r.description, ''), 4000))
       || array_to_tsvector(
          ARRAY(SELECT '=a' || lexeme FROM unnest(tsvector_to_array(name.terms)) AS lexeme)
          || ARRAY(SELECT '=w' || word FROM unnest(string_to_array(n.url_words, ' ')) AS word)
          || array_remove(ARRAY[
              '=c' || n.config, '=d' || r.domain_id, '=l' || lower(COALESCE(p.language, '')),
              '=l' || split_part(lower(COALESCE(p.language, '')), '-', 1),
              '=b' || lower(r.brand), '=k' || lower(r.category), '=v' || lower(r.availability), '=u' || lower(r.currency),
              '=p' || width_bucket(r.price, '{10,25,50,100,250,500,1000,2500,10000}'::numeric[]),
              to_char(r.updated_at AT TIME ZONE 'UTC', '"=e"YYYYMMDD'), to_char(r.updated_at AT TIME ZONE 'UTC', '"=m"YYYYMM')], NULL))
FROM unnest($1::bigint[], $2::text[], $3::text[]) AS n (id, config, url_words)
JOIN pages p ON p.id = n.id
JOIN products r ON r.domain_id = p.domain_id AND r.page_id = p.id
CROSS JOIN to_tsvector(n.config::regconfig, r.product_name) AS name (terms)
LEFT JOIN indexed_products i ON i.product_id = r.id
WHERE i.updated_at IS DISTINCT FROM r.updated_at
ON CONFLICT (product_id) DO UPDATE SET config = excluded.config, updated_at = excluded.updated_at, terms = excluded.terms;

-- name: add_languages
-- Adds new languages, each with its text search configuration.
INSERT INTO search_languages SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT (language) DO NOTHING;

-- name: tidy_terms
-- Flushes the pending lists of the GIN indexes, so that no search has to scan them.
SELECT gin_clean_pending_list(name::regclass)
FROM unnest(ARRAY['indexed_pages_terms', 'indexed_products_terms', 'search_words_near']) AS name;

-- name: count_words
-- Counts known words that were seen again; returns them, and whether their lookup keys are still missing.
UPDATE search_words w SET seen = LEAST(w.seen::bigint + n.seen, 2000000000)
FROM unnest($1::text[], $2::int[]) AS n (word, seen) WHERE w.word = n.word
RETURNING w.word, w.near = '{}' AS is_unmarked;

-- name: has_many_words
-- Whether more than $1 words are known.
SELECT count(*) > $1 FROM (SELECT FROM search_words LIMIT $1 + 1) w;

-- name: mark_words
-- Stores the lookup keys of words that were seen before.
UPDATE search_words w SET near = n.near::int[] FROM unnest($1::text[], $2::text[]) AS n (word, near) WHERE w.word = n.word;

-- name: add_words
-- Adds new words; the lookup keys of each are one array literal.
INSERT INTO search_words (word, seen, near)
SELECT word, seen, near::int[] FROM unnest($1::text[], $2::int[], $3::text[]) AS n (word, seen, near) ON CONFLICT (word) DO NOTHING;

-- name: forget_rare_words
-- If there are more than $1 words by the planner's estimate, deletes those seen once.
DELETE FROM search_words WHERE seen = 1 AND (SELECT reltuples FROM pg_class WHERE oid = 'search_words'::regclass) > $1::float8;

-- name: find_clusters
-- Finds the nearest cluster for each hash. Checks at most 2,000 clusters that share a quarter, so that crafted pages cannot make it
-- slow.
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
-- Adds clusters for texts unlike all others, in the given order, with their page counts; the quarters of each are one array literal.
INSERT INTO page_clusters (simhash, bands, pages)
SELECT simhash, bands::int[], pages FROM unnest($1::bigint[], $2::text[], $3::int[]) WITH ORDINALITY AS n (simhash, bands, pages, place)
ORDER BY place
RETURNING id;

-- name: count_members
-- Adds to or subtracts from the page counts of clusters.
UPDATE page_clusters c SET pages = GREATEST(0, c.pages + n.more) FROM unnest($1::bigint[], $2::int[]) AS n (id, more) WHERE c.id = n.id;

-- name: forget_empty
-- Deletes clusters without pages.
DELETE FROM page_clusters WHERE id = ANY ($1::bigint[]) AND pages = 0;
