CREATE INDEX pages_language ON pages (language, id) WHERE language IS NOT NULL;
COMMENT ON COLUMN indexed_products.terms IS 'Lexemes with their places, and marks that begin with =: words of the name, domain, language, brand, category, availability, currency, price, day, month.';
UPDATE indexed_products i
SET terms = i.terms || array_to_tsvector(
        ARRAY(SELECT '=a' || lexeme FROM unnest(tsvector_to_array(ts_filter(i.terms, '{a}'))) AS lexeme)
        || ARRAY(SELECT '=p' || width_bucket(r.price, '{10,25,50,100,250,500,1000,2500,10000}'::numeric[]) WHERE r.price IS NOT NULL)
        || ARRAY[to_char(r.updated_at AT TIME ZONE 'UTC', '"=e"YYYYMMDD'), to_char(r.updated_at AT TIME ZONE 'UTC', '"=m"YYYYMM')])
FROM products r WHERE r.id = i.product_id;
