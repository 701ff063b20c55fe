DROP FUNCTION follow_for_search_server;
DROP TRIGGER pages_outbox ON pages;
DROP TRIGGER indexed_products_outbox ON indexed_products;
DROP TRIGGER indexed_pages_outbox ON indexed_pages;
DROP FUNCTION note_for_search_server();
DROP TABLE search_builds;
DROP TABLE search_refused;
DROP TABLE search_outbox;
DROP SEQUENCE search_versions;
