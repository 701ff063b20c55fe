-- What text-search configurations make of words. Owner of no table.

-- name: lex
-- The lexemes of each word with their positions, by the word's number, as it is read behind a space; the mark behind it shows how many
-- positions it takes.
SELECT w.nr::int AS nr, l.lexeme, l.positions
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w (config, word, nr)
CROSS JOIN LATERAL unnest(to_tsvector(w.config::regconfig, ' ' || w.word || ' ' || $3::text)) AS l;
