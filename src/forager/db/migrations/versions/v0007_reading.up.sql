SELECT;
ALTER TABLE pages
    ADD COLUMN canonical_url text,
    ADD COLUMN author        text,
    ADD COLUMN published_at  timestamptz,
    ADD COLUMN modified_at   timestamptz;
COMMENT ON COLUMN pages.canonical_url IS 'The address the page wants to be known by, where that is not its own. It is kept, and changes no page.';
COMMENT ON COLUMN pages.published_at IS 'As the page says; so are author and modified_at. Of a feed or sitemap modified_at is its newest entry.';
