ALTER TABLE domains DROP COLUMN rendering;
COMMENT ON COLUMN pages.flags IS 'Oddities of the last good reading, such as truncated, charset_lie, nul, flattened; NULL: none.';
