ALTER TABLE domains DROP COLUMN max_pages_per_template;
DELETE FROM products WHERE is_listed;
ALTER TABLE products DROP COLUMN is_listed;
