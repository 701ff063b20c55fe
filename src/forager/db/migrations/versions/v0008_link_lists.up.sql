ALTER TABLE page_links RENAME TO page_links_before;

CREATE TABLE page_link_lists (
    from_page_id bigint   PRIMARY KEY,
    domain_id    bigint   NOT NULL,
    to_page_ids  bigint[] NOT NULL CHECK (cardinality(to_page_ids) > 0),
    rels         text,
    anchors      text     NOT NULL
);
CREATE INDEX page_link_lists_to ON page_link_lists USING gin (to_page_ids);
COMMENT ON TABLE page_link_lists IS 'Owner: frontier. Who links to whom: one row for all links of a page, in its order. No foreign keys; forager check looks instead.';
COMMENT ON COLUMN page_link_lists.rels IS 'The kind of each link, with commas between; NULL: all are a.';
COMMENT ON COLUMN page_link_lists.anchors IS 'The words of each link, with U+001F between, which no anchor contains.';

CREATE VIEW page_links AS
SELECT l.domain_id, l.from_page_id, e.to_page_id, (e.position - 1)::integer AS position, COALESCE(e.rel, 'a') AS rel,
       COALESCE(e.anchor, '') AS anchor
FROM page_link_lists l
CROSS JOIN LATERAL ROWS FROM (
    unnest(l.to_page_ids), unnest(string_to_array(l.rels, ',')), unnest(string_to_array(l.anchors, E'\x1f')))
    WITH ORDINALITY AS e (to_page_id, rel, anchor, position);
COMMENT ON VIEW page_links IS 'Who links to whom, a row for each link: to read; frontier writes page_link_lists.';

INSERT INTO page_link_lists (from_page_id, domain_id, to_page_ids, rels, anchors)
SELECT from_page_id, min(domain_id), array_agg(to_page_id ORDER BY position),
       CASE WHEN bool_or(rel <> 'a') THEN string_agg(rel, ',' ORDER BY position) END, string_agg(anchor, E'\x1f' ORDER BY position)
FROM page_links_before GROUP BY from_page_id;
DROP TABLE page_links_before;

ALTER TABLE domains ADD COLUMN stores_links boolean NOT NULL DEFAULT true;
ALTER TABLE domains ADD COLUMN links_since timestamptz;
COMMENT ON COLUMN domains.stores_links IS 'False: links of its pages are learned and counted, and not kept in page_link_lists.';
COMMENT ON COLUMN domains.links_since IS 'When storing links was last switched on again: pages read before may have none. NULL: it never was off.';
