-- Domains that remember: history of moves, cooldowns, rounds, scores, recurrence, windows, duties.

ALTER TABLE runs ADD COLUMN round integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN runs.round IS 'The highest round any of its domains was claimed in; whoever spent its turn, or is new, queues behind it.';

ALTER TABLE domains
    ADD COLUMN seed_rank integer CHECK (seed_rank > 0),
    ADD COLUMN blocked_returns smallint NOT NULL DEFAULT 0,
    ADD COLUMN error_streak_code text,
    ADD COLUMN images_found bigint NOT NULL DEFAULT 0,
    ADD COLUMN images_stored bigint NOT NULL DEFAULT 0,
    ADD COLUMN depth_reached smallint NOT NULL DEFAULT 0,
    ADD COLUMN error_rate double precision NOT NULL GENERATED ALWAYS AS (total_error_count / GREATEST(pages_crawled, 1)::float8) STORED,
    ADD COLUMN image_yield_rate double precision NOT NULL GENERATED ALWAYS AS (images_stored / GREATEST(pages_crawled, 1)::float8) STORED,
    ADD COLUMN avg_images_per_page double precision NOT NULL GENERATED ALWAYS AS (images_found / GREATEST(pages_crawled, 1)::float8) STORED,
    ADD CHECK (max_pages_per_run > 0),
    ADD COLUMN round integer NOT NULL DEFAULT 0,
    ADD COLUMN priority_computed_at timestamptz,
    ADD COLUMN due_at timestamptz,
    ADD COLUMN is_due boolean NOT NULL DEFAULT false,
    ADD COLUMN maintenance_start time,
    ADD COLUMN maintenance_end time,
    ADD COLUMN revisit_every_s double precision CHECK (revisit_every_s > 0),
    ADD COLUMN is_adaptive boolean NOT NULL DEFAULT false,
    ADD COLUMN revisits_per_day double precision CHECK (revisits_per_day > 0),
    ADD COLUMN revisit_price double precision,
    ADD COLUMN refresh_every_s double precision CHECK (refresh_every_s > 0),
    ADD CHECK ((maintenance_start IS NULL) = (maintenance_end IS NULL)),
    ADD CHECK (maintenance_start <> maintenance_end),
    ADD COLUMN pace_delay_s double precision CHECK (pace_delay_s >= 0),
    ADD COLUMN pace_extra_s double precision NOT NULL DEFAULT 0,
    ADD COLUMN response_s double precision CHECK (response_s >= 0),
    ADD COLUMN breaker_state text NOT NULL DEFAULT 'closed' CHECK (breaker_state IN ('closed', 'open', 'half_open')),
    ADD COLUMN breaker_failures integer NOT NULL DEFAULT 0,
    ADD COLUMN breaker_opened_at timestamptz,
    ADD COLUMN breaker_resets integer NOT NULL DEFAULT 0,
    ADD CHECK ((breaker_state = 'closed') = (breaker_opened_at IS NULL));
ALTER TABLE domains SET (autovacuum_vacuum_scale_factor = 0.05);
DROP INDEX domains_claimable;
CREATE INDEX domains_claimable ON domains (run_id, round, priority_score DESC, id)
    WHERE claimed_by IS NULL AND is_due AND status IN ('pending', 'active') AND is_active;
CREATE INDEX domains_asleep ON domains (run_id, due_at)
    WHERE claimed_by IS NULL AND NOT is_due AND status IN ('pending', 'active') AND is_active AND due_at IS NOT NULL;
CREATE INDEX domains_resting ON domains (next_crawl_after)
    WHERE status IN ('exhausted', 'blocked', 'unreachable') AND next_crawl_after IS NOT NULL;
