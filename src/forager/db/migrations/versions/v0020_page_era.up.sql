CREATE TABLE page_era (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    era     uuid    NOT NULL
);
COMMENT ON TABLE page_era IS 'Owner: frontier. At most one row, another one each time pages were deleted: what was remembered of pages outside the database is void then.';

CREATE FUNCTION end_page_era() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO page_era (era) VALUES (gen_random_uuid()) ON CONFLICT (is_only) DO UPDATE SET era = EXCLUDED.era;
    RETURN NULL;
END $$;
CREATE TRIGGER pages_gone AFTER DELETE OR TRUNCATE ON pages FOR EACH STATEMENT EXECUTE FUNCTION end_page_era();
