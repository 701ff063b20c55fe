-- A price that is no longer on the page was shown as seen now. Of prices read before, the last visit that found them is known only where
-- the product was read without a problem; else the newest row of their history says when they were read for sure.
ALTER TABLE products ADD COLUMN price_seen_at timestamptz;
ALTER TABLE products ADD COLUMN missing_since timestamptz;
UPDATE products p SET price_seen_at = CASE WHEN p.is_valid THEN p.last_seen_at ELSE
    COALESCE((SELECT max(x.seen_at) FROM product_prices x WHERE x.domain_id = p.domain_id AND x.product_id = p.id), p.created_at) END
WHERE p.price IS NOT NULL;
ALTER TABLE products ADD COLUMN is_price_current boolean NOT NULL
    GENERATED ALWAYS AS (COALESCE(price_seen_at >= last_seen_at AND missing_since IS NULL, false)) STORED;
COMMENT ON COLUMN products.price_seen_at IS 'When a visit last read this price; NULL: none ever did. Earlier than last_seen_at: the page no longer names it.';
COMMENT ON COLUMN products.missing_since IS 'Since when its page was read without finding the product; NULL: the last reading found it.';
COMMENT ON COLUMN products.is_price_current IS 'Whether the last reading of its page named this price.';
