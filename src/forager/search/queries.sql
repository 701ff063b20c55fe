-- Search queries. Read only.

-- name: keep_it_short
-- Limits the time of a search, and disables sequential scans: the indexes are there for it.
SELECT set_config('statement_timeout', $1, true), set_config('enable_seqscan', 'off', true);

-- name: find_domains
-- Returns the ids of domains.
SELECT name, id FROM domains WHERE name = ANY ($1::text[]);

-- name: spell
-- Returns words in each text search configuration used for pages (of this language, if given).
SELECT c.config, w.place::int AS place, phraseto_tsquery(c.config::regconfig, w.words)::text AS query,
       tsvector_to_array(to_tsvector(c.config::regconfig, w.words)) AS lexemes
FROM (SELECT DISTINCT config FROM search_languages
      WHERE $2::text IS NULL OR language = $2 OR split_part(language, '-', 1) = $2) c
CROSS JOIN unnest($1::text[]) WITH ORDINALITY AS w (words, place)
ORDER BY c.config, w.place;

-- name: candidates
-- Returns the first $2 pages stage by stage, each with the number of its stage. Reads the index and its table alone.
SELECT found.page_id AS id, found.domain_id, found.language, found.depth, found.config, stage.place::int AS stage
FROM unnest($1::tsquery[]) WITH ORDINALITY AS stage (query, place)
CROSS JOIN LATERAL (
    SELECT page_id, domain_id, language, depth, config FROM indexed_pages
    WHERE terms @@ stage.query AND read_at >= $3 AND read_at < $4 LIMIT $2) found
LIMIT $2;

-- name: rank
-- Ranks those of the given pages that really match, up to $5 of them, and says how many were looked at. Ranking reads the keywords with
-- their positions, which costs most by far: hence the limits, and hence they are detoasted once (|| and OFFSET). A page without a ranking
-- query has all that is wanted; it is ranked by depth. Rows come in the order of the pages.
SELECT id, place,
       (1e6 * COALESCE(ts_rank_cd('{0.1, 0.2, 0.4, 1.0}', keywords, query, 33), 0.001) / (1 + 0.05 * LEAST(depth, 10)))::bigint AS score
FROM (SELECT p.id, p.depth, n.place::int AS place, p.keywords_tsv || ''::tsvector AS keywords,
             ($4::tsquery[])[array_position($3::text[], n.config)] AS query
      FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS n (id, config, place)
      CROSS JOIN LATERAL (SELECT * FROM pages WHERE pages.id = n.id AND status NOT IN ('gone', 'blocked') OFFSET 0) p
      OFFSET 0) unpacked
WHERE query IS NULL OR keywords @@ query
LIMIT $5;

-- name: matching
-- Selects every page a search would find; never executed, only EXPLAINed for its row estimate.
SELECT FROM indexed_pages WHERE terms @@ $1::tsquery;

-- name: show
-- Returns the display fields of pages, with matches between \x02 and \x03.
SELECT p.id, p.url, d.name AS domain, p.language, p.fetched_at, COALESCE('words_cut' = ANY (p.flags), false) AS is_cut,
       COALESCE(ts_headline(i.config::regconfig, translate(p.title, E'\x02\x03', ''), q.query, E'HighlightAll=true, StartSel=\x02, StopSel=\x03'),
                translate(p.title, E'\x02\x03', '')) AS title,
       COALESCE(ts_headline(i.config::regconfig, translate(p.description, E'\x02\x03', ''), q.query,
                            E'MaxWords=40, MinWords=20, StartSel=\x02, StopSel=\x03'),
                left(translate(p.description, E'\x02\x03', ''), 300)) AS snippet
FROM unnest($1::bigint[]) AS n (id)
JOIN pages p ON p.id = n.id
JOIN domains d ON d.id = p.domain_id
JOIN indexed_pages i ON i.page_id = p.id
LEFT JOIN unnest($2::text[], $3::tsquery[]) AS q (config, query) ON q.config = i.config;

-- name: excerpt
-- Returns the excerpt of a page's text that contains the searched words, with matches between \x02 and \x03.
SELECT n.id, ts_headline(i.config::regconfig, translate(n.words, E'\x02\x03', ''), q.query,
                         E'MaxWords=36, MinWords=18, MaxFragments=2, FragmentDelimiter=" … ", StartSel=\x02, StopSel=\x03') AS snippet
FROM unnest($1::bigint[], $2::text[]) AS n (id, words)
JOIN indexed_pages i ON i.page_id = n.id
JOIN unnest($3::text[], $4::tsquery[]) AS q (config, query) ON q.config = i.config;

