ALTER TABLE products DROP COLUMN is_price_current;
ALTER TABLE products DROP COLUMN missing_since;
ALTER TABLE products DROP COLUMN price_seen_at;
