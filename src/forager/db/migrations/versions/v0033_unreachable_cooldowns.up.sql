ALTER TABLE domains ADD COLUMN unreachable_cooldowns smallint NOT NULL DEFAULT 0;
COMMENT ON COLUMN domains.unreachable_cooldowns IS 'How many cooldowns in a row it had because nobody answered; each is longer than the one before. A page that came ends the row.';
