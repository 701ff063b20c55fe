-- Products, their price history, and parser success rates. Owner of products, product_prices, product_days.

-- name: add_products
-- Adds products seen for the first time, each with its first price row. Products that another transaction added meanwhile are left to
-- see_products.
WITH n AS (
    SELECT domain_id, page_id, task_id, COALESCE(seen_at, now()) AS seen_at, url, url_hash, name, description, price, currency,
           availability, rating, review_count, brand, category, sku, gtin, image_urls, variants, content_hash, parser_name,
           parser_version, confidence, evidence, problems, is_valid, is_listed, mpn, regular_price, unit_price, unit, seller, condition,
           shipping, attributes
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::text[], $6::bytea[], $7::text[], $8::text[],
                $9::numeric[], $10::text[], $11::text[], $12::numeric[], $13::int[], $14::text[], $15::text[], $16::text[],
                $17::text[], $18::text[], $19::text[], $20::bytea[], $21::text[], $22::int[], $23::float8[], $24::text[],
                $25::text[], $26::boolean[], $27::boolean[], $28::text[], $29::numeric[], $30::numeric[], $31::text[], $32::text[],
                $33::text[], $34::numeric[], $35::text[])
        AS n (domain_id, page_id, task_id, seen_at, url, url_hash, name, description, price, currency, availability, rating,
              review_count, brand, category, sku, gtin, image_urls, variants, content_hash, parser_name, parser_version, confidence,
              evidence, problems, is_valid, is_listed, mpn, regular_price, unit_price, unit, seller, condition, shipping, attributes)
), added AS (
    INSERT INTO products (domain_id, page_id, crawl_task_id, url, url_hash, product_name, description, price, currency, availability,
                          rating, review_count, brand, category, sku, gtin, image_urls, variants, content_hash, parser_name,
                          parser_version, confidence, evidence, problems, is_valid, is_listed, created_at, updated_at, last_seen_at, price_seen_at,
                          mpn, regular_price, unit_price, unit, seller, condition, shipping, attributes)
    SELECT domain_id, page_id, task_id, url, url_hash, name, description, price, currency, availability, rating, review_count, brand,
           category, sku, gtin, ARRAY(SELECT jsonb_array_elements_text(image_urls::jsonb)), variants::jsonb, content_hash, parser_name,
           parser_version, confidence, evidence::jsonb, ARRAY(SELECT jsonb_array_elements_text(problems::jsonb)), is_valid,
           is_listed, seen_at, seen_at, seen_at, CASE WHEN price IS NOT NULL THEN seen_at END,
           mpn, regular_price, unit_price, unit, seller, condition, shipping, COALESCE(attributes::jsonb, '{}')
    FROM n ORDER BY domain_id, page_id
    ON CONFLICT DO NOTHING -- whichever of the unique keys the other transaction has reached
    RETURNING id, domain_id, page_id, crawl_task_id, created_at, price, currency, availability
), priced AS (
    INSERT INTO product_prices (domain_id, product_id, task_id, seen_at, price, currency, availability, is_first)
    SELECT domain_id, id, crawl_task_id, created_at, price, currency, availability, true FROM added
)
SELECT page_id FROM added;

