CREATE SEQUENCE search_versions;
COMMENT ON SEQUENCE search_versions IS 'Numbers what is sent to the search server: of two versions of a document the server keeps the higher one.';

CREATE TABLE search_outbox (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind   text   NOT NULL CHECK (kind IN ('page', 'product')),
    id     bigint NOT NULL
);
COMMENT ON TABLE search_outbox IS 'Owner: search, by triggers. What the search server has to hear of: written with the change itself, deleted when the server has it. Empty where PostgreSQL does the searching.';

CREATE TABLE search_refused (
    kind       text        NOT NULL CHECK (kind IN ('page', 'product')),
    id         bigint      NOT NULL,
    reason     text        NOT NULL,
    refused_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (kind, id)
);
COMMENT ON TABLE search_refused IS 'Owner: search. Documents the search server would not take, and why. Tried again when they change, or when the index is made anew.';

CREATE TABLE search_builds (
    name           text        PRIMARY KEY CHECK (name ~ '^[0-9a-z-]{1,40}$'),
    owner          uuid        NOT NULL,
    state          text        NOT NULL DEFAULT 'building' CHECK (state IN ('building', 'live', 'leaving')),
    is_made        boolean     NOT NULL DEFAULT false,
    pages_until    bigint      NOT NULL DEFAULT 0,
    products_until bigint      NOT NULL DEFAULT 0,
    is_filled      boolean     NOT NULL DEFAULT false,
    began_at       timestamptz NOT NULL DEFAULT now(),
    live_at        timestamptz
);
CREATE UNIQUE INDEX search_builds_building ON search_builds (state) WHERE state = 'building';
CREATE UNIQUE INDEX search_builds_live ON search_builds (state) WHERE state = 'live';
COMMENT ON TABLE search_builds IS 'Owner: search. Indexes on the search server, each a pair for pages and products: one that is searched, one that is being made to take its place, and those that are to be deleted.';
COMMENT ON COLUMN search_builds.owner IS 'Which Forager it belongs to; its indexes say so too, for who gives two of them one prefix.';
COMMENT ON COLUMN search_builds.is_made IS 'Whether its empty indexes were made on the server.';
COMMENT ON COLUMN search_builds.pages_until IS 'Up to which page it was filled; what changes meanwhile comes by the outbox.';

CREATE FUNCTION note_for_search_server() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_ARGV[0] = 'page' THEN
        INSERT INTO search_outbox (kind, id) VALUES ('page', COALESCE(NEW.page_id, OLD.page_id));
    ELSIF TG_ARGV[0] = 'product' THEN
        INSERT INTO search_outbox (kind, id) VALUES ('product', COALESCE(NEW.product_id, OLD.product_id));
    ELSE
        INSERT INTO search_outbox (kind, id) VALUES ('page', NEW.id);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER indexed_pages_outbox AFTER INSERT OR UPDATE OR DELETE ON indexed_pages FOR EACH ROW EXECUTE FUNCTION note_for_search_server('page');
CREATE TRIGGER indexed_products_outbox AFTER INSERT OR UPDATE OR DELETE ON indexed_products FOR EACH ROW EXECUTE FUNCTION note_for_search_server('product');
CREATE TRIGGER pages_outbox AFTER UPDATE OF status ON pages FOR EACH ROW
    WHEN ((OLD.status IN ('gone', 'blocked')) <> (NEW.status IN ('gone', 'blocked'))) EXECUTE FUNCTION note_for_search_server('hidden');

CREATE FUNCTION follow_for_search_server(is_on boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF is_on THEN
        ALTER TABLE indexed_pages ENABLE TRIGGER indexed_pages_outbox;
        ALTER TABLE indexed_products ENABLE TRIGGER indexed_products_outbox;
        ALTER TABLE pages ENABLE TRIGGER pages_outbox;
    ELSE
        ALTER TABLE indexed_pages DISABLE TRIGGER indexed_pages_outbox;
        ALTER TABLE indexed_products DISABLE TRIGGER indexed_products_outbox;
        ALTER TABLE pages DISABLE TRIGGER pages_outbox;
    END IF;
END $$;
COMMENT ON FUNCTION follow_for_search_server IS 'Whether changes are noted in search_outbox. Who has no search server pays nothing for it: these triggers are switched off.';
SELECT follow_for_search_server(false);
