-- Near-duplicate pages for operators.

-- name: largest_clusters
-- Lists the clusters with most pages, by the count kept at indexing. $1 and $2: the page count and id of the cluster to start after.
SELECT id, pages FROM page_clusters
WHERE pages > 1 AND ($1::bigint IS NULL OR pages < $1 OR pages = $1 AND id > $2::bigint) ORDER BY pages DESC, id LIMIT $3;

-- name: clusters_of_domain
-- Lists the clusters with most pages that have at least one page in the domain $3. $1 and $2: as above.
SELECT c.id, c.pages
FROM (SELECT DISTINCT i.cluster_id AS id FROM indexed_pages i JOIN domains d ON d.id = i.domain_id
      WHERE d.name = $3 AND i.cluster_id IS NOT NULL) mine
JOIN page_clusters c ON c.id = mine.id AND c.pages > 1
WHERE $1::bigint IS NULL OR c.pages < $1 OR c.pages = $1 AND c.id > $2::bigint
ORDER BY c.pages DESC, c.id LIMIT $4;

-- name: cluster_of_page
-- Returns the cluster of a page, and the page's hashes.
SELECT c.id, c.simhash AS leader, p.simhash, p.content_hash, c.pages
FROM indexed_pages i JOIN pages p ON p.id = i.page_id LEFT JOIN page_clusters c ON c.id = i.cluster_id
WHERE i.page_id = $1;

-- name: members
-- Returns the best $2 pages of each cluster: short URLs and pages discovered early first.
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
-- Counts the pages of clusters now, and their domains.
SELECT cluster_id, count(*) AS pages, count(DISTINCT domain_id) AS domains FROM indexed_pages
WHERE cluster_id = ANY ($1::bigint[]) GROUP BY cluster_id;

-- name: near_clusters
-- Finds clusters whose leading text is at most twice the member distance away: a page near to this one may be in a cluster with another
-- leader.
SELECT c.id FROM (SELECT id, simhash FROM page_clusters WHERE bands && $2::int[] LIMIT 2000) c
WHERE bit_count((c.simhash # $1::bigint)::bit(64)) <= 6;
