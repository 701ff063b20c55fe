ALTER TABLE products ADD COLUMN is_listed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN products.is_listed IS 'Only lists showed it so far; once its own page was read, lists are not believed any more.';
ALTER TABLE domains ADD COLUMN max_pages_per_template integer CHECK (max_pages_per_template > 0);
COMMENT ON COLUMN domains.max_pages_per_template IS 'So many pages of one URL template are taken, then it is a trap; NULL: as the settings say.';