-- name: see_products
-- Updates products seen again. Price, currency and availability that a page no longer states are kept, visits older than the last are
-- ignored, and a price row is written only when price, currency or availability differ from what is stored under the lock. A listing
-- does not override what the product's own page stated; when the page overrides a listing, the price row is a correction, not a change.
WITH n AS (
    SELECT domain_id, page_id, task_id, COALESCE(seen_at, now()) AS seen_at, url, url_hash, name, description, price, currency,
           availability, rating, review_count, brand, category, sku, gtin, image_urls, variants, content_hash, parser_name,
           parser_version, confidence, evidence, problems, is_valid, is_listed, mpn, regular_price, unit_price, unit, seller, condition,
           shipping, attributes
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::text[], $6::bytea[], $7::text[], $8::text[],
                $9::numeric[], $10::text[], $11::text[], $12::numeric[], $13::int[], $14::text[], $15::text[], $16::text[],
                $17::text[], $18::text[], $19::text[], $20::bytea[], $21::text[], $22::int[], $23::float8[], $24::text[],
                $25::text[], $26::boolean[], $27::boolean[], $28::text[], $29::numeric[], $30::numeric[], $31::text[], $32::text[],
                $33::text[], $34::numeric[], $35::text[])
        AS n (domain_id, page_id, task_id, seen_at, url, url_hash, name, description, price, currency, availability, rating,
              review_count, brand, category, sku, gtin, image_urls, variants, content_hash, parser_name, parser_version, confidence,
              evidence, problems, is_valid, is_listed, mpn, regular_price, unit_price, unit, seller, condition, shipping, attributes)
), old AS MATERIALIZED (
    SELECT p.id, p.domain_id, p.page_id, p.crawl_task_id, p.price, p.currency, p.availability, p.is_listed
    FROM products p JOIN n ON n.domain_id = p.domain_id AND n.page_id = p.page_id
    WHERE n.seen_at >= p.last_seen_at AND (p.is_listed OR NOT n.is_listed)
    ORDER BY p.id FOR NO KEY UPDATE OF p
), fresh AS MATERIALIZED (
    SELECT n.*, old.id AS product_id, old.crawl_task_id IS NOT DISTINCT FROM n.task_id OR old.is_listed AND NOT n.is_listed AS is_reread,
           COALESCE(n.price, old.price) AS price_now, COALESCE(n.currency, old.currency) AS currency_now,
           COALESCE(n.availability, old.availability) AS availability_now,
           old.price AS old_price, old.currency AS old_currency, old.availability AS old_availability
    FROM old JOIN n ON n.domain_id = old.domain_id AND n.page_id = old.page_id
), updated AS (
    UPDATE products p
    SET crawl_task_id = f.task_id, product_name = f.name, description = f.description, price = f.price_now, currency = f.currency_now,
        availability = f.availability_now, rating = f.rating, review_count = f.review_count, brand = f.brand, category = f.category,
        sku = f.sku, gtin = f.gtin, image_urls = ARRAY(SELECT jsonb_array_elements_text(f.image_urls::jsonb)),
        variants = f.variants::jsonb, content_hash = f.content_hash, parser_name = f.parser_name, parser_version = f.parser_version,
        confidence = f.confidence, evidence = f.evidence::jsonb, problems = ARRAY(SELECT jsonb_array_elements_text(f.problems::jsonb)),
        mpn = f.mpn, regular_price = f.regular_price, unit_price = f.unit_price, unit = f.unit, seller = f.seller, condition = f.condition,
        shipping = f.shipping, attributes = COALESCE(f.attributes::jsonb, '{}'), is_valid = f.is_valid, is_listed = f.is_listed,
        updated_at = CASE WHEN p.content_hash <> f.content_hash THEN f.seen_at ELSE p.updated_at END,
        last_seen_at = f.seen_at, price_seen_at = CASE WHEN f.price IS NOT NULL THEN f.seen_at ELSE p.price_seen_at END, missing_since = NULL
    FROM fresh f WHERE p.id = f.product_id
)
INSERT INTO product_prices (domain_id, product_id, task_id, seen_at, price, currency, availability, is_correction,
                            old_price, old_currency, old_availability)
SELECT domain_id, product_id, task_id, seen_at, price_now, currency_now, availability_now, is_reread,
       old_price, old_currency, old_availability
FROM fresh
WHERE (price_now, currency_now, availability_now) IS DISTINCT FROM (old_price, old_currency, old_availability)
ORDER BY product_id
RETURNING product_id;

