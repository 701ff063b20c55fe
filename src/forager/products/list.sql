-- Read-only queries on products for operators.
-- Optional filters are NULL when not given; PostgreSQL drops them while planning, so the rest can use its index.

-- name: products_by_seen
-- Lists products with their last price change, most recently seen first.
SELECT p.id, d.name AS domain, p.url, p.product_name, p.price, p.currency, p.availability, p.rating, p.review_count, p.brand,
       p.category, p.sku, p.gtin, p.confidence, p.problems, p.parser_name, p.parser_version, p.created_at, p.updated_at, p.last_seen_at,
       p.missing_since, p.is_price_current AND g.status <> 'gone' AS is_price_current, p.price_seen_at, g.status = 'gone' AS is_gone, c.old_price, c.changed_at
FROM products p
JOIN domains d ON d.id = p.domain_id
JOIN pages g ON g.id = p.page_id
LEFT JOIN LATERAL (
    SELECT x.old_price, x.price, x.seen_at AS changed_at FROM product_prices x
    WHERE x.domain_id = p.domain_id AND x.product_id = p.id AND NOT x.is_first AND NOT x.is_correction
      AND x.old_price IS DISTINCT FROM x.price AND x.old_price IS NOT NULL
    ORDER BY x.seen_at DESC LIMIT 1) c ON true
WHERE ($1::text IS NULL OR d.name = $1) AND ($2::text IS NULL OR p.availability = $2) AND ($3::text IS NULL OR lower(p.brand) = lower($3))
  AND CASE $4::text WHEN 'up' THEN c.price > c.old_price WHEN 'down' THEN c.price < c.old_price
                    WHEN 'any' THEN c.changed_at IS NOT NULL ELSE true END
  AND ($5::boolean IS NULL OR p.is_valid <> $5)
ORDER BY p.last_seen_at DESC, p.id
LIMIT $6::bigint;

-- name: find_product
-- Finds one product by id, or by domain and URL hash, with all its fields.
SELECT p.id, d.name AS domain, p.url, p.page_id, p.domain_id, p.crawl_task_id, p.product_name, p.description, p.price, p.currency,
       p.availability, p.rating, p.review_count, p.brand, p.category, p.sku, p.gtin, p.mpn, p.regular_price, p.unit_price,
       p.unit, p.seller, p.condition, p.shipping, p.attributes, p.image_urls, p.variants, p.content_hash,
       p.parser_name, p.parser_version, p.confidence, p.evidence, p.problems, p.is_valid, p.is_listed, p.created_at, p.updated_at, p.last_seen_at,
       p.missing_since, p.is_price_current AND g.status <> 'gone' AS is_price_current, p.price_seen_at, g.status::text AS page_status
FROM products p
JOIN domains d ON d.id = p.domain_id
JOIN pages g ON g.id = p.page_id
WHERE p.id = $1::bigint OR (d.name = $2::text AND p.url_hash = $3::bytea);

-- name: prices_of
-- Lists the price history of one product, oldest first.
SELECT x.seen_at, x.price, x.currency, x.availability, x.is_first, x.is_correction, x.is_backfill, x.old_price, x.old_currency, x.old_availability, x.task_id
FROM product_prices x
WHERE x.domain_id = $1 AND x.product_id = $2
ORDER BY x.seen_at, x.id;

-- name: dropped_parsers
-- Lists parsers that do worse in a domain yesterday and today than in the week before, all versions together, largest drop first.
SELECT d.name AS domain, r.parser_name, r.parser_version, r.day, r.attempts, r.found, r.valid, r.rate, r.rate_before
FROM (SELECT g.domain_id, g.parser_name, max(g.parser_version) FILTER (WHERE g.day >= t.today - 1) AS parser_version, max(g.day) AS day,
             sum(g.attempts) FILTER (WHERE g.day >= t.today - 1) AS attempts, sum(g.found) FILTER (WHERE g.day >= t.today - 1) AS found,
             sum(g.valid) FILTER (WHERE g.day >= t.today - 1) AS valid,
             sum(g.valid) FILTER (WHERE g.day >= t.today - 1)::float8 / NULLIF(sum(g.attempts) FILTER (WHERE g.day >= t.today - 1), 0) AS rate,
             sum(g.valid) FILTER (WHERE g.day < t.today - 1)::float8 / NULLIF(sum(g.attempts) FILTER (WHERE g.day < t.today - 1), 0) AS rate_before
      FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) t
      JOIN product_days g ON g.day >= t.today - 8
      GROUP BY g.domain_id, g.parser_name) r
JOIN domains d ON d.id = r.domain_id
WHERE r.attempts >= $1 AND r.rate_before - r.rate > $2 AND ($3::text IS NULL OR d.name = $3)
ORDER BY r.rate - r.rate_before, d.name, r.parser_name
LIMIT $4::bigint;

