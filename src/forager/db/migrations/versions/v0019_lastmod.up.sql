ALTER TABLE pages ADD COLUMN lastmod_at timestamptz;
COMMENT ON COLUMN pages.lastmod_at IS 'When it changed, as its sitemap says; later than fetched_at: a claim that its next visit will test.';
ALTER TABLE domains
    ADD COLUMN lastmod_claims integer NOT NULL DEFAULT 0,
    ADD COLUMN lastmod_truths integer NOT NULL DEFAULT 0,
    ADD CHECK (lastmod_truths <= lastmod_claims);
COMMENT ON COLUMN domains.lastmod_claims IS 'Revisits of pages that its sitemaps said had changed; lastmod_truths of them had.';
