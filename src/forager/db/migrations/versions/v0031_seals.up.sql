-- forager check --deep finds rows of the history that were altered or deleted: a job writes digests of them down, apart from the crawl.
ALTER TABLE robots_requests ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
ALTER TABLE indexed_pages ADD COLUMN signals numeric;
COMMENT ON COLUMN indexed_pages.signals IS 'The digest of title, description, language and content hash as they were read; NULL: indexed before there was one.';

CREATE TABLE seals (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    what        text        NOT NULL CHECK (what IN ('crawl_tasks', 'product_prices', 'domain_history', 'robots_requests', 'audit_log')),
    after       bigint      NOT NULL,
    until       bigint      NOT NULL,
    row_count   bigint      NOT NULL,
    digest      numeric     NOT NULL,
    chain       bytea       NOT NULL CHECK (octet_length(chain) = 32),
    left_rows   bigint      NOT NULL DEFAULT 0,
    left_digest numeric     NOT NULL DEFAULT 0,
    sealed_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (what, until),
    CHECK (after < until),
    CHECK (left_rows BETWEEN 0 AND row_count)
);
COMMENT ON TABLE seals IS 'Owner: stats. Digests of rows that never change, one per table and stretch of them: forager check --deep computes them again.';
COMMENT ON COLUMN seals.until IS 'The last position of the stretch, which begins behind the one before: of tasks the microseconds of completed_at, else the id.';
COMMENT ON COLUMN seals.digest IS 'The sum of the digests of its rows, so that their order does not matter and rows can leave.';
COMMENT ON COLUMN seals.chain IS 'SHA-256 over the chain of the seal before and what this one was when it was made.';
COMMENT ON COLUMN seals.left_rows IS 'How many of its rows left in an audited way: into an archive, by a purge or by retention; left_digest is the sum of their digests.';

CREATE TABLE seal_marks (
    what     text        PRIMARY KEY,
    position bigint      NOT NULL,
    seen_at  timestamptz NOT NULL
);
COMMENT ON TABLE seal_marks IS 'Owner: stats. How far each table reached at a moment: up to there it is sealed once every transaction that began before has ended.';

