-- What text-search configurations make of words. Owner of no table.

-- name: lex
-- The vectors of texts, each in its configuration. Many words in one text cost a fifth of what as many texts do.
SELECT to_tsvector(t.config::regconfig, t.words)::text
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (config, words, nr) ORDER BY t.nr;
