-- A million pages to search: their keywords are drawn from a vocabulary in which word number n is as frequent as 1 / n.

-- name: add_domains
-- So many domains, the first with id 1, for the database is fresh.
INSERT INTO domains (name, parent_domain, base_url, source, status)
SELECT name, name, 'https://' || name, 'bench', 'active'
FROM (SELECT 'site-' || lpad(n::text, 4, '0') || '.example' AS name FROM generate_series(0, $1::int - 1) AS n ORDER BY n) made;

-- name: make_texts
-- Where texts are kept while pages are made from them.
CREATE UNLOGGED TABLE bench_texts (number int PRIMARY KEY, body tsvector NOT NULL, title text NOT NULL, simhash bigint NOT NULL);

-- name: add_texts
-- Texts with their keywords.
INSERT INTO bench_texts SELECT n.number, to_tsvector('english', n.body), n.title, n.simhash
FROM unnest($1::int[], $2::text[], $3::text[], $4::bigint[]) AS n (number, body, title, simhash);

-- name: add_pages
-- Pages number $1 up to, but without, $2 over $3 domains, of $4 texts. Bodies repeat, titles and hashes do not: one page in
-- twenty says nearly what others say.
INSERT INTO pages (domain_id, url, url_hash, status, depth, priority, fetched_at, title, description, language, keywords_tsv,
                   content_hash, content_type, links_count, simhash)
SELECT 1 + n % $3::bigint, url, substring(sha256(convert_to(url, 'UTF8')) FOR 16), 'fetched', LEAST(6, log(4, 1 + n / $3::bigint)), 5,
       now() - interval '1 year' * ($2::bigint - n) / 1e6, title, 'About ' || title || ' and what belongs to it, in one sentence.',
       CASE WHEN n % 10 < 7 THEN 'en' WHEN n % 10 = 7 THEN 'de' WHEN n % 10 = 8 THEN 'fr' ELSE 'cs' END,
       setweight(to_tsvector('english', title), 'A') || body, substring(sha256(convert_to(url, 'UTF8')) FROM 17), 'text/html', 0,
       CASE WHEN n % 20 = 0 THEN simhash ELSE simhash # hashint8extended(n, 7) END
FROM (SELECT n, 'https://site-' || lpad((n % $3::bigint)::text, 4, '0') || '.example/page-' || n / $3::bigint AS url, one.body, one.simhash,
             split_part(one.title, ' ', 1) || ' ' || other.title AS title
      FROM generate_series($1::bigint, $2::bigint - 1) AS n
      JOIN bench_texts one ON one.number = (n * 7919) % $4::int
      JOIN bench_texts other ON other.number = (n * 104729 + n / 1000) % $4::int) made;

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
