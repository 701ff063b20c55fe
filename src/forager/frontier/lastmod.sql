-- Records what sitemaps claim about pages that were read. Owner of pages and crawl_tasks.

-- name: note_claims
-- Records claims of a sitemap that pages changed since they were read: the newest ones, up to a limit, so that the next
-- visit of each can test the claim. If the domain is trusted, that visit is due now; a page that is not revisited by
-- itself gets one. Ignores claims about the future.
WITH claimed AS MATERIALIZED (
    SELECT p.id, n.lastmod_at FROM unnest($2::bigint[], $3::timestamptz[]) AS n (page_id, lastmod_at) JOIN pages p ON p.id = n.page_id
    WHERE p.domain_id = $1 AND p.status = 'fetched' AND n.lastmod_at > p.fetched_at AND n.lastmod_at <= now()
    ORDER BY n.lastmod_at DESC, p.id
    LIMIT $4
), held AS MATERIALIZED (
    SELECT p.id FROM pages p JOIN claimed c ON c.id = p.id ORDER BY p.id FOR NO KEY UPDATE OF p
), noted AS (
    UPDATE pages p SET lastmod_at = c.lastmod_at FROM claimed c JOIN held h ON h.id = c.id
    WHERE p.id = c.id AND p.lastmod_at IS DISTINCT FROM c.lastmod_at
), added AS (
    INSERT INTO crawl_tasks (page_id, domain_id, priority, created_by)
    SELECT p.id, p.domain_id, p.priority, 'sitemap' FROM held h JOIN pages p ON p.id = h.id WHERE $5 ORDER BY p.id
    ON CONFLICT (domain_id, page_id) WHERE outcome IS NULL DO NOTHING
    RETURNING id
), waiting AS MATERIALIZED (
    SELECT t.id FROM crawl_tasks t JOIN held h ON h.id = t.page_id
    WHERE $5 AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending' AND t.scheduled_for > now()
    ORDER BY t.id FOR NO KEY UPDATE OF t SKIP LOCKED
), hastened AS (
    UPDATE crawl_tasks t SET scheduled_for = now() FROM waiting w WHERE t.id = w.id RETURNING t.id
)
SELECT id FROM hastened UNION ALL SELECT id FROM added;