CREATE INDEX domains_windows ON domains (maintenance_start) WHERE maintenance_start IS NOT NULL;
CREATE INDEX domains_held ON domains (run_id, claimed_by) WHERE claimed_by IS NOT NULL;
COMMENT ON COLUMN domains.next_crawl_after IS 'A cooldown: nothing is claimed before. Exhausted: when it is refreshed. Blocked without one: only an operator lifts it.';
COMMENT ON COLUMN domains.due_at IS 'ready_at, or later: when cooldown and maintenance window let it be claimed; NULL also when its run took all it may.';
COMMENT ON COLUMN domains.is_due IS 'due_at had come when the row was last written; the claim wakes those whose time came since.';
COMMENT ON COLUMN domains.round IS 'Claims take the lowest round first: a domain whose page budget is spent goes to the back.';
COMMENT ON COLUMN domains.blocked_returns IS 'How often it came back from a block and was not crawled to its end since.';
COMMENT ON COLUMN domains.error_streak_code IS 'What the errors in a row were; another kind starts a new row.';
COMMENT ON COLUMN domains.revisit_every_s IS 'Its pages are visited again that often; NULL: once.';
COMMENT ON COLUMN domains.revisit_price IS 'Of an adaptive domain: what a request must be worth, so that revisits_per_day is kept.';
COMMENT ON COLUMN domains.refresh_every_s IS 'When exhausted, all of it is visited again after so long; NULL: the setting.';
COMMENT ON COLUMN domains.pace_delay_s IS 'The delay between requests that was last in force.';
COMMENT ON COLUMN domains.pace_extra_s IS 'Of it, what was added because the server answered slowly.';
COMMENT ON COLUMN domains.response_s IS 'How long the server takes as a rule; what is much slower asks for more distance.';
COMMENT ON COLUMN domains.breaker_resets IS 'How often somebody closed the breaker by hand; who holds the domain hears of it by this.';
COMMENT ON COLUMN domains.breaker_failures IS 'Requests in a row that nobody usable answered; at five the breaker opens for a minute.';

CREATE TABLE robots_requests (
    domain_id    bigint      NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    origin       text        NOT NULL,
    requested_at timestamptz NOT NULL,
    pace_ms      integer     NOT NULL
);
CREATE INDEX robots_requests_history ON robots_requests (domain_id, requested_at);
COMMENT ON TABLE robots_requests IS 'Owner: domains. Every request for a robots.txt, so that politeness can be proved from the history.';

ALTER TABLE domains ADD COLUMN verifies_tls boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN domains.verifies_tls IS 'False: whoever answers is believed, whatever its certificate says; each worker logs it.';
ALTER TABLE origins ADD COLUMN sitemaps text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN origins.sitemaps IS 'What the Sitemap lines of its robots.txt name, as they are written there.';

CREATE TABLE domain_history (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain_id   bigint        NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    moved_at    timestamptz   NOT NULL DEFAULT now(),
    from_status domain_status NOT NULL,
    to_status   domain_status NOT NULL,
    is_active   boolean       NOT NULL,
    reason_code text,
    reason      text,
    moved_by    text          NOT NULL
);
CREATE INDEX domain_history_of ON domain_history (domain_id, id DESC);
COMMENT ON TABLE domain_history IS 'Owner: domains. Every move of every domain, written by a trigger, whoever moves it.';

ALTER TABLE pages
    ADD COLUMN revisit_every_s double precision CHECK (revisit_every_s > 0),
    ADD COLUMN comparisons integer NOT NULL DEFAULT 0,
    ADD COLUMN changes integer NOT NULL DEFAULT 0,
    ADD COLUMN watched_s double precision NOT NULL DEFAULT 0,
    ADD COLUMN changed_at timestamptz,
    ADD COLUMN crashes smallint NOT NULL DEFAULT 0,
    ADD COLUMN flags text[],
    ADD COLUMN simhash bigint,
    ADD COLUMN trap_id bigint;
COMMENT ON COLUMN pages.crashes IS 'How often a worker died while it read this page; after the first time it is read in a process of its own.';
COMMENT ON COLUMN pages.flags IS 'Oddities of the last good reading, such as truncated, charset_lie, nul, flattened; NULL: none.';
COMMENT ON COLUMN pages.simhash IS 'Of the last good reading; nearly the same for nearly the same text. NULL: too little text.';
COMMENT ON COLUMN pages.trap_id IS 'The trap it is left out by: then it is blocked, and was never visited. No foreign key: forager check looks.';
COMMENT ON COLUMN pages.revisit_every_s IS 'This page is visited again that often; NULL: as its domain is.';
COMMENT ON COLUMN pages.watched_s IS 'The seconds between visits that could be compared, summed up.';

ALTER TABLE crawl_tasks
    ADD COLUMN is_changed boolean,
    ADD COLUMN pace_ms integer,
    ADD COLUMN earlier_requests timestamptz[];