-- name: name_domains
-- Returns the names of domains.
SELECT id, name FROM domains WHERE id = ANY ($1::bigint[]);

-- name: known_words
-- Returns which of these words are known.
SELECT word FROM search_words WHERE word = ANY ($1::text[]);

-- name: near_words
-- Returns known words that share a checksum with an unknown one, most frequent first.
SELECT word, seen FROM search_words WHERE near && $1::int[] ORDER BY seen DESC, word LIMIT 200;

-- name: fold
-- Returns texts in lower case, as in the marks of the index.
SELECT lower(name) FROM unnest($1::text[]) WITH ORDINALITY AS n (name, place) ORDER BY place;

-- name: rank_products
-- Ranks, of the first $2 candidates stage by stage, those in the price range; if there are none, returns one row without a product.
WITH staged AS MATERIALIZED (
    SELECT found.product_id, found.config, found.terms || ''::tsvector AS terms
    FROM unnest($1::tsquery[]) AS stage (query)
    CROSS JOIN LATERAL (SELECT product_id, config, terms FROM indexed_products WHERE terms @@ stage.query LIMIT $2) found
    LIMIT $2
)
SELECT id, brand, category, availability, price::float8, currency, candidates,
       (1e6 * COALESCE(ts_rank('{0.1, 0.2, 0.4, 1.0}', terms, query, 33), 0.001))::bigint AS score
FROM (SELECT count(*) AS candidates FROM staged) counted
LEFT JOIN (SELECT r.id, r.brand, r.category, r.availability, r.price, r.currency, s.terms,
                  ($4::tsquery[])[array_position($3::text[], s.config)] AS query
           FROM staged s JOIN products r ON r.id = s.product_id
           WHERE COALESCE(r.price >= $5::float8, $5 IS NULL) AND COALESCE(r.price <= $6::float8, $6 IS NULL)
             AND r.updated_at >= $7 AND r.updated_at < $8
           OFFSET 0) unpacked ON query IS NULL OR terms @@ query
ORDER BY score DESC NULLS LAST, id;

-- name: matching_products
-- Selects every product a search would find; never executed, only EXPLAINed for its row estimate.
SELECT FROM indexed_products WHERE terms @@ $1::tsquery;

-- name: show_products
-- Returns the display fields of products, with matches between \x02 and \x03.
SELECT r.id, r.url, d.name AS domain, p.language, r.last_seen_at AS fetched_at,
       r.brand, r.category, r.availability, r.price::float8 AS price, r.currency, r.rating::float8 AS rating, r.review_count,
       r.is_price_current AND p.status <> 'gone' AS is_price_current, r.price_seen_at,
       (SELECT s.image_id FROM page_images s JOIN images m ON m.id = s.image_id AND m.thumbnail_ref IS NOT NULL
        WHERE s.domain_id = r.domain_id AND s.page_id = r.page_id ORDER BY s.image_id LIMIT 1) AS image_id,
       COALESCE(ts_headline(i.config::regconfig, translate(r.product_name, E'\x02\x03', ''), q.query,
                            E'HighlightAll=true, StartSel=\x02, StopSel=\x03'),
                translate(r.product_name, E'\x02\x03', '')) AS title,
       COALESCE(ts_headline(i.config::regconfig, translate(left(r.description, 4000), E'\x02\x03', ''), q.query,
                            E'MaxWords=40, MinWords=20, StartSel=\x02, StopSel=\x03'),
                left(translate(r.description, E'\x02\x03', ''), 300)) AS snippet
FROM unnest($1::bigint[]) AS n (id)
JOIN products r ON r.id = n.id
JOIN pages p ON p.id = r.page_id
JOIN domains d ON d.id = r.domain_id
JOIN indexed_products i ON i.product_id = r.id
LEFT JOIN unnest($2::text[], $3::tsquery[]) AS q (config, query) ON q.config = i.config;

-- name: count_unsearched
-- Counts pages that are read and not searched whole, up to $1 of each kind: those cut at the limit of words, those that forbid indexing.
SELECT (SELECT count(*)::int FROM (SELECT FROM pages WHERE flags && '{words_cut,noindex}' AND 'noindex' <> ALL (flags) LIMIT $1) x) AS cut,
       (SELECT count(*)::int FROM (SELECT FROM pages WHERE flags && '{words_cut,noindex}' AND 'noindex' = ANY (flags) LIMIT $1) x) AS noindex;
