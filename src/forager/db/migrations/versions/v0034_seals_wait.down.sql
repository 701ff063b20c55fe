CREATE OR REPLACE FUNCTION note_unsealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('forager.purge', true) IS DISTINCT FROM 'on' AND NULLIF(current_setting('forager.slice', true), '') IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format(
        'UPDATE seals s SET left_rows = s.left_rows + g.row_count, left_digest = s.left_digest + g.digest
         FROM (SELECT n.id, count(*) AS row_count, sum(row_digest(sealed_line(gone::%1$I))) AS digest
               FROM gone CROSS JOIN LATERAL (SELECT sealed_position(gone::%1$I) AS at) p
               CROSS JOIN LATERAL (SELECT e.id, e.after FROM seals e WHERE e.what = %1$L AND e.until >= p.at ORDER BY e.until LIMIT 1) n
               WHERE n.after < p.at GROUP BY n.id) g
         WHERE s.id = g.id', TG_TABLE_NAME);
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION note_resealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE seals s SET left_digest = s.left_digest + row_digest(sealed_line(OLD)) - row_digest(sealed_line(NEW))
    WHERE s.id = (SELECT e.id FROM seals e WHERE e.what = 'crawl_tasks' AND e.until >= sealed_position(OLD) ORDER BY e.until LIMIT 1)
      AND s.after < sealed_position(OLD);
    RETURN NULL;
END $$;
