CREATE TABLE page_details (
    page_id         bigint PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    headline        text,
    site_name       text,
    section         text,
    tags            text[],
    rating          numeric(3,2) CHECK (rating BETWEEN 0 AND 5),
    rating_count    integer      CHECK (rating_count >= 0),
    published_on    date,
    modified_on     date,
    structured_data bytea,
    content_hash    bytea        NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE page_details ALTER COLUMN structured_data SET STORAGE EXTERNAL;
COMMENT ON TABLE page_details IS 'Owner: frontier. What the last good reading of a page found beyond the signals in pages, which are read and written far more often.';
COMMENT ON COLUMN page_details.rating IS 'Of what the page is about, whatever scale the page uses.';
COMMENT ON COLUMN page_details.published_on IS 'The calendar day the page itself shows, in its own time zone; so is modified_on.';
COMMENT ON COLUMN page_details.structured_data IS 'All JSON-LD, microdata, RDFa and OpenGraph items as a JSON array, compressed by zlib before it comes here: pglz takes four times as long.';
COMMENT ON COLUMN page_details.content_hash IS '16 bytes of the SHA-256 of the other columns: the row is written only when it changes, and forager check --deep compares.';
ALTER TABLE products
    ADD COLUMN mpn text,
    ADD COLUMN regular_price numeric(20,4) CHECK (regular_price >= 0),
    ADD COLUMN unit_price numeric(20,4) CHECK (unit_price >= 0),
    ADD COLUMN unit text,
    ADD COLUMN seller text,
    ADD COLUMN condition text,
    ADD COLUMN shipping numeric(20,4) CHECK (shipping >= 0),
    ADD COLUMN attributes jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN products.regular_price IS 'Struck through beside a lower one; in currency, as are unit_price and shipping.';
COMMENT ON COLUMN products.unit_price IS 'For one unit, such as kg.';
COMMENT ON COLUMN products.condition IS 'new, used, refurbished or damaged.';
COMMENT ON COLUMN products.attributes IS 'What else the page says of it: color, material, weight.';
