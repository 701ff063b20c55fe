SELECT;
CREATE INDEX pages_read ON pages (fetched_at, id) WHERE fetched_at IS NOT NULL;

CREATE TABLE page_clusters (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    simhash bigint    NOT NULL,
    bands   integer[] NOT NULL,
    pages   integer   NOT NULL DEFAULT 0
);
CREATE INDEX page_clusters_bands ON page_clusters USING gin (bands) WITH (fastupdate = off);
CREATE INDEX page_clusters_large ON page_clusters (pages DESC, id) WHERE pages > 1;
COMMENT ON TABLE page_clusters IS 'Owner: search. Texts, each with all that is nearly the same: at most 3 bits of 64 away from the one met first.';
COMMENT ON COLUMN page_clusters.bands IS 'The four quarters of the simhash, each with its place: of two that differ in 3 bits one quarter is equal.';
COMMENT ON COLUMN page_clusters.pages IS 'How many, as of the last indexing; pages that were removed since still count.';

CREATE TABLE indexed_pages (
    page_id      bigint      PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    domain_id    bigint      NOT NULL,
    config       text        NOT NULL,
    content_hash bytea,
    read_at      timestamptz NOT NULL,
    cluster_id   bigint,
    terms        tsvector    NOT NULL
);
CREATE INDEX indexed_pages_terms ON indexed_pages USING gin (terms) WITH (gin_pending_list_limit = 262144);
CREATE INDEX indexed_pages_cluster ON indexed_pages (cluster_id, page_id) WHERE cluster_id IS NOT NULL;
CREATE INDEX indexed_pages_domain ON indexed_pages (domain_id, cluster_id);
COMMENT ON TABLE indexed_pages IS 'Owner: search. What can be found: a copy of the keywords of pages, made by the duty index some time after they were read.';
COMMENT ON COLUMN indexed_pages.read_at IS 'When this content was read first; a visit that finds it unchanged does not count.';
COMMENT ON COLUMN indexed_pages.terms IS 'Lexemes without places, and marks that begin with =: words of the title, domain, language, configuration, tier, day, month.';

CREATE TABLE indexed_products (
    product_id bigint      PRIMARY KEY REFERENCES products (id) ON DELETE CASCADE,
    config     text        NOT NULL,
    updated_at timestamptz NOT NULL,
    terms      tsvector    NOT NULL
);
CREATE INDEX indexed_products_terms ON indexed_products USING gin (terms) WITH (gin_pending_list_limit = 262144);
COMMENT ON TABLE indexed_products IS 'Owner: search. What can be found of products: name (A), brand and category (B), description (D), by the duty index.';
COMMENT ON COLUMN indexed_products.updated_at IS 'Of the product, when it was indexed.';
COMMENT ON COLUMN indexed_products.terms IS 'Lexemes with their places, and marks that begin with =: domain, language, brand, category, availability, currency.';

CREATE TABLE search_languages (
    language text PRIMARY KEY,
    config   text NOT NULL
);
COMMENT ON TABLE search_languages IS 'Owner: search. Languages met in pages, each with its configuration: a query without a language is tried in all of them.';

CREATE TABLE search_words (
    word text      PRIMARY KEY,
    seen integer   NOT NULL,
    near integer[] NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX search_words_near ON search_words USING gin (near);
COMMENT ON TABLE search_words IS 'Owner: search. Words of titles and descriptions, for who misspells one.';
COMMENT ON COLUMN search_words.near IS 'Checksums of the word without its accents, and of it without each of its letters.';

CREATE TABLE search_marks (
    name    text        PRIMARY KEY,
    read_at timestamptz NOT NULL,
    page_id bigint      NOT NULL
);
COMMENT ON TABLE search_marks IS 'Owner: search. Up to which page, in the order they were read, each index is made.';
