ALTER TABLE domains DROP COLUMN links_since;
ALTER TABLE domains DROP COLUMN stores_links;

ALTER VIEW page_links RENAME TO page_links_after;

CREATE TABLE page_links (
    domain_id    bigint   NOT NULL,
    from_page_id bigint   NOT NULL,
    to_page_id   bigint   NOT NULL,
    position     smallint NOT NULL,
    rel          text     NOT NULL,
    anchor       text     NOT NULL
);
CREATE INDEX page_links_from ON page_links (from_page_id);
COMMENT ON TABLE page_links IS 'Owner: frontier. Who links to whom. No foreign keys: sixty checks a page cost more than all else; forager check looks instead.';

INSERT INTO page_links SELECT domain_id, from_page_id, to_page_id, position, rel, anchor FROM page_links_after;
DROP VIEW page_links_after;
DROP TABLE page_link_lists;
