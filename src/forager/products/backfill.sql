-- Prices from older versions of pages. Writes product_prices, which products owns.

-- name: hold_products
-- Locks the products of pages, in the order in which visits lock them.
SELECT p.id, p.domain_id, p.page_id, p.crawl_task_id AS task_id, p.last_seen_at, p.price, p.currency::text AS currency, p.availability
FROM products p WHERE p.page_id = ANY ($1::bigint[]) ORDER BY p.id FOR NO KEY UPDATE OF p;

-- name: known_prices
-- Returns the history of products, oldest first.
SELECT x.product_id, x.task_id, x.seen_at, x.price, x.currency::text AS currency, x.availability
FROM unnest($1::bigint[], $2::bigint[]) AS n (domain_id, product_id)
JOIN product_prices x ON x.domain_id = n.domain_id AND x.product_id = n.product_id
ORDER BY x.product_id, x.seen_at, x.id;

-- name: add_past_prices
-- Adds rows to histories at the time of their visits, marked as read later.
INSERT INTO product_prices (domain_id, product_id, task_id, seen_at, price, currency, availability, is_backfill, is_correction,
                            old_price, old_currency, old_availability)
SELECT n.domain_id, n.product_id, n.task_id, n.seen_at, n.price, n.currency, n.availability, true, n.is_correction,
       n.old_price, n.old_currency, n.old_availability
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::numeric[], $6::text[], $7::text[], $8::boolean[],
            $9::numeric[], $10::text[], $11::text[])
     AS n (domain_id, product_id, task_id, seen_at, price, currency, availability, is_correction, old_price, old_currency, old_availability);
