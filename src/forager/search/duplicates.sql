-- What an operator sees of pages that say nearly the same.

-- name: largest_clusters
-- The clusters with most pages, by what was counted when they were indexed. $1 and $2: only those behind one of so many pages.
SELECT id, pages FROM page_clusters
WHERE pages > 1 AND ($1::bigint IS NULL OR pages < $1 OR pages = $1 AND id > $2::bigint) ORDER BY pages DESC, id LIMIT $3;

-- name: clusters_of_domain
-- The clusters with most pages that have at least one in the domain $3. $1 and $2: as above.
SELECT c.id, c.pages
FROM (SELECT DISTINCT i.cluster_id AS id FROM indexed_pages i JOIN domains d ON d.id = i.domain_id
      WHERE d.name = $3 AND i.cluster_id IS NOT NULL) mine
JOIN page_clusters c ON c.id = mine.id AND c.pages > 1
WHERE $1::bigint IS NULL OR c.pages < $1 OR c.pages = $1 AND c.id > $2::bigint
ORDER BY c.pages DESC, c.id LIMIT $4;

-- name: cluster_of_page
-- Where a page belongs, and what it says.
SELECT c.id, c.simhash AS leader, p.simhash, p.content_hash, c.pages
FROM indexed_pages i JOIN pages p ON p.id = i.page_id LEFT JOIN page_clusters c ON c.id = i.cluster_id
WHERE i.page_id = $1;

-- name: members
-- Pages of clusters, of each the best $2: short addresses and pages met early first.
SELECT n.id AS cluster_id, m.*
FROM unnest($1::bigint[]) AS n (id)
CROSS JOIN LATERAL (
    SELECT p.id, p.url, d.name AS domain, p.title, p.simhash, p.content_hash, p.depth, p.fetched_at
    FROM (SELECT page_id FROM indexed_pages WHERE cluster_id = n.id ORDER BY page_id LIMIT 2000) i
    JOIN pages p ON p.id = i.page_id
    JOIN domains d ON d.id = p.domain_id
    ORDER BY length(p.url), p.id
    LIMIT $2) m;

-- name: count_members
-- How many pages clusters have now, and in how many domains.
SELECT cluster_id, count(*) AS pages, count(DISTINCT domain_id) AS domains FROM indexed_pages
WHERE cluster_id = ANY ($1::bigint[]) GROUP BY cluster_id;

-- name: near_clusters
-- Clusters whose first text is at most twice as far away as members are from theirs: what is near to a page may be led by another.
SELECT c.id FROM (SELECT id, simhash FROM page_clusters WHERE bands && $2::int[] LIMIT 2000) c
WHERE bit_count((c.simhash # $1::bigint)::bit(64)) <= 6;
