SELECT;
DROP TABLE product_days;
DROP TABLE product_prices;
DROP TABLE products;
DROP INDEX domains_parser;
ALTER TABLE domains DROP COLUMN parser_name;