CREATE FUNCTION row_digest(line text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT ('x' || encode(substring(sha256(convert_to(line, 'UTF8')) FROM 1 FOR 8), 'hex'))::bit(64)::bigint::numeric
$$;
COMMENT ON FUNCTION row_digest IS 'The first 64 bits of the SHA-256 of a row as text.';

CREATE FUNCTION sealed_position(t crawl_tasks) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT (EXTRACT(EPOCH FROM t.completed_at) * 1000000)::bigint $$;
CREATE FUNCTION sealed_position(p product_prices) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT p.id $$;
CREATE FUNCTION sealed_position(h domain_history) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT h.id $$;
CREATE FUNCTION sealed_position(r robots_requests) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT r.id $$;
CREATE FUNCTION sealed_position(a audit_log) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT a.id $$;

-- Moments as seconds: their text must not depend on a session's time zone. Domains are left out: two of them may be merged.
CREATE FUNCTION sealed_line(t crawl_tasks) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT ROW(t.id, t.page_id, t.run_id, t.status, t.retry_count, t.parent_task_id, t.created_by, EXTRACT(EPOCH FROM t.requested_at),
               EXTRACT(EPOCH FROM t.completed_at), t.outcome, t.status_code, t.error_code, t.error_message, t.blame, t.response_time_ms, t.bytes,
               t.is_changed, t.pace_ms, (SELECT array_agg(EXTRACT(EPOCH FROM e)) FROM unnest(t.earlier_requests) AS e), t.proxy_id, t.body_ref)::text
$$;
CREATE FUNCTION sealed_line(p product_prices) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT ROW(p.id, p.product_id, p.task_id, EXTRACT(EPOCH FROM p.seen_at), p.price, p.currency, p.availability, p.is_first, p.is_correction,
               p.old_price, p.old_currency, p.old_availability)::text
$$;
CREATE FUNCTION sealed_line(h domain_history) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT ROW(h.id, EXTRACT(EPOCH FROM h.moved_at), h.from_status, h.to_status, h.is_active, h.reason_code, h.reason, h.moved_by)::text
$$;
CREATE FUNCTION sealed_line(r robots_requests) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT ROW(r.id, r.origin, EXTRACT(EPOCH FROM r.requested_at), r.pace_ms)::text
$$;
CREATE FUNCTION sealed_line(a audit_log) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT ROW(a.id, EXTRACT(EPOCH FROM a.at), a.who, a.via, a.ip, a.action, a.object_kind, a.object_id, a.outcome, a.details)::text
$$;

CREATE FUNCTION count_sealed(what text, bounds bigint[]) RETURNS TABLE (stretch integer, row_count bigint, digest numeric) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT width_bucket(sealed_position(t) - 1, $1), count(*), sum(row_digest(sealed_line(t)))
         FROM %I t WHERE sealed_position(t) > $1[1] AND sealed_position(t) <= $1[cardinality($1)] AND %s GROUP BY 1',
        what, CASE what WHEN 'crawl_tasks' THEN 't.outcome IS NOT NULL AND t.completed_at > ''epoch''::timestamptz + ($1[1] - 1) * interval ''1 microsecond''
                                             AND t.completed_at < ''epoch''::timestamptz + ($1[cardinality($1)] + 1) * interval ''1 microsecond'''
                        ELSE 't.id > $1[1] AND t.id <= $1[cardinality($1)]' END) USING bounds;
END $$;
COMMENT ON FUNCTION count_sealed IS 'Rows and their digest in each stretch between two bounds; stretch 1 lies behind the first bound, up to and with the second.';

CREATE FUNCTION note_unsealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('forager.purge', true) IS DISTINCT FROM 'on' AND NULLIF(current_setting('forager.slice', true), '') IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format(
        'UPDATE seals s SET left_rows = s.left_rows + g.row_count, left_digest = s.left_digest + g.digest
         FROM (SELECT n.id, count(*) AS row_count, sum(row_digest(sealed_line(gone::%1$I))) AS digest
               FROM gone CROSS JOIN LATERAL (SELECT sealed_position(gone::%1$I) AS at) p
               CROSS JOIN LATERAL (SELECT e.id, e.after FROM seals e WHERE e.what = %1$L AND e.until >= p.at ORDER BY e.until LIMIT 1) n
               WHERE n.after < p.at GROUP BY n.id) g
         WHERE s.id = g.id', TG_TABLE_NAME);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION note_unsealed IS 'Sealed rows that an archive, a purge or retention takes leave their seals; whatever else deletes them does not, and is found.';
CREATE TRIGGER crawl_tasks_unsealed AFTER DELETE ON crawl_tasks REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_unsealed();
CREATE TRIGGER product_prices_unsealed AFTER DELETE ON product_prices REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_unsealed();
CREATE TRIGGER domain_history_unsealed AFTER DELETE ON domain_history REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_unsealed();
CREATE TRIGGER robots_requests_unsealed AFTER DELETE ON robots_requests REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_unsealed();

CREATE FUNCTION note_resealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE seals s SET left_digest = s.left_digest + row_digest(sealed_line(OLD)) - row_digest(sealed_line(NEW))
    WHERE s.id = (SELECT e.id FROM seals e WHERE e.what = 'crawl_tasks' AND e.until >= sealed_position(OLD) ORDER BY e.until LIMIT 1)
      AND s.after < sealed_position(OLD);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION note_resealed IS 'A closed task that goes to another page, when two domains are merged, is sealed as it is then.';
CREATE TRIGGER crawl_tasks_resealed AFTER UPDATE OF page_id ON crawl_tasks FOR EACH ROW
    WHEN (OLD.outcome IS NOT NULL AND OLD.page_id <> NEW.page_id) EXECUTE FUNCTION note_resealed();
