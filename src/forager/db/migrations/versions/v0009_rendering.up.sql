ALTER TABLE domains ADD COLUMN rendering text CHECK (rendering IN ('never', 'auto', 'always'));
COMMENT ON COLUMN domains.rendering IS 'Whether a browser draws its pages before they are read; NULL: the setting.';
COMMENT ON COLUMN pages.flags IS 'Oddities of the last good reading, such as truncated, charset_lie, nul, flattened, rendered, render_failed; NULL: none.';