-- name: see_unchanged
-- Updates products of unchanged pages: they are still there, unless only listings ever showed them or the previous parse did not find
-- them. A price that was not on the page then is not on it now.
UPDATE products p
SET last_seen_at = GREATEST(p.last_seen_at, now()), crawl_task_id = n.task_id,
    price_seen_at = CASE WHEN p.is_price_current THEN GREATEST(p.last_seen_at, now()) ELSE p.price_seen_at END
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS n (domain_id, page_id, task_id)
WHERE p.domain_id = n.domain_id AND p.page_id = n.page_id AND NOT p.is_listed AND p.missing_since IS NULL;

-- name: lose_products
-- Marks products missing whose pages were parsed and gave no product this time, and returns them with the parser that found them before.
-- Products known only from listings are left out: their own pages never gave them.
WITH lost AS MATERIALIZED (
    SELECT p.id, n.seen_at FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS n (domain_id, page_id, seen_at)
    JOIN products p ON p.domain_id = n.domain_id AND p.page_id = n.page_id AND NOT p.is_listed
    ORDER BY p.id FOR NO KEY UPDATE OF p
)
UPDATE products p SET missing_since = COALESCE(p.missing_since, CASE WHEN COALESCE(l.seen_at, now()) >= p.last_seen_at THEN COALESCE(l.seen_at, now()) END)
FROM lost l WHERE p.id = l.id
RETURNING p.domain_id, p.page_id, p.parser_name, p.parser_version;

-- name: count_days
-- Adds attempts and successes of parsers to today's counters.
INSERT INTO product_days AS d (domain_id, day, parser_name, parser_version, attempts, found, valid)
SELECT n.domain_id, (now() AT TIME ZONE 'UTC')::date, n.parser_name, n.parser_version, n.attempts, n.found, n.valid
FROM unnest($1::bigint[], $2::text[], $3::int[], $4::int[], $5::int[], $6::int[])
     AS n (domain_id, parser_name, parser_version, attempts, found, valid)
ORDER BY n.domain_id, n.parser_name, n.parser_version
ON CONFLICT (domain_id, day, parser_name, parser_version)
DO UPDATE SET attempts = d.attempts + EXCLUDED.attempts, found = d.found + EXCLUDED.found, valid = d.valid + EXCLUDED.valid;

-- name: move_to_twins
-- Where several of these domains have the same page, moves its product to the oldest one, which stays, unless that one has a product.
UPDATE products r SET page_id = n.stays
FROM (
    SELECT DISTINCT ON (t.stays) q.id, t.stays
    FROM (SELECT p.id AS page, first_value(p.id) OVER (PARTITION BY p.url_hash ORDER BY p.discovered_at, p.id) AS stays
          FROM pages p WHERE p.domain_id = ANY ($1::bigint[])) t
    JOIN products q ON q.page_id = t.page
    ORDER BY t.stays, (q.page_id = t.stays) DESC, q.last_seen_at DESC, q.id
) n
WHERE r.id = n.id AND r.page_id <> n.stays;

-- name: move_products
-- Moves the products of merged domains.
UPDATE products SET domain_id = $1 WHERE domain_id = ANY ($2::bigint[]);

-- name: move_prices
-- Moves the prices of merged domains.
UPDATE product_prices SET domain_id = $1 WHERE domain_id = ANY ($2::bigint[]);

-- name: move_product_days
-- Sums the daily parser counters of merged domains.
INSERT INTO product_days AS kept (domain_id, day, parser_name, parser_version, attempts, found, valid)
SELECT $1, day, parser_name, parser_version, sum(attempts), sum(found), sum(valid)
FROM product_days WHERE domain_id = ANY ($2::bigint[]) GROUP BY day, parser_name, parser_version
ON CONFLICT (domain_id, day, parser_name, parser_version) DO UPDATE
SET attempts = kept.attempts + EXCLUDED.attempts, found = kept.found + EXCLUDED.found, valid = kept.valid + EXCLUDED.valid;