CREATE INDEX crawl_tasks_completed ON crawl_tasks USING brin (completed_at);
COMMENT ON COLUMN crawl_tasks.is_changed IS 'Whether the content differs from the visit before; NULL where there was none to compare with.';
COMMENT ON COLUMN crawl_tasks.pace_ms IS 'The distance between requests that was in force when it was made; 0: an unpaced host. NULL: no request.';
COMMENT ON COLUMN crawl_tasks.earlier_requests IS 'Quick tries of the same task before requested_at.';

CREATE TABLE domain_traps (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain_id   bigint      NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    rule        text        NOT NULL,
    template    text        NOT NULL,
    pages       integer     NOT NULL DEFAULT 0,
    links       bigint      NOT NULL DEFAULT 0,
    example     text        NOT NULL,
    noticed_at  timestamptz NOT NULL DEFAULT now(),
    found_at    timestamptz,
    released_at timestamptz,
    released_by text,
    UNIQUE (domain_id, rule, template),
    CHECK (released_at IS NULL OR found_at IS NOT NULL),
    CHECK ((released_at IS NULL) = (released_by IS NULL))
);
COMMENT ON TABLE domain_traps IS 'Owner: domains. Links that would never end, the rule that said so, and who let them through nevertheless.';
COMMENT ON COLUMN domain_traps.template IS 'Which URLs it is about; empty: all that have the look the rule is about.';
COMMENT ON COLUMN domain_traps.pages IS 'Pages that brought nothing new, less ten for each new one; or pages of a calendar.';
COMMENT ON COLUMN domain_traps.links IS 'About how many different links were left out, or cleaned, because of it.';
COMMENT ON COLUMN domain_traps.found_at IS 'NULL: only suspected so far.';

CREATE TABLE duties (
    name       text        PRIMARY KEY,
    every_s    double precision NOT NULL CHECK (every_s > 0),
    next_at    timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    ended_at   timestamptz,
    result     text,
    error      text,
    times      bigint      NOT NULL DEFAULT 0
);
COMMENT ON TABLE duties IS 'Owner: schedule. The timetable of periodic duties; whoever holds a row''s lock does the duty, so that it is done once.';

CREATE TABLE domain_days (
    domain_id bigint  NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    day       date    NOT NULL,
    visits    integer NOT NULL,
    ok        integer NOT NULL,
    changed   integer NOT NULL,
    errors    integer NOT NULL,
    bytes     bigint  NOT NULL,
    time_ms   bigint  NOT NULL,
    PRIMARY KEY (domain_id, day)
);
CREATE INDEX domain_days_by_day ON domain_days (day);
COMMENT ON TABLE domain_days IS 'Owner: stats. What was done in a domain on a day (UTC), rolled up from the closed tasks.';

CREATE FUNCTION window_end(at timestamptz, starts time, ends time) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT CASE WHEN CASE WHEN starts < ends THEN t >= starts AND t < ends ELSE t >= starts OR t < ends END
                THEN (day + ends + CASE WHEN ends <= t THEN interval '1 day' ELSE interval '0' END) AT TIME ZONE 'UTC' END
    FROM (SELECT (at AT TIME ZONE 'UTC')::time AS t, (at AT TIME ZONE 'UTC')::date AS day) clock
$$;
COMMENT ON FUNCTION window_end IS 'When the daily maintenance window (UTC) we are in ends; NULL outside of it.';

CREATE FUNCTION domain_gates(d domains, page_limit integer)
RETURNS TABLE (gate text, is_open boolean, opens_at timestamptz) LANGUAGE sql STABLE AS $$
    VALUES ('state', d.status IN ('pending', 'active'), CASE WHEN d.status NOT IN ('pending', 'active') THEN d.next_crawl_after END),
           ('cooldown', COALESCE(d.next_crawl_after <= now(), true), d.next_crawl_after),
           ('switch', d.is_active, NULL),
           ('window', window_end(now(), d.maintenance_start, d.maintenance_end) IS NULL,
                      window_end(now(), d.maintenance_start, d.maintenance_end)),
           ('budget', COALESCE(d.run_pages < LEAST(page_limit, d.max_pages_per_run), true), NULL),
           ('lease', d.claimed_by IS NULL, d.claim_expires_at),
           ('frontier', COALESCE(d.ready_at <= now(), false), d.ready_at)
