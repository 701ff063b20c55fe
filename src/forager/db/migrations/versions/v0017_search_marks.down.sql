COMMENT ON COLUMN indexed_products.terms IS 'Lexemes with their places, and marks that begin with =: domain, language, brand, category, availability, currency.';
UPDATE indexed_products
SET terms = ts_delete(terms, ARRAY(SELECT lexeme FROM unnest(tsvector_to_array(terms)) AS lexeme WHERE lexeme ~ '^=[apem]'));
DROP INDEX pages_language;
