-- A million pages to search: their keywords are drawn from a vocabulary in which word number n is as frequent as 1 / n.

-- name: add_domains
-- So many domains, the first with id 1, for the database is fresh.
INSERT INTO domains (name, parent_domain, base_url, source, status)
SELECT name, name, 'https://' || name, 'bench', 'active'
FROM (SELECT 'site-' || lpad(n::text, 4, '0') || '.example' AS name FROM generate_series(0, $1::int - 1) AS n ORDER BY n) made;

-- name: make_texts
-- Where texts are kept while pages are made from them.
CREATE UNLOGGED TABLE bench_texts (number int PRIMARY KEY, words text NOT NULL, body tsvector NOT NULL, title text NOT NULL, simhash bigint NOT NULL);

-- name: add_texts
-- Texts with their keywords.
INSERT INTO bench_texts SELECT n.number, n.body, to_tsvector('english', n.body), n.title, n.simhash
FROM unnest($1::int[], $2::text[], $3::text[], $4::bigint[]) AS n (number, body, title, simhash);

-- name: add_pages
-- Pages number $1 up to, but without, $2 of $5 over $3 domains, of $4 texts, read in the course of a year. Bodies repeat, titles and
-- hashes do not: one page in twenty says nearly what others say.
INSERT INTO pages (domain_id, url, url_hash, status, depth, priority, fetched_at, title, description, language, keywords_tsv,
                   content_hash, content_type, links_count, simhash)
SELECT 1 + n % $3::bigint, url, substring(sha256(convert_to(url, 'UTF8')) FOR 16), 'fetched', LEAST(6, log(4, 1 + n / $3::bigint)), 5,
       now() - interval '1 year' * ($5::bigint - n) / $5::bigint, title, 'About ' || title || ' and what belongs to it, in one sentence.',
       CASE WHEN n % 10 < 7 THEN 'en' WHEN n % 10 = 7 THEN 'de' WHEN n % 10 = 8 THEN 'fr' ELSE 'cs' END,
       setweight(to_tsvector('english', title), 'A') || body, substring(sha256(convert_to(url, 'UTF8')) FROM 17), 'text/html', 0,
       CASE WHEN n % 20 = 0 THEN simhash ELSE simhash # hashint8extended(n, 7) END
FROM (SELECT n, 'https://site-' || lpad((n % $3::bigint)::text, 4, '0') || '.example/page-' || n / $3::bigint AS url, one.body, one.simhash,
             split_part(one.title, ' ', 1) || ' ' || other.title AS title
      FROM generate_series($1::bigint, $2::bigint - 1) AS n
      JOIN bench_texts one ON one.number = (n * 7919) % $4::int
      JOIN bench_texts other ON other.number = (n * 104729 + n / 1000) % $4::int) made;

-- name: add_products
-- Every tenth page is one of a product, described by one of $1 texts.
INSERT INTO products (domain_id, page_id, url, url_hash, product_name, description, price, currency, availability, brand, category, content_hash,
                      parser_name, parser_version, confidence, is_valid, created_at, updated_at, last_seen_at)
SELECT p.domain_id, p.id, p.url, p.url_hash, p.title, left(t.words, 400), 1 + p.id % 997, CASE WHEN p.id % 3 = 0 THEN 'USD' ELSE 'EUR' END,
       CASE WHEN p.id % 4 = 0 THEN 'out_of_stock' ELSE 'in_stock' END, 'Brand ' || p.id / 10 % 500, 'Category ' || p.id / 10 % 50, p.content_hash,
       'jsonld', 1, 1, true, p.fetched_at, p.fetched_at, p.fetched_at
FROM pages p JOIN bench_texts t ON t.number = (p.id * 31) % $1::int
WHERE p.id % 10 = 0;