$$;
COMMENT ON FUNCTION domain_gates IS 'Whether a domain may be claimed now, gate by gate. The claim asks it, and so does forager why.';

CREATE FUNCTION score_terms(d domains, at timestamptz)
RETURNS TABLE (seed_rank double precision, image_yield double precision, pages_left double precision,
               errors double precision, staleness double precision) LANGUAGE sql IMMUTABLE AS $$
    SELECT COALESCE(GREATEST(0, 1000 * (1 - log(d.seed_rank::float8) / 7)), 0),
           d.image_yield_rate * 1000,
           LEAST(d.frontier_size, 500) * 2.0::float8,
           -d.error_rate * 500,
           LEAST(90, GREATEST(0, EXTRACT(EPOCH FROM at - COALESCE(d.last_crawled_at, d.first_seen_at)) / 86400))::float8 * 5
$$;
COMMENT ON FUNCTION score_terms IS 'The terms of a domain''s priority; their sum is the score, higher is sooner.';

CREATE FUNCTION domain_score(d domains, at timestamptz) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT s.seed_rank + s.image_yield + s.pages_left + s.errors + s.staleness FROM score_terms(d, at) s
$$;

CREATE FUNCTION keep_domain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.updated_at := now();
        IF NEW.status IN ('pending', 'active') AND OLD.status IN ('exhausted', 'blocked', 'unreachable') THEN
            NEW.block_reason := NULL;
            NEW.block_reason_code := NULL;
            NEW.consecutive_error_count := 0;
            NEW.error_streak_code := NULL;
            IF NEW.next_crawl_after IS NOT DISTINCT FROM OLD.next_crawl_after THEN
                NEW.next_crawl_after := NULL;
            END IF;
        END IF;
    END IF;
    NEW.due_at := CASE WHEN NEW.ready_at IS NOT NULL THEN GREATEST(NEW.ready_at, NEW.next_crawl_after) END;
    IF NEW.run_pages > 0 AND NEW.run_pages >= LEAST(NEW.max_pages_per_run, (SELECT max_pages_per_domain FROM runs WHERE id = NEW.run_id)) THEN
        NEW.due_at := NULL;
    END IF;
    IF NEW.maintenance_start IS NOT NULL AND NEW.due_at IS NOT NULL THEN
        NEW.due_at := COALESCE(window_end(GREATEST(NEW.due_at, now()), NEW.maintenance_start, NEW.maintenance_end), NEW.due_at);
    END IF;
    NEW.is_due := COALESCE(NEW.due_at <= now(), false);
    RETURN NEW;
END $$;
CREATE TRIGGER domains_keep BEFORE INSERT OR UPDATE ON domains FOR EACH ROW EXECUTE FUNCTION keep_domain();

CREATE FUNCTION note_domain_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO domain_history (domain_id, from_status, to_status, is_active, reason_code, reason, moved_by)
    VALUES (NEW.id, OLD.status, NEW.status, NEW.is_active,
            COALESCE(NEW.block_reason_code, NULLIF(current_setting('forager.reason_code', true), '')),
            COALESCE(NEW.block_reason, NULLIF(current_setting('forager.reason', true), '')),
            COALESCE(NULLIF(current_setting('forager.by', true), ''), 'worker ' || COALESCE(NEW.claimed_by, OLD.claimed_by), 'system'));
    RETURN NULL;
END $$;
CREATE TRIGGER domains_moved AFTER UPDATE ON domains FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.is_active IS DISTINCT FROM NEW.is_active) EXECUTE FUNCTION note_domain_move();

-- Proxies: pools of domains, and their health.

ALTER TABLE domains
    ADD COLUMN proxy_country varchar(2) CHECK (proxy_country ~ '^[A-Z]{2}$'),
    ADD COLUMN paces_per_proxy boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN domains.proxy_country IS 'Of its pool only proxies of this country are used; NULL: all.';
COMMENT ON COLUMN domains.paces_per_proxy IS 'Each proxy of its pool keeps the delay; the domain as a whole the delay divided by the number of proxies.';

ALTER TABLE crawl_tasks ADD COLUMN proxy_id bigint;
COMMENT ON COLUMN crawl_tasks.proxy_id IS 'The proxy its last request went through; NULL: none. No foreign key: the history outlives proxies.';

