ALTER TABLE domains DROP COLUMN lastmod_claims, DROP COLUMN lastmod_truths;
ALTER TABLE pages DROP COLUMN lastmod_at;
