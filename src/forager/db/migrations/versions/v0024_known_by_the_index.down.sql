CREATE UNIQUE INDEX pages_known ON pages (domain_id, url_hash);
ALTER TABLE pages DROP CONSTRAINT pages_domain_id_url_hash_key;
ALTER TABLE pages ADD CONSTRAINT pages_domain_id_url_hash_key UNIQUE USING INDEX pages_known;
