ALTER TABLE domains DROP COLUMN unreachable_cooldowns;
