SELECT;
ALTER TABLE pages
    DROP COLUMN canonical_url,
    DROP COLUMN author,
    DROP COLUMN published_at,
    DROP COLUMN modified_at;
