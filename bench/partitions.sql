-- The three largest tables in hash partitions by domain: a layout to measure, which Forager does not have (decision 0034).

-- name: add_links
-- Every fifth page that was read gets twenty links to pages all over the database, so that there is something to divide.
INSERT INTO page_link_lists (from_page_id, domain_id, to_page_ids, anchors)
SELECT p.id, p.domain_id, ARRAY(SELECT 1 + (p.id * 7919 + n * 104729) % $1::bigint FROM generate_series(1, 20) AS n),
       array_to_string(array_fill('a link to this page'::text, ARRAY[20]), E'\x1f')
FROM pages p WHERE p.status = 'fetched' AND p.id % 5 = 0;

-- name: make_divide
-- A function for this session: puts a table into so many partitions. A key has to hold domain_id then, so uniqueness of an id is no longer
-- the database's to keep; an index of its own finds rows by it. Views and functions over the table go: nothing here asks them.
CREATE FUNCTION pg_temp.divide(name text, key text, parts integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    options text := (SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = name::regclass);
    indexes text[] := ARRAY(SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = name::regclass AND NOT indisprimary);
    triggers text[] := ARRAY(SELECT pg_get_triggerdef(oid) FROM pg_trigger
                             WHERE tgrelid = name::regclass AND NOT tgisinternal AND tgenabled = 'O');
    made text;
    first_free bigint;
BEGIN
    EXECUTE format('ALTER TABLE %I RENAME TO whole', name);
    EXECUTE format('CREATE TABLE %I (LIKE whole INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY HASH (domain_id)', name);
    FOR part IN 0 .. parts - 1 LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s) %s',
                       name || '_' || part, name, parts, part, 'WITH (' || options || ')');
    END LOOP;
    EXECUTE format('INSERT INTO %I SELECT * FROM whole', name);
    EXECUTE format('SELECT max(%I) + 1 FROM whole', key) INTO first_free;
    DROP TABLE whole CASCADE;
    IF key = 'id' THEN
        EXECUTE format('ALTER TABLE %I ALTER id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME %I START %s)', name, name || '_id_seq', first_free);
    END IF;
    EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (domain_id, %I)', name, key);
    EXECUTE format('CREATE INDEX ON %I (%I)', name, key);
    FOREACH made IN ARRAY indexes || triggers LOOP
        EXECUTE made;
    END LOOP;
END $$;

-- name: divide
-- The tables, so many partitions each, with what the line relies on; foreign keys hold the domain too.
SELECT pg_temp.divide('pages', 'id', $1), pg_temp.divide('crawl_tasks', 'id', $1), pg_temp.divide('page_link_lists', 'from_page_id', $1);

-- name: bind
-- Foreign keys, which went with the whole tables.
ALTER TABLE pages ADD FOREIGN KEY (domain_id) REFERENCES domains (id);
ALTER TABLE crawl_tasks ADD FOREIGN KEY (domain_id, page_id) REFERENCES pages (domain_id, id) ON DELETE CASCADE;
ALTER TABLE products ADD FOREIGN KEY (domain_id, page_id) REFERENCES pages (domain_id, id) ON DELETE CASCADE;
ALTER TABLE indexed_pages ADD FOREIGN KEY (domain_id, page_id) REFERENCES pages (domain_id, id) ON DELETE CASCADE;

-- name: find_task
-- One visit by its number alone.
SELECT * FROM crawl_tasks WHERE id = $1;

-- name: oldest_visits
-- So many closed tasks, the oldest.
SELECT id FROM crawl_tasks WHERE outcome IS NOT NULL ORDER BY id LIMIT $1;

-- name: change_pages
-- One page of twenty, in a column that is indexed, so that vacuum has work in every index.
UPDATE pages SET priority = 4 WHERE id % 20 = 3;

-- name: read_size
-- The tables and their indexes, in bytes.
SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c
WHERE c.relkind = 'r' AND c.relname ~ '^(pages|crawl_tasks|page_link_lists)(_\d+)?$';