-- name: parser_rates
-- Compares the success rate of each parser in each domain on its newest day with the 14 days before, all versions together: a drop means
-- that the site changed or the parser got worse.
WITH newest AS (
    SELECT domain_id, parser_name, max(day) AS day FROM product_days GROUP BY domain_id, parser_name
), rates AS (
    SELECT n.domain_id, n.parser_name, n.day, max(g.parser_version) FILTER (WHERE g.day = n.day) AS parser_version,
           sum(g.attempts) FILTER (WHERE g.day = n.day) AS attempts, sum(g.found) FILTER (WHERE g.day = n.day) AS found,
           sum(g.valid) FILTER (WHERE g.day = n.day) AS valid,
           sum(g.attempts) FILTER (WHERE g.day < n.day) AS attempts_before, sum(g.valid) FILTER (WHERE g.day < n.day) AS valid_before
    FROM newest n
    JOIN product_days g ON g.domain_id = n.domain_id AND g.parser_name = n.parser_name AND g.day BETWEEN n.day - 14 AND n.day
    GROUP BY n.domain_id, n.parser_name, n.day
)
SELECT d.name AS domain, r.parser_name, r.parser_version, r.day, r.attempts, r.found, r.valid,
       r.valid::float8 / NULLIF(r.attempts, 0) AS rate, r.valid_before::float8 / NULLIF(r.attempts_before, 0) AS rate_before
FROM rates r
JOIN domains d ON d.id = r.domain_id
WHERE $1::text IS NULL OR d.name = $1
ORDER BY (r.valid::float8 / NULLIF(r.attempts, 0)) - (r.valid_before::float8 / NULLIF(r.attempts_before, 0)) NULLS LAST, d.name, r.parser_name
LIMIT $2::bigint;

-- name: without_products
-- Lists domains whose pages were parsed without finding any product, each with one parsed page as an example.
SELECT d.name AS domain, d.pages_crawled AS pages, g.url
FROM domains d
CROSS JOIN LATERAL (SELECT p.url FROM pages p WHERE p.domain_id = d.id AND p.status = 'fetched' AND NOT p.is_image AND NOT p.is_sitemap ORDER BY p.id DESC LIMIT 1) g
WHERE d.pages_crawled > 0 AND ($1::text IS NULL OR d.name = $1) AND NOT EXISTS (SELECT FROM product_days n WHERE n.domain_id = d.id AND n.found > 0)
ORDER BY d.pages_crawled DESC, d.name
LIMIT $2::bigint;

-- name: products_by_created
-- Lists products, most recently found first.
SELECT p.id, d.name AS domain, p.url, p.product_name, p.price, p.currency, p.availability, p.rating, p.review_count, p.brand,
       p.category, p.sku, p.gtin, p.confidence, p.problems, p.is_valid, p.parser_name, p.parser_version, p.created_at, p.updated_at,
       p.last_seen_at, p.missing_since, p.is_price_current AND g.status <> 'gone' AS is_price_current, p.price_seen_at, p.page_id,
       (SELECT s.image_id FROM page_images s JOIN images i ON i.id = s.image_id AND i.thumbnail_ref IS NOT NULL
        WHERE s.domain_id = p.domain_id AND s.page_id = p.page_id ORDER BY s.image_id LIMIT 1) AS image_id
FROM products p
JOIN domains d ON d.id = p.domain_id
JOIN pages g ON g.id = p.page_id
WHERE (p.created_at, p.id) < (COALESCE($1::timestamptz, 'infinity'), COALESCE($2::bigint, 0))
  AND ($3::text IS NULL OR p.domain_id = (SELECT n.id FROM domains n WHERE n.name = $3))
  AND ($4::text IS NULL OR p.availability = $4)
  AND ($5::text IS NULL OR p.brand = $5)
  AND ($6::text IS NULL OR p.category = $6)
  AND ($7::text IS NULL OR p.currency = $7)
  AND ($8::float8 IS NULL OR p.price >= $8::float8::numeric)
  AND ($9::float8 IS NULL OR p.price <= $9::float8::numeric)
  AND ($10::boolean IS NULL OR p.is_valid = $10)
ORDER BY p.created_at DESC, p.id DESC
LIMIT $11::bigint;

-- name: changes_by_id
-- Lists changes of prices and availability in shops, newest first; first sightings, our own corrections and what was read
-- from older versions later are left out.
SELECT x.id, x.seen_at, d.name AS domain, p.id AS product_id, p.product_name, p.url, x.old_price, x.price, x.old_currency, x.currency,
       x.old_availability, x.availability, x.task_id
FROM product_prices x
JOIN products p ON p.id = x.product_id
JOIN domains d ON d.id = x.domain_id
WHERE x.id < COALESCE($1::bigint, 9223372036854775807) AND NOT x.is_first AND NOT x.is_correction AND NOT x.is_backfill
  AND ($2::text IS NULL OR x.domain_id = (SELECT n.id FROM domains n WHERE n.name = $2))
  AND CASE $3::text WHEN 'price' THEN x.price IS DISTINCT FROM x.old_price OR x.currency IS DISTINCT FROM x.old_currency
                    WHEN 'availability' THEN x.availability IS DISTINCT FROM x.old_availability ELSE true END
  AND ($4::timestamptz IS NULL OR x.seen_at >= $4)
ORDER BY x.id DESC
LIMIT $5::bigint;