CREATE TABLE proxies (
    id                    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    protocol              text             NOT NULL DEFAULT 'http' CHECK (protocol IN ('http', 'https', 'socks5')),
    host                  text             NOT NULL CHECK (length(host) BETWEEN 1 AND 260),
    port                  integer          NOT NULL CHECK (port BETWEEN 1 AND 65535),
    username              text,
    sealed_password       text,
    is_forwarding         boolean          NOT NULL DEFAULT false,
    country_code          varchar(2)       CHECK (country_code ~ '^[A-Z]{2}$'),
    city                  text,
    provider              text,
    monthly_cost          numeric(10, 2)   CHECK (monthly_cost >= 0),
    max_requests_per_hour integer          DEFAULT 1000 CHECK (max_requests_per_hour > 0),
    hour_began_at         timestamptz,
    hour_requests         integer          NOT NULL DEFAULT 0,
    -- health, over all domains; a moment in probe_at means: switched off by its failures, not by a person
    is_active             boolean          NOT NULL DEFAULT true,
    consecutive_failures  integer          NOT NULL DEFAULT 0,
    failures              bigint           NOT NULL DEFAULT 0,
    successes             bigint           NOT NULL DEFAULT 0,
    avg_response_time_ms  double precision,
    last_used_at          timestamptz,
    last_success_at       timestamptz,
    last_failure_at       timestamptz,
    last_error            text,
    probe_at              timestamptz,
    failed_probes         smallint         NOT NULL DEFAULT 0,
    created_at            timestamptz      NOT NULL DEFAULT now(),
    updated_at            timestamptz      NOT NULL DEFAULT now(),
    UNIQUE NULLS NOT DISTINCT (protocol, host, port, username),
    CHECK (sealed_password IS NULL OR username IS NOT NULL),
    CHECK (NOT (is_active AND probe_at IS NOT NULL))
) WITH (fillfactor = 50);
CREATE INDEX proxies_country ON proxies (country_code) WHERE country_code IS NOT NULL;
CREATE INDEX proxies_provider ON proxies (provider) WHERE provider IS NOT NULL;
CREATE INDEX proxies_probe ON proxies (probe_at) WHERE probe_at IS NOT NULL;
COMMENT ON TABLE proxies IS 'Owner: proxies. Ways out that an operator named, with their health.';
COMMENT ON COLUMN proxies.sealed_password IS 'Encrypted with the setting secret_key; nothing shows it in the clear.';
COMMENT ON COLUMN proxies.is_forwarding IS 'Plain http is handed to it as a whole, without a tunnel: it resolves the name itself.';
COMMENT ON COLUMN proxies.probe_at IS 'Switched off by its failures: from then on it may be tried again. NULL: works, or a person switched it off.';

CREATE TABLE domain_proxies (
    domain_id            bigint           NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    proxy_id             bigint           NOT NULL REFERENCES proxies (id) ON DELETE CASCADE,
    priority             smallint         NOT NULL DEFAULT 5 CHECK (priority BETWEEN 1 AND 10),
    is_active            boolean          NOT NULL DEFAULT true,
    consecutive_failures integer          NOT NULL DEFAULT 0,
    failures             bigint           NOT NULL DEFAULT 0,
    successes            bigint           NOT NULL DEFAULT 0,
    avg_response_time_ms double precision,
    last_used_at         timestamptz,
    last_success_at      timestamptz,
    last_failure_at      timestamptz,
    last_error           text,
    probe_at             timestamptz,
    failed_probes        smallint         NOT NULL DEFAULT 0,
    created_at           timestamptz      NOT NULL DEFAULT now(),
    updated_at           timestamptz      NOT NULL DEFAULT now(),
    PRIMARY KEY (domain_id, proxy_id),
    CHECK (NOT (is_active AND probe_at IS NOT NULL))
) WITH (fillfactor = 50);
CREATE INDEX domain_proxies_proxy ON domain_proxies (proxy_id);
CREATE INDEX domain_proxies_probe ON domain_proxies (probe_at) WHERE probe_at IS NOT NULL;
COMMENT ON TABLE domain_proxies IS 'Owner: proxies. Which proxies a domain is asked through, each with its health there. A domain without any is asked directly.';
COMMENT ON COLUMN domain_proxies.priority IS '1 is the first of those that were unused for equally long.';

UPDATE domains SET is_due = is_due;  -- the trigger works out when each is due
