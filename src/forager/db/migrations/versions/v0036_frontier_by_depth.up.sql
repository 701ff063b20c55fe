-- A crawl that is limited in depth knows many pages that it does not visit: each claim read all of them.
DROP INDEX pages_frontier;
CREATE INDEX pages_frontier ON pages (domain_id, priority, id, depth) WHERE status = 'discovered';
ALTER TABLE pages DROP CONSTRAINT pages_domain_id_fkey;
CREATE FUNCTION keep_domain_of_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pages WHERE domain_id = OLD.id) THEN
        RAISE EXCEPTION 'domain % still has pages', OLD.id USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION keep_domain_of_pages IS 'One half of a foreign key; the other is the lock of add_pages, once for each domain. A look-up for each new page was a quarter of its price.';
CREATE TRIGGER domains_of_pages_stay AFTER DELETE ON domains FOR EACH ROW EXECUTE FUNCTION keep_domain_of_pages();
