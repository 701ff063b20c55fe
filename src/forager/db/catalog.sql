-- Describes the parts of a schema, with the statement that creates each. Run on the live schema and on a fresh one
-- beside it.

-- name: live_schema
-- Returns the name of the schema of Forager's tables, quoted for search_path.
SELECT quote_ident(current_schema());

-- name: make_reference
-- Creates a schema beside the live one, for the duration of the transaction.
CREATE SCHEMA forager_reference;

-- name: look_into
-- Resolves names without a schema there, until the transaction ends.
SELECT set_config('search_path', $1, true);

-- name: describe
-- Returns columns, indexes, constraints, triggers and functions of the current schema: kind, name, definition, whether
-- the part is enabled and valid, and the statements that create and enable it. Constraints come after the index of the
-- same name, which they create.
WITH parts AS (
    SELECT 'column' AS kind, c.relname || '.' || a.attname AS name,
           concat_ws(' ', format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'NOT NULL' END,
                     pg_get_expr(d.adbin, d.adrelid), a.attgenerated, a.attidentity) AS definition, true AS works, NULL AS make, NULL AS undo, NULL AS revive
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind IN ('r', 'p', 'v') AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT 'index', c.relname, pg_get_indexdef(i.indexrelid), i.indisvalid AND i.indisready,
           CASE WHEN k.oid IS NULL THEN pg_get_indexdef(i.indexrelid) ELSE format('ALTER TABLE %I ADD CONSTRAINT %I %s', t.relname, k.conname, pg_get_constraintdef(k.oid)) END,
           CASE WHEN k.oid IS NULL THEN format('DROP INDEX IF EXISTS %I', c.relname) ELSE format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS %I CASCADE', t.relname, k.conname) END,
           format('REINDEX INDEX %I', c.relname)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
    LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x')
    WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND t.relkind IN ('r', 'p')
    UNION ALL
    SELECT 'constraint', k.conrelid::regclass::text || '.' || k.conname, pg_get_constraintdef(k.oid), k.convalidated,
           format('ALTER TABLE %s ADD CONSTRAINT %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid)),
           format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', k.conrelid::regclass, k.conname),
           format('ALTER TABLE %s VALIDATE CONSTRAINT %I', k.conrelid::regclass, k.conname)
    FROM pg_constraint k WHERE k.connamespace = quote_ident(current_schema())::regnamespace AND k.contype IN ('c', 'f')
    UNION ALL
    SELECT 'function', f.oid::regprocedure::text, pg_get_functiondef(f.oid), true, pg_get_functiondef(f.oid), NULL, NULL
    FROM pg_proc f WHERE f.pronamespace = quote_ident(current_schema())::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = f.oid AND d.deptype = 'e')
    UNION ALL
    SELECT 'trigger', t.relname || '.' || g.tgname, pg_get_triggerdef(g.oid), g.tgenabled IN ('O', 'A') OR g.tgname IN ('indexed_pages_outbox', 'indexed_products_outbox', 'pages_outbox'),
           pg_get_triggerdef(g.oid), format('DROP TRIGGER IF EXISTS %I ON %I', g.tgname, t.relname), format('ALTER TABLE %I ENABLE TRIGGER %I', t.relname, g.tgname)
    FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid WHERE t.relnamespace = quote_ident(current_schema())::regnamespace AND NOT g.tgisinternal
)
SELECT p.kind, p.name, replace(replace(p.definition, quote_ident(current_schema()) || '.', ''), '"', '') AS definition, p.works,
       replace(p.make, quote_ident(current_schema()) || '.', '') AS make, p.undo, p.revive
FROM parts p;
