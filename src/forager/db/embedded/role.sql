-- Creates the role that Forager connects as: it owns its database, and is no superuser. Run by a single-user
-- server; can be repeated.

-- Earlier versions named the bootstrap superuser `forager`. A session cannot rename its own user, so the catalog is
-- updated directly.
UPDATE pg_authid SET rolname = 'postgres' WHERE oid = 10 AND rolname = 'forager';

DO $$ BEGIN CREATE ROLE forager LOGIN CREATEDB; EXCEPTION WHEN duplicate_object THEN NULL; END $$;

GRANT pg_monitor, pg_signal_backend, pg_checkpoint, pg_maintain TO forager;