-- name: add_clusters
-- Clusters of all pages that are not indexed yet, as the job would make them: here whoever resembles another has the same hash.
INSERT INTO page_clusters (simhash, bands, pages)
SELECT simhash, ARRAY(SELECT (place << 16 | (simhash >> 16 * place & 65535)::int) FROM generate_series(0, 3) AS place), count(*)
FROM pages p WHERE NOT EXISTS (SELECT FROM indexed_pages i WHERE i.page_id = p.id)
  AND NOT EXISTS (SELECT FROM page_clusters c WHERE c.simhash = p.simhash)
GROUP BY simhash;

-- name: count_clusters
-- How many pages are in each, when all are indexed.
UPDATE page_clusters c SET pages = n.pages
FROM (SELECT cluster_id, count(*) AS pages FROM indexed_pages GROUP BY cluster_id HAVING count(*) > 1) n
WHERE c.id = n.cluster_id AND c.pages <> n.pages;

-- name: change_pages
-- So many pages, from here and there, say something else now.
UPDATE pages SET fetched_at = now(), content_hash = sha256(content_hash)
WHERE id IN (SELECT id FROM pages WHERE id % GREATEST((SELECT max(id) FROM pages) / $1::int, 1) = 0 LIMIT $1);

-- name: name_clusters
-- Pages number $1 up to, but without, $2, their languages and clusters, where they are not indexed yet.
SELECT p.id, p.url, p.language, c.id AS cluster_id FROM pages p JOIN page_clusters c ON c.simhash = p.simhash
WHERE p.id >= $1 AND p.id < $2 AND NOT EXISTS (SELECT FROM indexed_pages i WHERE i.page_id = p.id);

-- name: indexes
-- Indexes of a table beside its key, with how they are made.
SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS made
FROM pg_index WHERE indrelid = $1::text::regclass AND NOT indisprimary;

-- name: last_read
-- The page the job would come to last.
SELECT fetched_at, id FROM pages WHERE fetched_at IS NOT NULL ORDER BY fetched_at DESC, id DESC LIMIT 1;

-- name: weigh
-- Bytes of the tables of search and of their indexes, the largest first.
SELECT relname AS name, CASE relkind WHEN 'r' THEN pg_table_size(oid) ELSE pg_relation_size(oid) END AS bytes
FROM pg_class
WHERE relname IN ('pages', 'indexed_pages', 'indexed_products', 'page_clusters', 'search_words')
   OR oid IN (SELECT indexrelid FROM pg_index
              WHERE indrelid IN ('indexed_pages'::regclass, 'indexed_products'::regclass, 'page_clusters'::regclass, 'search_words'::regclass)
                 OR indexrelid IN ('pages_read'::regclass))
ORDER BY bytes DESC;

-- name: forget_pages
-- Before another way of recording is measured.
TRUNCATE pages CASCADE;

-- name: add_discovered
-- So many pages of one domain that wait for their visit.
INSERT INTO pages (domain_id, url, url_hash, depth, priority)
SELECT 1, url, substring(sha256(convert_to(url, 'UTF8')) FOR 16), 1, 5
FROM (SELECT 'https://site-0000.example/page-' || n AS url FROM generate_series(1, $1::int) AS n) made;

-- name: queue
-- As a claim does it.
UPDATE pages SET status = 'queued' WHERE id = ANY ($1::bigint[]);

-- name: record
-- As recording a batch of readings does it.
UPDATE pages p
SET status = 'fetched', fetched_at = now(), title = n.title, description = n.title, language = 'en',
    keywords_tsv = setweight(to_tsvector('english', n.title), 'A') || to_tsvector('english', n.words)
FROM unnest($1::bigint[], $2::text[], $3::text[]) AS n (id, title, words) WHERE p.id = n.id;

-- name: weigh_words
-- Bytes per indexed page of its keywords, of its terms, and of their index; and the number of pages that have more words.
SELECT avg(pg_column_size(p.keywords_tsv))::float8 AS keywords, avg(pg_column_size(i.terms))::float8 AS terms,
       pg_relation_size('indexed_pages_terms')::float8 / count(*) AS gin, count(*) FILTER (WHERE 'words_cut' = ANY (p.flags)) AS cut
FROM pages p JOIN indexed_pages i ON i.page_id = p.id;
