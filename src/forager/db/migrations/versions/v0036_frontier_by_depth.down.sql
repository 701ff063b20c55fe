DROP TRIGGER domains_of_pages_stay ON domains;
DROP FUNCTION keep_domain_of_pages();
ALTER TABLE pages ADD CONSTRAINT pages_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domains (id);
DROP INDEX pages_frontier;
CREATE INDEX pages_frontier ON pages (domain_id, priority, id) WHERE status = 'discovered';
