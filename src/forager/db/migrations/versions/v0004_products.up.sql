SELECT;
ALTER TABLE domains ADD COLUMN parser_name text NOT NULL DEFAULT 'auto';
CREATE INDEX domains_parser ON domains (parser_name) WHERE parser_name <> 'auto';
COMMENT ON COLUMN domains.parser_name IS 'Who reads its products: a parser of extract/sites, generic, or auto for the one that fits the host.';

CREATE TABLE products (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain_id      bigint        NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    page_id        bigint        NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    crawl_task_id  bigint,
    url            text          NOT NULL,
    url_hash       bytea         NOT NULL CHECK (length(url_hash) = 16),
    product_name   varchar(512)  NOT NULL,
    description    text,
    price          numeric(20,4) CHECK (price >= 0),
    currency       varchar(3)    CHECK (currency ~ '^[A-Z]{3}$'),
    availability   text,
    rating         numeric(3,2)  CHECK (rating BETWEEN 0 AND 5),
    review_count   integer       CHECK (review_count >= 0),
    brand          varchar(255),
    category       varchar(255),
    sku            varchar(100),
    gtin           varchar(14),
    image_urls     text[]        NOT NULL DEFAULT '{}',
    variants       jsonb         NOT NULL DEFAULT '[]',
    content_hash   bytea         NOT NULL,
    -- how it was read
    parser_name    text          NOT NULL,
    parser_version integer       NOT NULL,
    confidence     real          NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    evidence       jsonb         NOT NULL DEFAULT '{}',
    problems       text[]        NOT NULL DEFAULT '{}',
    is_valid       boolean       NOT NULL,
    created_at     timestamptz   NOT NULL,
    updated_at     timestamptz   NOT NULL,
    last_seen_at   timestamptz   NOT NULL,
    UNIQUE (domain_id, page_id),
    UNIQUE (domain_id, url_hash)
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX products_name ON products (product_name);
CREATE INDEX products_price ON products (price);
CREATE INDEX products_availability ON products (availability);
CREATE INDEX products_created ON products (created_at);
CREATE INDEX products_brand ON products (brand) WHERE brand IS NOT NULL;
CREATE INDEX products_category ON products (category) WHERE category IS NOT NULL;
COMMENT ON TABLE products IS 'Owner: products. What the page of one product says: the newest facts, how sure we are of each, where each was found.';
COMMENT ON COLUMN products.crawl_task_id IS 'The visit that saw it last. No foreign key: old history moves away.';
COMMENT ON COLUMN products.price IS 'The last one the page named: a page that names none now, as many do when sold out, keeps it.';
COMMENT ON COLUMN products.content_hash IS '16 bytes over the facts; updated_at moves only when it changes.';
COMMENT ON COLUMN products.evidence IS 'Field to a list of [value, where, confidence]: what was chosen, then what else the page said.';
COMMENT ON COLUMN products.created_at IS 'First seen.';

CREATE TABLE product_prices (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain_id        bigint        NOT NULL,
    product_id       bigint        NOT NULL REFERENCES products (id) ON DELETE CASCADE,
    task_id          bigint,
    seen_at          timestamptz   NOT NULL,
    price            numeric(20,4),
    currency         varchar(3),
    availability     text,
    is_first         boolean       NOT NULL DEFAULT false,
    is_correction    boolean       NOT NULL DEFAULT false,
    old_price        numeric(20,4),
    old_currency     varchar(3),
    old_availability text
);
CREATE INDEX product_prices_of ON product_prices (domain_id, product_id, seen_at);
CREATE INDEX product_prices_seen ON product_prices USING brin (seen_at);
COMMENT ON TABLE product_prices IS 'Owner: products. A row at first sight and for each change of price, currency or availability, with what was before: history and events in one.';
COMMENT ON COLUMN product_prices.is_correction IS 'The same visit read again with another result: our understanding changed, not the shop.';

CREATE TABLE product_days (
    domain_id      bigint  NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    day            date    NOT NULL,
    parser_name    text    NOT NULL,
    parser_version integer NOT NULL,
    attempts       integer NOT NULL,
    found          integer NOT NULL,
    valid          integer NOT NULL,
    PRIMARY KEY (domain_id, day, parser_name, parser_version)
);
COMMENT ON TABLE product_days IS 'Owner: products. How well a parser did in a domain on a day (UTC).';
COMMENT ON COLUMN product_days.attempts IS 'Pages that gave a product, now or at the visit before.';
COMMENT ON COLUMN product_days.valid IS 'Of those found, the ones without a serious problem.';
