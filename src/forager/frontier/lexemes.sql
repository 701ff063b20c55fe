-- Queries the lexemes that text-search configurations produce for words. Owner of no table.

-- name: lex
-- Returns the vectors of texts, each in its configuration. Many words in one text cost a fifth of the same number of
-- texts.
SELECT to_tsvector(t.config::regconfig, t.words)::text
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (config, words, nr) ORDER BY t.nr;
