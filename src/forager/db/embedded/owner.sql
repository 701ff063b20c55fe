-- Transfers the database of an earlier version, with all its objects, from the bootstrap superuser to the role
-- `forager`. Run by a single-user server; can be repeated. Sequences of columns follow their tables.

ALTER DATABASE forager OWNER TO forager;

DO $$
DECLARE statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER %s %s OWNER TO forager',
                      CASE c.relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END,
                      c.oid::regclass)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relowner = 10 AND c.relkind IN ('r', 'p', 'v', 'm', 'S') AND n.nspname !~ '^pg_|^information_schema$'
          AND NOT (c.relkind = 'S' AND EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('a', 'i')))
        UNION ALL
        SELECT format('ALTER ROUTINE %s OWNER TO forager', p.oid::regprocedure)
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE p.proowner = 10 AND n.nspname !~ '^pg_|^information_schema$'
        UNION ALL
        SELECT format('ALTER %s %s OWNER TO forager', CASE t.typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END, t.oid::regtype)
        FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE t.typowner = 10 AND t.typtype IN ('e', 'd', 'r') AND n.nspname !~ '^pg_|^information_schema$'
        UNION ALL
        SELECT format('ALTER SCHEMA %I OWNER TO forager', n.nspname)
        FROM pg_namespace n WHERE n.nspowner = 10 AND n.nspname !~ '^pg_|^information_schema$'
    LOOP
        EXECUTE statement;
    END LOOP;
END
$$;

