-- The whole schema, to read and to create a fresh database from. Migrations lead to the same: a test compares them.
-- Every table has one owner folder that writes it, named in its comment.

CREATE TYPE domain_status AS ENUM ('pending', 'active', 'exhausted', 'blocked', 'unreachable');
CREATE TYPE page_status AS ENUM ('discovered', 'queued', 'fetched', 'failed', 'blocked', 'gone');
CREATE TYPE task_status AS ENUM ('pending', 'crawling', 'completed', 'failed', 'paused', 'cancelled');
CREATE TYPE task_outcome AS ENUM ('success', 'failed', 'timeout', 'blocked_robots', 'blocked_4xx', 'blocked_5xx', 'cancelled');
CREATE TYPE run_status AS ENUM ('running', 'finished', 'stopped', 'failed');
CREATE TYPE worker_status AS ENUM ('running', 'stopped', 'dead');

-- Runs and workers ---------------------------------------------------------------------------------------------------

CREATE TABLE runs (
    id                   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    status               run_status  NOT NULL DEFAULT 'running',
    spec                 jsonb       NOT NULL,
    max_pages            bigint,
    max_pages_per_domain integer,
    max_depth            integer     NOT NULL,
    pages_claimed        bigint      NOT NULL DEFAULT 0,
    round                integer     NOT NULL DEFAULT 0,
    links_seen           bigint      NOT NULL DEFAULT 0,
    pages_learned        bigint      NOT NULL DEFAULT 0,
    created_by           text        NOT NULL DEFAULT 'system',
    started_at           timestamptz NOT NULL DEFAULT now(),
    ended_at             timestamptz,
    keeper               text        NOT NULL DEFAULT 'process' CHECK (keeper IN ('process', 'foreman', 'standing')),
    kept_by              text,
    kept_at              timestamptz,
    stop_asked_at        timestamptz
);
CREATE UNIQUE INDEX runs_standing ON runs (keeper) WHERE keeper = 'standing';
CREATE INDEX runs_ordered ON runs (id) WHERE keeper = 'foreman' AND status = 'running';
COMMENT ON COLUMN runs.keeper IS 'Who starts its workers: the process that ordered it, a foreman (forager up), or every foreman for the one that never ends.';
COMMENT ON COLUMN runs.kept_by IS 'The foreman that looks after it, as of kept_at; a silent one is replaced.';
COMMENT ON TABLE runs IS 'Owner: stats. One forager crawl invocation, or one worker''s life; budgets and statistics hang on it.';
COMMENT ON COLUMN runs.round IS 'The highest round any of its domains was claimed in; whoever spent its turn, or is new, queues behind it.';

CREATE TABLE run_outcomes (
    run_id  bigint       NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    outcome task_outcome NOT NULL,
    reason  text         NOT NULL,
    pages   bigint       NOT NULL,
    bytes   bigint       NOT NULL,
    time_ms bigint       NOT NULL,
    PRIMARY KEY (run_id, outcome, reason)
);
COMMENT ON TABLE run_outcomes IS 'Owner: stats. How a run''s visits ended: outcome and status code or error code, counted in the transaction that closes the tasks.';

CREATE TABLE run_drops (
    run_id bigint NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    reason text   NOT NULL,
    links  bigint NOT NULL,
    PRIMARY KEY (run_id, reason)
);
COMMENT ON TABLE run_drops IS 'Owner: stats. Links a run saw and left out, by reason.';

CREATE TABLE workers (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id       bigint        REFERENCES runs (id) ON DELETE SET NULL,
    status       worker_status NOT NULL DEFAULT 'running',
    host         text          NOT NULL,
    pid          integer       NOT NULL,
    pid_started  bigint        NOT NULL,
    started_at   timestamptz   NOT NULL DEFAULT now(),
    heartbeat_at timestamptz   NOT NULL DEFAULT now(),
    ended_at     timestamptz,
    labels       text[]        NOT NULL DEFAULT '{}',
    drain_asked_at timestamptz,
    pause_reason text,
    pause_detail text,
    paused_since timestamptz
);
CREATE INDEX workers_running ON workers (heartbeat_at) WHERE status = 'running';
COMMENT ON TABLE workers IS 'Owner: stats. Worker processes and their heartbeats. host names a machine and its boot, so that a pid can be trusted.';
COMMENT ON COLUMN workers.labels IS 'What it offers; a domain that wants a label is claimed by workers that have it.';
COMMENT ON COLUMN workers.drain_asked_at IS 'When somebody sent it away: it takes nothing new, finishes what is open, hands its leases back and ends.';
COMMENT ON COLUMN workers.pause_reason IS 'Why it starts no requests although it could: a fault of our own, such as no_parser, store_unavailable, network_down, database_unavailable; NULL: it is not paused.';

-- Domains ------------------------------------------------------------------------------------------------------------

CREATE TABLE domains (
    id                      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name                    text             NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 260),
    parent_domain           text             NOT NULL,
    base_url                text             NOT NULL,
    source                  text             NOT NULL DEFAULT 'link',
    seed_rank               integer          CHECK (seed_rank > 0),
    status                  domain_status    NOT NULL DEFAULT 'pending',
    block_reason            text,
    block_reason_code       text,
    first_blocked_at        timestamptz,
    blocked_returns         smallint         NOT NULL DEFAULT 0,
    unreachable_cooldowns   smallint         NOT NULL DEFAULT 0,
    is_active               boolean          NOT NULL DEFAULT true,
    -- the lease: version is the fencing token, it changes whenever the holder does
    claimed_by              bigint,
    claim_expires_at        timestamptz,
    version                 bigint           NOT NULL DEFAULT 0,
    -- counters: each changes in the transaction that changes what it counts
    pages_discovered        bigint           NOT NULL DEFAULT 0,
    pages_crawled           bigint           NOT NULL DEFAULT 0,
    frontier_size           bigint           NOT NULL DEFAULT 0,
    total_error_count       bigint           NOT NULL DEFAULT 0,
    recent_error_rate       double precision NOT NULL DEFAULT 0 CHECK (recent_error_rate BETWEEN 0 AND 1),
    consecutive_error_count integer          NOT NULL DEFAULT 0,
    error_streak_code       text,
    images_found            bigint           NOT NULL DEFAULT 0,
    images_stored           bigint           NOT NULL DEFAULT 0,
    depth_reached           smallint         NOT NULL DEFAULT 0,
    -- quality, from the counters
    error_rate              double precision NOT NULL GENERATED ALWAYS AS (total_error_count / GREATEST(pages_crawled, 1)::float8) STORED,
    image_yield_rate        double precision NOT NULL GENERATED ALWAYS AS (images_stored / GREATEST(LEAST(pages_crawled, pages_discovered), 1)::float8) STORED,
    avg_images_per_page     double precision NOT NULL GENERATED ALWAYS AS (images_found / GREATEST(LEAST(pages_crawled, pages_discovered), 1)::float8) STORED,
    -- the run that works on it, and what that run has taken from it
    run_id                  bigint           REFERENCES runs (id) ON DELETE SET NULL,
    run_pages               bigint           NOT NULL DEFAULT 0,
    max_pages_per_run       integer          CHECK (max_pages_per_run > 0),
    budget_period           text             NOT NULL DEFAULT 'run' CHECK (budget_period IN ('run', 'day', 'week')),
    budget_until            timestamptz,
    counts_revisits         boolean          NOT NULL DEFAULT false,
    round                   integer          NOT NULL DEFAULT 0,
    -- when; due_at, is_due and urgency are kept by a trigger, urgent_at by one of crawl_tasks
    urgent_at               timestamptz,
    urgency                 smallint         NOT NULL DEFAULT 0,
    priority_boost          double precision NOT NULL DEFAULT 0,
    priority_score          double precision NOT NULL DEFAULT 0,
    priority_computed_at    timestamptz,
    ready_at                timestamptz,
    due_at                  timestamptz,
    is_due                  boolean          NOT NULL DEFAULT false,
    next_crawl_after        timestamptz,
    next_allowed_at         timestamptz,
    maintenance_start       time,
    maintenance_end         time,
    time_zone               text             NOT NULL DEFAULT 'UTC',
    revisit_every_s         double precision CHECK (revisit_every_s > 0),
    is_adaptive             boolean          NOT NULL DEFAULT false,
    revisits_per_day        double precision CHECK (revisits_per_day > 0),
    revisit_price           double precision,
    refresh_every_s         double precision CHECK (refresh_every_s > 0),
    first_seen_at           timestamptz      NOT NULL DEFAULT now(),
    last_crawled_at         timestamptz,
    updated_at              timestamptz      NOT NULL DEFAULT now(),
    -- how
    crawl_delay_s           double precision CHECK (crawl_delay_s >= 0),
    max_concurrent_requests integer          CHECK (max_concurrent_requests > 0),
    pace_delay_s            double precision CHECK (pace_delay_s >= 0),
    pace_extra_s            double precision NOT NULL DEFAULT 0,
    response_s              double precision CHECK (response_s >= 0),
    breaker_state           text             NOT NULL DEFAULT 'closed' CHECK (breaker_state IN ('closed', 'open', 'half_open')),
    breaker_failures        integer          NOT NULL DEFAULT 0,
    breaker_opened_at       timestamptz,
    breaker_resets          integer          NOT NULL DEFAULT 0,
    proxy_country           varchar(2)       CHECK (proxy_country ~ '^[A-Z]{2}$'),
    paces_per_proxy         boolean          NOT NULL DEFAULT false,
    parser_name             text             NOT NULL DEFAULT 'auto',
    verifies_tls            boolean          NOT NULL DEFAULT true,
    content_policy          text             CHECK (content_policy IN ('signals', 'text', 'snapshot', 'archive')),
    images_policy           text             CHECK (images_policy IN ('none', 'found', 'download')),
    images_only             boolean          NOT NULL DEFAULT false,
    guesses_scheme          boolean          NOT NULL DEFAULT false,
    stores_links            boolean          NOT NULL DEFAULT true,
    links_since             timestamptz,
    rendering               text             CHECK (rendering IN ('never', 'auto', 'always')),
    history_retention_s     double precision CHECK (history_retention_s > 0),
    image_retention_s       double precision CHECK (image_retention_s > 0),
    images_owed_after       bigint,
    max_pages_per_template  integer          CHECK (max_pages_per_template > 0),
    lastmod_claims          integer          NOT NULL DEFAULT 0,
    lastmod_truths          integer          NOT NULL DEFAULT 0,
    worker_label            text             NOT NULL DEFAULT '' CHECK (worker_label ~ '^([a-z0-9][a-z0-9._-]{0,62})?$'),
    allow_networks          text[],
    has_new_settings        boolean          NOT NULL DEFAULT false,
    url_rules               jsonb,
    strips_subdomains       boolean          NOT NULL DEFAULT false,
    site_origin             text,
    CHECK ((claimed_by IS NULL) = (claim_expires_at IS NULL)),
    CHECK ((status IN ('blocked', 'unreachable')) = (block_reason_code IS NOT NULL)),
    CHECK ((maintenance_start IS NULL) = (maintenance_end IS NULL)),
    CHECK (maintenance_start <> maintenance_end),
    CHECK ((breaker_state = 'closed') = (breaker_opened_at IS NULL)),
    CHECK (lastmod_truths <= lastmod_claims)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX domains_claimable ON domains (run_id, worker_label, urgency DESC, round, priority_score DESC, id)
    WHERE claimed_by IS NULL AND is_due AND status IN ('pending', 'active') AND is_active;
CREATE INDEX domains_asleep ON domains (run_id, due_at)
    WHERE claimed_by IS NULL AND NOT is_due AND status IN ('pending', 'active') AND is_active AND due_at IS NOT NULL;
CREATE INDEX domains_urgent ON domains (run_id, urgent_at) WHERE urgent_at IS NOT NULL;
CREATE INDEX domains_resting ON domains (next_crawl_after)
    WHERE status IN ('exhausted', 'blocked', 'unreachable') AND next_crawl_after IS NOT NULL;
CREATE INDEX domains_challenged ON domains (id) WHERE block_reason_code = 'challenge';
CREATE INDEX domains_dated ON domains (ready_at) WHERE status = 'exhausted' AND ready_at IS NOT NULL;
CREATE INDEX domains_windows ON domains (maintenance_start) WHERE maintenance_start IS NOT NULL;
CREATE INDEX domains_held ON domains (run_id, worker_label, claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX domains_claimed ON domains (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX domains_of_run ON domains (run_id);
CREATE INDEX domains_parent ON domains (parent_domain);
CREATE INDEX domains_owed_images ON domains (images_policy, id) WHERE images_owed_after IS NOT NULL;
CREATE INDEX domains_url_rules ON domains (name) WHERE url_rules IS NOT NULL OR strips_subdomains;
CREATE INDEX domains_parser ON domains (parser_name) WHERE parser_name <> 'auto';
COMMENT ON TABLE domains IS 'Owner: domains (the claim, in frontier, stamps the lease). A site as an entity. Its crawl settings are in domain_settings; the columns here that hold one are copies for statements, kept by copy_crawl_settings().';
COMMENT ON COLUMN domains.run_pages IS 'New pages taken from it in the current period of its page budget; with counts_revisits, revisits too.';
COMMENT ON COLUMN domains.budget_until IS 'When the current period of its page budget ends; NULL: with the run.';
COMMENT ON COLUMN domains.worker_label IS 'Only workers with this label claim it; empty: any worker.';
COMMENT ON COLUMN domains.allow_networks IS 'Networks that are not public and may be dialled for this domain: given with --allow-network when it was crawled.';
COMMENT ON COLUMN domains.has_new_settings IS 'Its settings were changed while a worker had it: the worker hands the lease back within a second, and the next claim takes them.';
COMMENT ON COLUMN domains.url_rules IS 'Its URL rules, those of its crawl settings that are not the default; NULL: none.';
COMMENT ON COLUMN domains.strips_subdomains IS 'Hosts below it that have no row of their own belong to it.';
COMMENT ON COLUMN domains.site_origin IS 'Scheme and host, http or https, with or without www, under which the whole site is known; new links of the others are taken as this one. NULL: nothing is known.';
COMMENT ON COLUMN domains.guesses_scheme IS 'It was named without a scheme: while nothing of it was fetched, or only over http, http is tried where https fails. base_url says which works.';
COMMENT ON COLUMN domains.ready_at IS 'The earliest moment something of its frontier may be claimed; NULL when nothing of it is in reach of its run.';
COMMENT ON COLUMN domains.next_crawl_after IS 'A cooldown: nothing is claimed before. Exhausted: when it is refreshed. Blocked without one: only an operator lifts it.';
COMMENT ON COLUMN domains.due_at IS 'ready_at, or later: when cooldown and maintenance window let it be claimed; NULL also when its run took all it may.';
COMMENT ON COLUMN domains.is_due IS 'due_at had come when the row was last written; the claim wakes those whose time came since.';
COMMENT ON COLUMN domains.urgent_at IS 'When its first urgent task is due: the earliest scheduled_for of its pending, unlocked tasks with is_urgent; NULL: it has none.';
COMMENT ON COLUMN domains.urgency IS 'Claims take the highest first: 2 if urgent_at had come when the row was last written, 1 with a positive boost, else 0. The claim wakes those whose time came since.';
COMMENT ON COLUMN domains.priority_boost IS 'Points that an operator adds to its score; derived from the crawl settings.';
COMMENT ON COLUMN domains.round IS 'Of the same urgency, claims take the lowest round first: a domain whose page budget is spent goes to the back.';
COMMENT ON COLUMN domains.unreachable_cooldowns IS 'How many cooldowns in a row it had because nobody answered; each is longer than the one before. A page that came ends the row.';
COMMENT ON COLUMN domains.blocked_returns IS 'How often it came back from a block and was not crawled to its end since.';
COMMENT ON COLUMN domains.error_streak_code IS 'What the errors in a row were; another kind starts a new row.';
COMMENT ON COLUMN domains.revisit_every_s IS 'Its pages are visited again that often; NULL: once.';
COMMENT ON COLUMN domains.revisit_price IS 'Of an adaptive domain: what a request must be worth, so that revisits_per_day is kept.';
COMMENT ON COLUMN domains.refresh_every_s IS 'When exhausted, all of it is visited again after so long; NULL: the setting.';
COMMENT ON COLUMN domains.next_allowed_at IS 'The pace, written down for a successor: no request before.';
COMMENT ON COLUMN domains.pace_delay_s IS 'The delay between requests that was last in force.';
COMMENT ON COLUMN domains.pace_extra_s IS 'Of it, what was added because the server answered slowly.';
COMMENT ON COLUMN domains.response_s IS 'How long the server takes as a rule; what is much slower asks for more distance.';
COMMENT ON COLUMN domains.breaker_resets IS 'How often somebody closed the breaker by hand; who holds the domain hears of it by this.';
COMMENT ON COLUMN domains.breaker_failures IS 'Requests in a row that nobody usable answered; at five the breaker opens for a minute.';
COMMENT ON COLUMN domains.parser_name IS 'Who reads its products: a parser of extract/sites, generic, or auto for the one that fits the host.';
COMMENT ON COLUMN domains.proxy_country IS 'Of its pool only proxies of this country are used; NULL: all.';
COMMENT ON COLUMN domains.verifies_tls IS 'False: whoever answers is believed, whatever its certificate says; each worker logs it.';
COMMENT ON COLUMN domains.content_policy IS 'What is kept of a body: nothing, the newest, or everything; NULL: the setting.';
COMMENT ON COLUMN domains.recent_error_rate IS 'Of about the last fifty visits, the part that failed: each visit weighs 2 % less than the one after it.';
COMMENT ON COLUMN domains.pages_crawled IS 'Visits that brought a page, also repeated ones: with refreshes it passes pages_discovered.';
COMMENT ON COLUMN domains.image_yield_rate IS 'Stored images per page. A refresh adds visits and no pages, so there are never more pages than are known.';
COMMENT ON COLUMN domains.avg_images_per_page IS 'Images seen per page, stored or not; pages as in image_yield_rate.';
COMMENT ON COLUMN domains.images_policy IS 'What is done with images its pages show; NULL: as the run, or the setting, says.';
COMMENT ON COLUMN domains.images_only IS 'Its run took it for images that pages of other domains show: its own pages are out of reach.';
COMMENT ON COLUMN domains.stores_links IS 'False: links of its pages are learned and counted, and not kept in page_link_lists.';
COMMENT ON COLUMN domains.links_since IS 'When storing links was last switched on again: pages read before may have none. NULL: it never was off.';
COMMENT ON COLUMN domains.rendering IS 'Whether a browser draws its pages before they are read; NULL: the setting.';
COMMENT ON COLUMN domains.history_retention_s IS 'Its visits leave for cold files after so long; NULL: as the settings say.';
COMMENT ON COLUMN domains.image_retention_s IS 'Files of images it showed first are kept so long after they were last seen; NULL: as the settings say.';
COMMENT ON COLUMN domains.lastmod_claims IS 'Revisits of pages that its sitemaps said had changed; lastmod_truths of them had.';
COMMENT ON COLUMN domains.max_pages_per_template IS 'So many pages of one URL template are taken, then it is a trap; NULL: as the settings say.';
COMMENT ON COLUMN domains.images_owed_after IS 'Pages behind this one may show images that were found and never asked for; once they are wanted, they get their places in the frontier. NULL: none do.';
COMMENT ON COLUMN domains.paces_per_proxy IS 'Each proxy of its pool keeps the delay; the domain as a whole the delay divided by the number of proxies.';

CREATE TABLE profiles (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text        NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
    settings   jsonb       NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(settings) = 'object'),
    members    text[]      NOT NULL DEFAULT '{}',
    updated_at timestamptz NOT NULL DEFAULT now(),
    updated_by text        NOT NULL DEFAULT 'system'
);
COMMENT ON TABLE profiles IS 'Owner: domains. Named crawl settings for many domains.';
COMMENT ON COLUMN profiles.members IS 'Names of domains and patterns such as *.example.org; a domain that is added later joins too. A name wins over a pattern, a longer pattern over a shorter one.';

CREATE TABLE domain_settings (
    domain_id   bigint      PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
    profile_id  bigint      REFERENCES profiles (id),
    settings    jsonb       NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(settings) = 'object'),
    -- kept by a trigger
    effective   jsonb       NOT NULL DEFAULT '{}',
    has_implied_scope boolean NOT NULL DEFAULT false,
    max_depth   smallint,
    url_folders text[],
    url_include text[],
    url_exclude text[],
    updated_at  timestamptz NOT NULL DEFAULT now(),
    updated_by  text        NOT NULL DEFAULT 'system'
);
CREATE INDEX domain_settings_profile ON domain_settings (profile_id) WHERE profile_id IS NOT NULL;
COMMENT ON TABLE domain_settings IS 'Owner: domains. The crawl settings that were chosen for a domain, and its profile. Workers read it and never write it. No row: defaults.';
COMMENT ON COLUMN domain_settings.settings IS 'Name → value, only those chosen for this domain; secrets are encrypted.';
COMMENT ON COLUMN domain_settings.effective IS 'The profile''s settings, and over them its own; what is in neither is a default of the instance.';
COMMENT ON COLUMN domain_settings.has_implied_scope IS 'The scope page is of orders for single pages and nobody chose it: an order for the site takes it back.';
COMMENT ON COLUMN domain_settings.url_folders IS 'LIKE patterns of the scope prefix; empty for the scope page: then only ordered pages are visited. NULL: no condition.';

CREATE TABLE origins (
    domain_id          bigint      NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    origin             text        NOT NULL,
    robots_txt         text,
    robots_status_code smallint,
    robots_error       text,
    robots_fetched_at  timestamptz NOT NULL,
    robots_expires_at  timestamptz NOT NULL,
    sitemaps           text[]      NOT NULL DEFAULT '{}',
    PRIMARY KEY (domain_id, origin)
);
COMMENT ON COLUMN origins.sitemaps IS 'What the Sitemap lines of its robots.txt name, as they are written there.';
COMMENT ON TABLE origins IS 'Owner: domains. robots.txt of each scheme, host and port of a domain (RFC 9309 is per origin).';

CREATE TABLE robots_overrides (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain_id  bigint      NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    started_at timestamptz NOT NULL DEFAULT now(),
    ended_at   timestamptz,
    ordered_by text        NOT NULL,
    reason     text
);
CREATE UNIQUE INDEX robots_overrides_open ON robots_overrides (domain_id) WHERE ended_at IS NULL;
CREATE INDEX robots_overrides_domain ON robots_overrides (domain_id, started_at);
COMMENT ON TABLE robots_overrides IS 'Owner: domains. When an operator had robots.txt of a domain overridden, who and why; kept by a trigger, so that the politeness audit can tell orders from mistakes.';

CREATE TABLE robots_requests (
    domain_id    bigint      NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    origin       text        NOT NULL,
    requested_at timestamptz NOT NULL,
    pace_ms      integer     NOT NULL,
    purpose      text        NOT NULL DEFAULT 'robots' CHECK (purpose IN ('robots', 'login', 'fetch')),
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY
);
CREATE INDEX robots_requests_history ON robots_requests (domain_id, requested_at);
COMMENT ON TABLE robots_requests IS 'Owner: domains. Every request for a robots.txt, of a login, and for a single page that a person or program asked for, so that politeness can be proved from the history.';

CREATE TABLE domain_sessions (
    domain_id      bigint      PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
    sealed         text,
    login_failures integer     NOT NULL DEFAULT 0,
    logged_in_at   timestamptz,
    saved_at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX domain_sessions_failed ON domain_sessions (domain_id) WHERE login_failures > 0;
COMMENT ON TABLE domain_sessions IS 'Owner: domains. Cookies and logins that outlive a lease, written by the lease holder.';
COMMENT ON COLUMN domain_sessions.sealed IS 'Cookies, encrypted with the secret key of the instance; NULL: none.';
COMMENT ON COLUMN domain_sessions.login_failures IS 'Logins in a row that failed; each cooldown is longer than the one before.';

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

-- Proxies ------------------------------------------------------------------------------------------------------------

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
    is_default            boolean          NOT NULL DEFAULT false,
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
CREATE INDEX proxies_default ON proxies (id) WHERE is_default;
COMMENT ON TABLE proxies IS 'Owner: proxies. Ways out that an operator named, with their health.';
COMMENT ON COLUMN proxies.sealed_password IS 'Encrypted with the setting secret_key; nothing shows it in the clear.';
COMMENT ON COLUMN proxies.is_default IS 'In the default pool, which serves every domain without a pool of its own.';
COMMENT ON COLUMN proxies.is_forwarding IS 'Plain http is handed to it as a whole, without a tunnel: it resolves the name itself.';
COMMENT ON COLUMN proxies.probe_at IS 'Switched off by its failures: from then on it may be tried again. NULL: works, or a person switched it off.';

CREATE TABLE domain_proxies (
    domain_id            bigint           NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    proxy_id             bigint           NOT NULL REFERENCES proxies (id) ON DELETE CASCADE,
    priority             smallint         NOT NULL DEFAULT 5 CHECK (priority BETWEEN 1 AND 10),
    is_assigned          boolean          NOT NULL DEFAULT true,
    hour_began_at        timestamptz,
    hour_requests        integer          NOT NULL DEFAULT 0,
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
CREATE INDEX domain_proxies_unassigned ON domain_proxies (last_used_at) WHERE NOT is_assigned;
COMMENT ON TABLE domain_proxies IS 'Owner: proxies. Which proxies a domain is requested through, each with its health there. A domain without any assigned uses the default pool.';
COMMENT ON COLUMN domain_proxies.is_assigned IS 'False: not in the pool of the domain; a proxy of the default pool that was used for it. The row is deleted when it was not used for a week.';
COMMENT ON COLUMN domain_proxies.hour_requests IS 'Requests of the proxy to the domain since hour_began_at, for the crawl setting proxy_max_per_hour.';
COMMENT ON COLUMN domain_proxies.priority IS '1 is the first of those that were unused for equally long.';

CREATE TABLE emptied_pools (
    domain_id  bigint      PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
    emptied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE emptied_pools IS 'Owner: proxies. Domains whose pool lost its last proxy: an alert says so when they are requested directly.';

CREATE VIEW domain_pools AS
SELECT d.id AS domain_id, COALESCE(s.effective->>'proxy', 'auto') AS proxy_mode, own.proxies > 0 AS has_own,
       CASE WHEN own.proxies > 0 THEN own.proxies ELSE shared.proxies END AS proxies,
       CASE WHEN own.proxies > 0 THEN own.proxies_on ELSE shared.proxies_on END AS proxies_on,
       CASE WHEN own.proxies > 0 THEN own.back_at ELSE shared.back_at END AS back_at
FROM domains d
LEFT JOIN domain_settings s ON s.domain_id = d.id
CROSS JOIN LATERAL (
    SELECT count(*)::int AS proxies,
           count(*) FILTER (WHERE dp.is_active AND p.is_active AND COALESCE(p.country_code = d.proxy_country, d.proxy_country IS NULL))::int AS proxies_on,
           min(GREATEST(dp.probe_at, p.probe_at)) AS back_at
    FROM domain_proxies dp JOIN proxies p ON p.id = dp.proxy_id WHERE dp.domain_id = d.id AND dp.is_assigned) own
CROSS JOIN LATERAL (
    SELECT count(*)::int AS proxies,
           count(*) FILTER (WHERE p.is_active AND COALESCE(dp.is_active, true)
                              AND COALESCE(p.country_code = d.proxy_country, d.proxy_country IS NULL))::int AS proxies_on,
           min(GREATEST(dp.probe_at, p.probe_at)) AS back_at
    FROM proxies p LEFT JOIN domain_proxies dp ON dp.proxy_id = p.id AND dp.domain_id = d.id WHERE p.is_default) shared;
COMMENT ON VIEW domain_pools IS 'Owner: proxies. How each domain is requested: its own pool, else the default pool, by its setting proxy.';

-- Pages, tasks, links ------------------------------------------------------------------------------------------------

CREATE TABLE pages (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain_id     bigint      NOT NULL, -- keep_domain_of_pages() stands for a foreign key
    url           text        NOT NULL,
    url_hash      bytea       NOT NULL CHECK (octet_length(url_hash) = 16),
    status        page_status NOT NULL DEFAULT 'discovered',
    depth         smallint    NOT NULL,
    priority      smallint    NOT NULL CHECK (priority BETWEEN 1 AND 10),
    redirects     smallint    NOT NULL DEFAULT 0,
    is_seed       boolean     NOT NULL DEFAULT false,
    discovered_at timestamptz NOT NULL DEFAULT now(),
    fetched_at    timestamptz,
    failed_at     timestamptz,
    -- signals of the last good reading
    title         text,
    description   text,
    language      varchar(35),
    keywords_tsv  tsvector,
    content_hash  bytea,
    content_type  text,
    links_count   integer,
    etag          text,
    last_modified text,
    canonical_url text,
    author        text,
    published_at  timestamptz,
    modified_at   timestamptz,
    -- recurrence: what revisits taught
    revisit_every_s double precision CHECK (revisit_every_s > 0),
    comparisons   integer          NOT NULL DEFAULT 0,
    changes       integer          NOT NULL DEFAULT 0,
    watched_s     double precision NOT NULL DEFAULT 0,
    changed_at    timestamptz,
    crashes       smallint         NOT NULL DEFAULT 0,
    flags         text[],
    simhash       bigint,
    trap_id       bigint,
    is_image      boolean          NOT NULL DEFAULT false,
    lastmod_at    timestamptz,
    duplicate_of  bigint,
    is_sitemap    boolean          NOT NULL DEFAULT false,
    CONSTRAINT pages_domain_id_url_hash_key UNIQUE (domain_id, url_hash) INCLUDE (id, depth, is_image) -- so that links are looked up in the index alone
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2);
CREATE INDEX pages_frontier ON pages (domain_id, priority, id, depth) WHERE status = 'discovered';
CREATE INDEX pages_canonical ON pages (domain_id, hashtextextended(canonical_url, 0)) WHERE canonical_url IS NOT NULL;
CREATE INDEX pages_duplicates ON pages (domain_id, duplicate_of) WHERE duplicate_of IS NOT NULL;
COMMENT ON COLUMN pages.is_image IS 'It is fetched to be stored as an image, not to be read; counters of pages leave it out, the frontier does not.';
COMMENT ON COLUMN pages.is_sitemap IS 'It is fetched for the URLs that it lists, a sitemap or a feed: counters, budgets and lists of pages leave it out, the frontier does not. It never changes once the page has a task.';
COMMENT ON COLUMN pages.lastmod_at IS 'When it changed, as its sitemap says; later than fetched_at: a claim that its next visit will test.';
COMMENT ON COLUMN pages.simhash IS 'Of the last good reading; nearly the same for nearly the same text. NULL: too little text.';
COMMENT ON COLUMN pages.trap_id IS 'The trap it is left out by: then it is blocked, and was never visited. No foreign key: forager check looks.';
COMMENT ON COLUMN pages.revisit_every_s IS 'This page is visited again that often; NULL: as its domain is.';
COMMENT ON COLUMN pages.crashes IS 'How often a worker died while it read this page; after the first time it is read in a process of its own.';
COMMENT ON COLUMN pages.flags IS 'Oddities of the last good reading, such as truncated, charset_lie, nul, flattened, rendered, render_failed; NULL: none.';
COMMENT ON COLUMN pages.canonical_url IS 'The address the page wants to be known by, where that is not its own.';
COMMENT ON COLUMN pages.duplicate_of IS 'The page of the same domain that has the same content: its canonical URL, or its twin under another scheme or www. It is not revisited on its own. No foreign key: forager check looks.';
COMMENT ON COLUMN pages.published_at IS 'As the page says; so are author and modified_at. Of a feed or sitemap modified_at is its newest entry.';
COMMENT ON COLUMN pages.watched_s IS 'The seconds between visits that could be compared, summed up.';
COMMENT ON TABLE pages IS 'Owner: frontier. One canonical URL we know, unique by 16 bytes of the SHA-256 of its normalised form.';

CREATE TABLE crawl_tasks (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    page_id          bigint      NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    domain_id        bigint      NOT NULL,
    run_id           bigint,
    status           task_status NOT NULL DEFAULT 'pending',
    priority         smallint    NOT NULL DEFAULT 5 CHECK (priority BETWEEN 1 AND 10),
    retry_count      smallint    NOT NULL DEFAULT 0,
    parent_task_id   bigint,
    created_by       text        NOT NULL DEFAULT 'system',
    created_at       timestamptz NOT NULL DEFAULT now(),
    scheduled_for    timestamptz NOT NULL DEFAULT now(),
    locked_at        timestamptz,
    locked_by        bigint,
    requested_at     timestamptz,
    completed_at     timestamptz,
    outcome          task_outcome,
    status_code      smallint,
    error_code       text,
    error_message    text,
    blame            text,
    response_time_ms integer,
    bytes            bigint,
    is_changed       boolean,
    pace_ms          integer,
    earlier_requests timestamptz[],
    proxy_id         bigint,
    body_ref         text,
    -- what a person ordered for it
    recrawl_count    integer     NOT NULL DEFAULT 0,
    is_recurring     boolean     NOT NULL DEFAULT true,
    revisit_every_s  double precision CHECK (revisit_every_s > 0),
    max_retries      smallint    CHECK (max_retries BETWEEN 0 AND 20),
    batch_id         bigint,
    depends_on       bigint,
    is_waiting       boolean     NOT NULL DEFAULT false,
    webhook_url      text        CHECK (length(webhook_url) BETWEEN 1 AND 2000),
    is_image         boolean     NOT NULL,
    amended_at       timestamptz,
    is_urgent        boolean     NOT NULL DEFAULT false,
    CHECK ((outcome IS NULL) = (completed_at IS NULL)),
    CHECK ((locked_at IS NULL) = (locked_by IS NULL)),
    CHECK ((outcome IS NULL) = (status NOT IN ('completed', 'failed', 'cancelled'))),
    CHECK (NOT is_waiting OR (status = 'paused' AND depends_on IS NOT NULL))
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
CREATE UNIQUE INDEX crawl_tasks_open ON crawl_tasks (domain_id, page_id) WHERE outcome IS NULL;
CREATE INDEX crawl_tasks_ready ON crawl_tasks (domain_id, priority, scheduled_for)
    WHERE outcome IS NULL AND locked_at IS NULL;
CREATE INDEX crawl_tasks_urgent ON crawl_tasks (domain_id, scheduled_for)
    WHERE is_urgent AND outcome IS NULL AND locked_at IS NULL;
CREATE INDEX crawl_tasks_history ON crawl_tasks (page_id, id DESC);
CREATE INDEX crawl_tasks_completed ON crawl_tasks (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX crawl_tasks_bodies ON crawl_tasks (page_id, id DESC) WHERE body_ref IS NOT NULL;
CREATE INDEX crawl_tasks_captures ON crawl_tasks (domain_id, page_id, id) WHERE body_ref IS NOT NULL;
COMMENT ON COLUMN crawl_tasks.is_urgent IS 'A person ordered it with priority 1 or 2: while it is due, its domain is claimed before others.';
COMMENT ON COLUMN crawl_tasks.is_changed IS 'Whether the content differs from the visit before; NULL where there was none to compare with.';
COMMENT ON COLUMN crawl_tasks.pace_ms IS 'The distance between requests that was in force when it was made; 0: an unpaced host. NULL: no request.';
COMMENT ON COLUMN crawl_tasks.earlier_requests IS 'Quick tries of the same task before requested_at.';
COMMENT ON COLUMN crawl_tasks.proxy_id IS 'The proxy its last request went through; NULL: none. No foreign key: the history outlives proxies.';
COMMENT ON COLUMN crawl_tasks.body_ref IS 'Where the body is that this visit brought, or confirmed; NULL: none was kept. What its second part names is in bodies.';
COMMENT ON TABLE crawl_tasks IS 'Owner: frontier. One visit to one page, from order to outcome: open rows are the queue, closed rows the history.';

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

CREATE TABLE external_link_lists (
    from_page_id bigint PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    urls         text   NOT NULL,
    rels         text,
    anchors      text   NOT NULL
);
COMMENT ON TABLE external_link_lists IS 'Owner: frontier. Links out of scope, of domains that store them: one row for each page, in its order. They are never visited.';
COMMENT ON COLUMN external_link_lists.urls IS 'Normalised URLs, with line breaks between.';
COMMENT ON COLUMN external_link_lists.rels IS 'The kind of each link, with commas between; NULL: all are a.';
COMMENT ON COLUMN external_link_lists.anchors IS 'The words of each link, with U+001F between, which no anchor contains.';

CREATE VIEW page_links AS
SELECT l.domain_id, l.from_page_id, e.to_page_id, (e.position - 1)::integer AS position, COALESCE(e.rel, 'a') AS rel,
       COALESCE(e.anchor, '') AS anchor
FROM page_link_lists l
CROSS JOIN LATERAL ROWS FROM (
    unnest(l.to_page_ids), unnest(string_to_array(l.rels, ',')), unnest(string_to_array(l.anchors, E'\x1f')))
    WITH ORDINALITY AS e (to_page_id, rel, anchor, position);
COMMENT ON VIEW page_links IS 'Who links to whom, a row for each link: to read; frontier writes page_link_lists.';

CREATE VIEW page_visits AS
SELECT p.id AS page_id, p.domain_id, p.url, p.depth, p.is_seed, p.status, p.title, p.description, p.language, p.canonical_url, p.duplicate_of,
       COALESCE(p.content_type LIKE 'text/html%' OR p.content_type LIKE 'application/xhtml+xml%', false) AS is_html,
       COALESCE('noindex' = ANY (p.flags), false) AS is_noindex,
       v.outcome, v.status_code, v.error_code, v.response_time_ms, v.bytes, v.completed_at,
       COALESCE(v.outcome = 'success' AND (v.status_code < 300 OR v.status_code = 304), false) AS is_ok,
       COALESCE(v.outcome = 'success' AND v.status_code BETWEEN 300 AND 399 AND v.status_code <> 304, false) AS is_redirect,
       COALESCE(v.outcome IN ('failed', 'timeout', 'blocked_4xx', 'blocked_5xx'), false) AS is_broken
FROM pages p
LEFT JOIN LATERAL (
    SELECT t.outcome, t.status_code, t.error_code, t.response_time_ms, t.bytes, t.completed_at
    FROM crawl_tasks t WHERE t.page_id = p.id AND t.outcome IS NOT NULL AND t.outcome <> 'cancelled' ORDER BY t.id DESC LIMIT 1) v ON true
WHERE NOT p.is_image AND NOT p.is_sitemap;
COMMENT ON VIEW page_visits IS 'Pages with their newest closed visit, and what it means for a report of their site: to read.';

CREATE TABLE page_details (
    page_id         bigint PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    headline        text,
    site_name       text,
    section         text,
    tags            text[],
    rating          numeric(3,2) CHECK (rating BETWEEN 0 AND 5),
    rating_count    integer      CHECK (rating_count >= 0),
    published_on    date,
    modified_on     date,
    structured_data bytea,
    content_hash    bytea        NOT NULL,
    item_types      text[]
) WITH (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE page_details ALTER COLUMN structured_data SET STORAGE EXTERNAL;
CREATE INDEX page_details_item_types ON page_details USING gin (item_types);
COMMENT ON TABLE page_details IS 'Owner: frontier. What the last good reading of a page found beyond the signals in pages, which are read and written far more often.';
COMMENT ON COLUMN page_details.rating IS 'Of what the page is about, whatever scale the page uses.';
COMMENT ON COLUMN page_details.published_on IS 'The calendar day the page itself shows, in its own time zone; so is modified_on.';
COMMENT ON COLUMN page_details.structured_data IS 'All JSON-LD, microdata, RDFa and OpenGraph items as a JSON array, compressed by zlib before it comes here: pglz takes four times as long.';
COMMENT ON COLUMN page_details.item_types IS 'The types of the items of structured_data, in lower case: recipe, product.';
COMMENT ON COLUMN page_details.content_hash IS '16 bytes of the SHA-256 of the other columns, without item_types, which follow from structured_data: the row is written only when it changes, and forager check --deep compares.';

CREATE TABLE sitemaps (
    page_id   bigint      PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    site_id   bigint      NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    found_by  text        NOT NULL CHECK (found_by IN ('robots', 'guess', 'index', 'page', 'redirect')),
    named_by  bigint,
    found_at  timestamptz NOT NULL DEFAULT now(),
    format    text        CHECK (format IN ('sitemap', 'index', 'text', 'rss', 'atom', 'json')),
    urls      integer     NOT NULL DEFAULT 0,
    new_urls  bigint      NOT NULL DEFAULT 0,
    read_at   timestamptz,
    problem   text
);
CREATE INDEX sitemaps_of_site ON sitemaps (site_id);
COMMENT ON TABLE sitemaps IS 'Owner: frontier. Sitemaps and feeds: who named them, and what the last reading of each found. Their visits are those of their pages.';
COMMENT ON COLUMN sitemaps.site_id IS 'The domain that it is for: its own, or the one whose robots.txt or index names it on another host.';
COMMENT ON COLUMN sitemaps.found_by IS 'Who named it: a robots.txt, nobody (its usual place was tried), an index, a page that announces a feed, or a redirect.';
COMMENT ON COLUMN sitemaps.named_by IS 'The page that names it, an index or one that announces a feed. No foreign key: it may be deleted.';
COMMENT ON COLUMN sitemaps.format IS 'Of the last reading that was one; NULL: none yet.';
COMMENT ON COLUMN sitemaps.urls IS 'URLs that the last reading listed, in scope or not.';
COMMENT ON COLUMN sitemaps.new_urls IS 'Pages that were not known before it listed them, over all readings; counted in the transaction that adds them.';
COMMENT ON COLUMN sitemaps.problem IS 'Why the last reading is not complete, or is no sitemap; NULL: nothing is wrong.';

CREATE TABLE errors (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id     bigint      NOT NULL,
    code        text        NOT NULL,
    message     text        NOT NULL,
    stack       text        NOT NULL,
    occurred_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE errors IS 'Owner: frontier. Stack traces of our own bugs, apart from the history.';

-- Bodies -------------------------------------------------------------------------------------------------------------

CREATE TABLE bodies (
    name         text        PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    kind         text        NOT NULL CHECK (kind IN ('text', 'snapshot', 'archive')),
    size_bytes   bigint      NOT NULL,
    stored_bytes bigint      NOT NULL,
    stored_at    timestamptz NOT NULL DEFAULT now(),
    used_at      timestamptz NOT NULL DEFAULT now(),
    dropped_at   timestamptz,
    deleted_at   timestamptz,
    CHECK (deleted_at IS NULL OR dropped_at IS NOT NULL)
);
CREATE INDEX bodies_to_drop ON bodies (used_at) WHERE kind <> 'archive' AND dropped_at IS NULL;
CREATE INDEX bodies_to_delete ON bodies (dropped_at) WHERE dropped_at IS NOT NULL AND deleted_at IS NULL;
COMMENT ON TABLE bodies IS 'Owner: storage. Stored files: a snapshot or a text by the hash of its content, or a WARC file. The row is there before any task refers to it.';
COMMENT ON COLUMN bodies.size_bytes IS 'Before compression; of a WARC file, of all its bodies.';
COMMENT ON COLUMN bodies.used_at IS 'When a visit last brought or confirmed it; retention counts from then.';
COMMENT ON COLUMN bodies.dropped_at IS 'When retention gave it up: nobody may count on its file any more. A visit that brings it again takes this back.';
COMMENT ON COLUMN bodies.deleted_at IS 'When its file was deleted.';

CREATE TABLE run_bodies (
    run_id       bigint NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    what         text   NOT NULL,
    bodies       bigint NOT NULL,
    size_bytes   bigint NOT NULL,
    stored_bytes bigint NOT NULL,
    PRIMARY KEY (run_id, what)
);
COMMENT ON TABLE run_bodies IS 'Owner: storage. What became of the bodies a run was to keep: stored, known, or lost with the reason.';

CREATE TABLE replays (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    spec         jsonb       NOT NULL,
    status       text        NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'finished')),
    after_page   bigint      NOT NULL DEFAULT 0,
    tally        jsonb       NOT NULL DEFAULT '{}',
    created_by   text        NOT NULL,
    pid          integer     NOT NULL,
    pid_started  bigint      NOT NULL,
    started_at   timestamptz NOT NULL DEFAULT now(),
    touched_at   timestamptz NOT NULL DEFAULT now(),
    ended_at     timestamptz,
    CHECK ((status = 'finished') = (ended_at IS NOT NULL))
);
COMMENT ON TABLE replays IS 'Owner: replay. Stored bodies read again: by which order, how far it came, what it found.';
COMMENT ON COLUMN replays.pid IS 'The process that does it, or did: what it was reading when it died is read apart from then on.';
COMMENT ON COLUMN replays.after_page IS 'All pages up to this one are done; written in the transaction that writes their readings.';

CREATE TABLE replay_readings (
    replay_id bigint NOT NULL REFERENCES replays (id) ON DELETE CASCADE,
    page_id   bigint NOT NULL,
    task_id   bigint NOT NULL,
    fields    text[] NOT NULL,
    old       jsonb  NOT NULL,
    new       jsonb  NOT NULL,
    PRIMARY KEY (replay_id, page_id)
);
COMMENT ON TABLE replay_readings IS 'Owner: replay. The shadow: what a replay reads differently from the live tables, page by page. No foreign key to pages: it may outlive them.';

-- Products -----------------------------------------------------------------------------------------------------------

CREATE TABLE products (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain_id      bigint        NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    page_id        bigint        NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    crawl_task_id  bigint,
    url            text          NOT NULL,
    url_hash       bytea         NOT NULL CHECK (length(url_hash) = 16),
    product_name   varchar(512)  NOT NULL,
    description    text,
    price          numeric(20,4) CHECK (price >= 0),
    currency       varchar(3)    CHECK (currency ~ '^[A-Z]{3}$'),
    availability   text,
    rating         numeric(3,2)  CHECK (rating BETWEEN 0 AND 5),
    review_count   integer       CHECK (review_count >= 0),
    brand          varchar(255),
    category       varchar(255),
    sku            varchar(100),
    gtin           varchar(14),
    image_urls     text[]        NOT NULL DEFAULT '{}',
    variants       jsonb         NOT NULL DEFAULT '[]',
    content_hash   bytea         NOT NULL,
    -- how it was read
    parser_name    text          NOT NULL,
    parser_version integer       NOT NULL,
    confidence     real          NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    evidence       jsonb         NOT NULL DEFAULT '{}',
    problems       text[]        NOT NULL DEFAULT '{}',
    is_valid       boolean       NOT NULL,
    created_at     timestamptz   NOT NULL,
    updated_at     timestamptz   NOT NULL,
    last_seen_at   timestamptz   NOT NULL,
    is_listed      boolean       NOT NULL DEFAULT false,
    price_seen_at  timestamptz,
    missing_since  timestamptz,
    is_price_current boolean     NOT NULL GENERATED ALWAYS AS (COALESCE(price_seen_at >= last_seen_at AND missing_since IS NULL, false)) STORED,
    mpn            text,
    regular_price  numeric(20,4) CHECK (regular_price >= 0),
    unit_price     numeric(20,4) CHECK (unit_price >= 0),
    unit           text,
    seller         text,
    condition      text,
    shipping       numeric(20,4) CHECK (shipping >= 0),
    attributes     jsonb         NOT NULL DEFAULT '{}',
    UNIQUE (domain_id, page_id),
    UNIQUE (domain_id, url_hash)
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX products_name ON products (product_name);
CREATE INDEX products_price ON products (price);
CREATE INDEX products_availability ON products (availability);
CREATE INDEX products_created ON products (created_at);
CREATE INDEX products_brand ON products (brand) WHERE brand IS NOT NULL;
CREATE INDEX products_category ON products (category) WHERE category IS NOT NULL;
COMMENT ON TABLE products IS 'Owner: products. What the page of one product says: the newest facts, how sure we are of each, where each was found.';
COMMENT ON COLUMN products.crawl_task_id IS 'The visit that saw it last. No foreign key: old history moves away.';
COMMENT ON COLUMN products.price IS 'The last one the page named: a page that names none now, as many do when sold out, keeps it.';
COMMENT ON COLUMN products.content_hash IS '16 bytes over the facts; updated_at moves only when it changes.';
COMMENT ON COLUMN products.evidence IS 'Field to a list of [value, where, confidence]: what was chosen, then what else the page said.';
COMMENT ON COLUMN products.created_at IS 'First seen.';
COMMENT ON COLUMN products.price_seen_at IS 'When a visit last read this price; NULL: none ever did. Earlier than last_seen_at: the page no longer names it.';
COMMENT ON COLUMN products.missing_since IS 'Since when its page was read without finding the product; NULL: the last reading found it.';
COMMENT ON COLUMN products.is_price_current IS 'Whether the last reading of its page named this price.';
COMMENT ON COLUMN products.is_listed IS 'Only lists showed it so far; once its own page was read, lists are not believed any more.';
COMMENT ON COLUMN products.regular_price IS 'Struck through beside a lower one; in currency, as are unit_price and shipping.';
COMMENT ON COLUMN products.unit_price IS 'For one unit, such as kg.';
COMMENT ON COLUMN products.condition IS 'new, used, refurbished or damaged.';
COMMENT ON COLUMN products.attributes IS 'What else the page says of it: color, material, weight.';

CREATE TABLE product_prices (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain_id        bigint        NOT NULL,
    product_id       bigint        NOT NULL REFERENCES products (id) ON DELETE CASCADE,
    task_id          bigint,
    seen_at          timestamptz   NOT NULL,
    price            numeric(20,4),
    currency         varchar(3),
    availability     text,
    is_first         boolean       NOT NULL DEFAULT false,
    is_correction    boolean       NOT NULL DEFAULT false,
    is_backfill      boolean       NOT NULL DEFAULT false,
    old_price        numeric(20,4),
    old_currency     varchar(3),
    old_availability text
);
CREATE INDEX product_prices_of ON product_prices (domain_id, product_id, seen_at);
CREATE INDEX product_prices_seen ON product_prices USING brin (seen_at);
COMMENT ON TABLE product_prices IS 'Owner: products. A row at first sight and for each change of price, currency or availability, with what was before: history and events in one.';
COMMENT ON COLUMN product_prices.is_backfill IS 'Read from an older version of the page when later prices were known: its place in the history is by seen_at, and rows after it keep what was known when they were written.';
COMMENT ON COLUMN product_prices.is_correction IS 'The same visit read again with another result: our understanding changed, not the shop.';

CREATE TABLE product_days (
    domain_id      bigint  NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    day            date    NOT NULL,
    parser_name    text    NOT NULL,
    parser_version integer NOT NULL,
    attempts       integer NOT NULL,
    found          integer NOT NULL,
    valid          integer NOT NULL,
    PRIMARY KEY (domain_id, day, parser_name, parser_version)
);
COMMENT ON TABLE product_days IS 'Owner: products. How well a parser did in a domain on a day (UTC).';
COMMENT ON COLUMN product_days.attempts IS 'Pages that gave a product, now or at the visit before.';
COMMENT ON COLUMN product_days.valid IS 'Of those found, the ones without a serious problem.';

-- Records ------------------------------------------------------------------------------------------------------------

CREATE TABLE records (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain_id     bigint      NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    page_id       bigint      NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    extractor     text        NOT NULL,
    kind          text        NOT NULL,
    key           text,
    key_hash      bytea       NOT NULL CHECK (length(key_hash) = 16),
    fields        jsonb       NOT NULL,
    evidence      bytea,
    problems      text[]      NOT NULL DEFAULT '{}',
    content_hash  bytea       NOT NULL,
    task_id       bigint,
    first_seen_at timestamptz NOT NULL,
    last_seen_at  timestamptz NOT NULL,
    changed_at    timestamptz NOT NULL,
    gone_at       timestamptz,
    UNIQUE (domain_id, page_id, extractor, key_hash)
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX records_extractor ON records (extractor, id);
CREATE INDEX records_kind ON records (kind, id);
CREATE INDEX records_page ON records (page_id);
CREATE INDEX records_changed ON records (changed_at);
COMMENT ON TABLE records IS 'Owner: records. What extractors found on pages: the newest fields of each record, and where they were found.';
COMMENT ON COLUMN records.key IS 'What identifies it on its page; NULL: its position there.';
COMMENT ON COLUMN records.key_hash IS '16 bytes of the SHA-256 of the key, or of the position.';
COMMENT ON COLUMN records.evidence IS 'Field to the source that matched and the text that it was read from, as JSON, compressed by zlib.';
COMMENT ON COLUMN records.problems IS 'missing:FIELD, invalid:FIELD, failed:FIELD; empty: complete.';
COMMENT ON COLUMN records.content_hash IS '16 bytes over kind, fields and problems; changed_at moves only when it changes.';
COMMENT ON COLUMN records.task_id IS 'The visit that saw it last. No foreign key: old history moves away.';
COMMENT ON COLUMN records.gone_at IS 'Since when its page is read without it; NULL: the last reading found it.';

CREATE TABLE record_changes (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    domain_id     bigint      NOT NULL,
    record_id     bigint      NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    task_id       bigint,
    seen_at       timestamptz NOT NULL,
    event         text        NOT NULL CHECK (event IN ('first', 'changed', 'gone', 'back')),
    field         text,
    old_value     jsonb,
    new_value     jsonb,
    is_correction boolean     NOT NULL DEFAULT false,
    CHECK ((event = 'changed') = (field IS NOT NULL))
);
CREATE INDEX record_changes_of ON record_changes (record_id, id);
CREATE INDEX record_changes_seen ON record_changes USING brin (seen_at);
COMMENT ON TABLE record_changes IS 'Owner: records. A row when a record is first seen, gone and back, and for each change of a field, with what was before. Rows are only added.';
COMMENT ON COLUMN record_changes.is_correction IS 'The same visit read again with another result: our understanding changed, not the site.';

CREATE TABLE extractor_days (
    domain_id  bigint  NOT NULL REFERENCES domains (id) ON DELETE CASCADE,
    day        date    NOT NULL,
    extractor  text    NOT NULL,
    field      text    NOT NULL,
    found      integer NOT NULL DEFAULT 0,
    valid      integer NOT NULL DEFAULT 0,
    missing    integer NOT NULL DEFAULT 0,
    failed     integer NOT NULL DEFAULT 0,
    last_error text,
    PRIMARY KEY (domain_id, day, extractor, field)
);
CREATE INDEX extractor_days_day ON extractor_days (day);
COMMENT ON TABLE extractor_days IS 'Owner: records. How well an extractor found each field in a domain on a day (UTC).';
COMMENT ON COLUMN extractor_days.field IS 'Empty: records as a whole; valid are those that are complete, missing those of pages that had one before.';
COMMENT ON COLUMN extractor_days.failed IS 'Pages on which the extractor did not come to its end; why the last time: last_error.';

CREATE TABLE model_pages (
    page_id   bigint      NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    extractor text        NOT NULL,
    version   integer     NOT NULL,
    task_id   bigint      NOT NULL,
    status    text        NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'done', 'failed')),
    attempts  smallint    NOT NULL DEFAULT 0,
    retry_at  timestamptz NOT NULL DEFAULT now(),
    problem   text,
    PRIMARY KEY (page_id, extractor)
);
CREATE INDEX model_pages_waiting ON model_pages (retry_at, page_id) WHERE status = 'waiting';
COMMENT ON TABLE model_pages IS 'Owner: records. Pages whose text an extractor has a model read: those that wait, and the newest visit of each that was read.';
COMMENT ON COLUMN model_pages.task_id IS 'The visit that brought or confirmed the text. No foreign key: old history moves away.';
COMMENT ON COLUMN model_pages.problem IS 'Why the last attempt failed.';

CREATE TABLE model_answers (
    extractor         text        NOT NULL,
    version           integer     NOT NULL,
    text_hash         text        NOT NULL,
    page_id           bigint      NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    answer            jsonb       NOT NULL,
    prompt_tokens     integer     NOT NULL,
    completion_tokens integer     NOT NULL,
    took_ms           integer     NOT NULL,
    asked_at          timestamptz NOT NULL DEFAULT now(),
    used_at           timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (extractor, version, text_hash)
);
CREATE INDEX model_answers_page ON model_answers (page_id);
CREATE INDEX model_answers_used ON model_answers (used_at);
COMMENT ON TABLE model_answers IS 'Owner: records. What a model said of a text, so that no text is sent twice.';
COMMENT ON COLUMN model_answers.text_hash IS 'SHA-256 of the text that was sent, in hex.';
COMMENT ON COLUMN model_answers.page_id IS 'The first page with this text; the answer quotes it, and is deleted with it.';

CREATE TABLE model_gateway (
    is_only       boolean     PRIMARY KEY DEFAULT true CHECK (is_only),
    day           date        NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
    calls         integer     NOT NULL DEFAULT 0,
    failures      integer     NOT NULL DEFAULT 0,
    paused_until  timestamptz,
    last_error    text,
    last_error_at timestamptz,
    after_page    bigint      NOT NULL DEFAULT 0
);
COMMENT ON TABLE model_gateway IS 'Owner: records. One row: how often the model was asked today, and whether it is left alone after errors.';
COMMENT ON COLUMN model_gateway.day IS 'The day (UTC) of calls.';
COMMENT ON COLUMN model_gateway.failures IS 'Failed requests in a row.';
COMMENT ON COLUMN model_gateway.after_page IS 'Where the walk that looks for new texts is.';

CREATE FUNCTION has_value(document jsonb, name text, sign text, wanted text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT COALESCE(bool_or(CASE
        WHEN sign = '~' THEN position(lower(wanted) IN lower(v.value)) > 0
        WHEN sign = '!=' THEN v.value <> wanted
        WHEN v.value ~ '^-?[0-9]{1,30}(\.[0-9]{1,30})?$' AND wanted ~ '^-?[0-9]{1,30}(\.[0-9]{1,30})?$' THEN
            CASE sign WHEN '>' THEN v.value::numeric > wanted::numeric WHEN '<' THEN v.value::numeric < wanted::numeric ELSE v.value::numeric = wanted::numeric END
        WHEN sign = '>' THEN v.value > wanted
        WHEN sign = '<' THEN v.value < wanted
        ELSE v.value = wanted END), false)
    FROM (SELECT document -> name #>> '{}' AS value WHERE jsonb_typeof(document -> name) NOT IN ('array', 'object')
          UNION ALL SELECT e #>> '{}' FROM jsonb_array_elements(CASE jsonb_typeof(document -> name) WHEN 'array' THEN document -> name ELSE '[]' END) AS a (e)
          UNION ALL SELECT document -> name ->> 'amount') v
    WHERE v.value IS NOT NULL
$$;
COMMENT ON FUNCTION has_value IS 'Whether a field of a JSON object, an element of it, or its amount compares as wanted: =, !=, ~ (contains), >, <.';

-- Images -------------------------------------------------------------------------------------------------------------

CREATE TYPE image_status AS ENUM ('found', 'stored', 'moved', 'gone', 'blocked', 'failed', 'broken', 'too_big', 'not_an_image', 'dropped');

CREATE TABLE images (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url_hash        bytea        NOT NULL UNIQUE CHECK (octet_length(url_hash) = 16),
    url             text         NOT NULL,
    domain_id       bigint       NOT NULL,
    status          image_status NOT NULL DEFAULT 'found',
    reason          text,
    -- of the file that was last stored
    format          text,
    width           integer,
    height          integer,
    frames          integer,
    file_size       bigint,
    content_hash    bytea,
    perceptual_hash bigint,
    body_ref        text,
    thumbnail_ref   text,
    moved_to        bigint,
    first_seen_at   timestamptz  NOT NULL DEFAULT now(),
    checked_at      timestamptz,
    stored_at       timestamptz,
    dropped_at      timestamptz,
    CHECK ((stored_at IS NULL) = (content_hash IS NULL)),
    CHECK ((stored_at IS NULL) = (body_ref IS NULL)),
    CHECK (status <> 'stored' OR stored_at IS NOT NULL),
    CHECK (dropped_at IS NULL OR stored_at IS NOT NULL)
);
CREATE INDEX images_content ON images (content_hash) WHERE content_hash IS NOT NULL;
CREATE INDEX images_files ON images (stored_at, id) WHERE stored_at IS NOT NULL AND dropped_at IS NULL;
CREATE INDEX images_dropped ON images (id) WHERE dropped_at IS NOT NULL;
COMMENT ON TABLE images IS 'Owner: images. One image URL that pages show, unique by 16 bytes of the SHA-256 of its normalised form.';
COMMENT ON COLUMN images.domain_id IS 'The domain whose page showed it first: its images_stored counts it. No foreign key: forager check looks.';
COMMENT ON COLUMN images.reason IS 'Why it could not be stored, in words.';
COMMENT ON COLUMN images.content_hash IS 'SHA-256 of the file. The same under two URLs is one file in the store.';
COMMENT ON COLUMN images.perceptual_hash IS 'Nearly the same 64 bits for nearly the same picture; NULL where nothing was decoded, such as SVG.';
COMMENT ON COLUMN images.moved_to IS 'The image its URL redirects to.';
COMMENT ON COLUMN images.checked_at IS 'When it was last asked for; NULL: never.';
COMMENT ON COLUMN images.dropped_at IS 'When retention gave up its file: nobody may count on it any more. A visit that brings it again takes this back.';

CREATE TABLE page_images (
    domain_id      bigint       NOT NULL,
    page_id        bigint       NOT NULL,
    image_id       bigint       NOT NULL,
    position       smallint     NOT NULL,
    discovery_type text         NOT NULL,
    image_type     text         NOT NULL,
    alt_text       varchar(512) NOT NULL,
    width          integer,
    height         integer,
    first_seen_at  timestamptz  NOT NULL DEFAULT now(),
    last_seen_at   timestamptz,
    PRIMARY KEY (domain_id, page_id, image_id)
);
CREATE INDEX page_images_image ON page_images (image_id);
COMMENT ON TABLE page_images IS 'Owner: images. Provenance: which page shows which image, since when. No foreign keys: forager check looks instead.';
COMMENT ON COLUMN page_images.discovery_type IS 'How the page names it: img, srcset, picture, lazy, og, twitter, link, jsonld, background.';
COMMENT ON COLUMN page_images.image_type IS 'primary, gallery or thumbnail.';
COMMENT ON COLUMN page_images.width IS 'As the page declares it.';
COMMENT ON COLUMN page_images.last_seen_at IS 'NULL: the page still shows it, so it was last seen when the page was last fetched. Else the last visit that did.';

-- Search and near-duplicates -----------------------------------------------------------------------------------------

CREATE INDEX pages_read ON pages (fetched_at, id) WHERE fetched_at IS NOT NULL;
CREATE INDEX pages_language ON pages (language, id) WHERE language IS NOT NULL;
CREATE INDEX pages_unsearched ON pages (id) WHERE flags && '{words_cut,noindex}'::text[]; -- read, and not found by all their words

CREATE TABLE page_clusters (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    simhash bigint    NOT NULL,
    bands   integer[] NOT NULL,
    pages   integer   NOT NULL DEFAULT 0
);
CREATE INDEX page_clusters_bands ON page_clusters USING gin (bands) WITH (fastupdate = off);
CREATE INDEX page_clusters_large ON page_clusters (pages DESC, id) WHERE pages > 1;
COMMENT ON TABLE page_clusters IS 'Owner: search. Texts, each with all that is nearly the same: at most 3 bits of 64 away from the one met first.';
COMMENT ON COLUMN page_clusters.bands IS 'The four quarters of the simhash, each with its place: of two that differ in 3 bits one quarter is equal.';
COMMENT ON COLUMN page_clusters.pages IS 'How many, as of the last indexing; pages that were removed since still count.';

CREATE TABLE indexed_pages (
    page_id      bigint      PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    domain_id    bigint      NOT NULL,
    config       text        NOT NULL,
    content_hash bytea,
    read_at      timestamptz NOT NULL,
    cluster_id   bigint,
    language     text,
    depth        smallint    NOT NULL DEFAULT 0,
    terms        tsvector    NOT NULL,
    signals      numeric
);
CREATE INDEX indexed_pages_terms ON indexed_pages USING gin (terms) WITH (gin_pending_list_limit = 262144);
CREATE INDEX indexed_pages_cluster ON indexed_pages (cluster_id, page_id) WHERE cluster_id IS NOT NULL;
CREATE INDEX indexed_pages_domain ON indexed_pages (domain_id, cluster_id);
COMMENT ON TABLE indexed_pages IS 'Owner: search. What can be found: a copy of the keywords of pages, made by the job index some time after they were read.';
COMMENT ON COLUMN indexed_pages.read_at IS 'When this content was read first; a visit that finds it unchanged does not count.';
COMMENT ON COLUMN indexed_pages.terms IS 'Lexemes without places, and marks that begin with =: words of the title, parts of the URL, domain, language, configuration, tier, day, month.';
COMMENT ON COLUMN indexed_pages.language IS 'Of the page when it was indexed, as its depth: so that counting hits by language reads no page.';
COMMENT ON COLUMN indexed_pages.signals IS 'The digest of title, description, language and content hash as they were read; NULL: indexed before there was one.';

CREATE TABLE indexed_products (
    product_id bigint      PRIMARY KEY REFERENCES products (id) ON DELETE CASCADE,
    config     text        NOT NULL,
    updated_at timestamptz NOT NULL,
    terms      tsvector    NOT NULL
);
CREATE INDEX indexed_products_terms ON indexed_products USING gin (terms) WITH (gin_pending_list_limit = 262144);
COMMENT ON TABLE indexed_products IS 'Owner: search. What can be found of products: name (A), brand and category (B), description (D), by the job index.';
COMMENT ON COLUMN indexed_products.updated_at IS 'Of the product, when it was indexed.';
COMMENT ON COLUMN indexed_products.terms IS 'Lexemes with their places, and marks that begin with =: words of the name, domain, language, brand, category, availability, currency, price, day, month.';

CREATE TABLE search_languages (
    language text PRIMARY KEY,
    config   text NOT NULL
);
COMMENT ON TABLE search_languages IS 'Owner: search. Languages met in pages, each with its configuration: a query without a language is tried in all of them.';

CREATE TABLE search_words (
    word text      PRIMARY KEY,
    seen integer   NOT NULL,
    near integer[] NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX search_words_near ON search_words USING gin (near);
COMMENT ON TABLE search_words IS 'Owner: search. Words of titles and descriptions, for who misspells one.';
COMMENT ON COLUMN search_words.near IS 'Checksums of the word without its accents, and of it without each of its letters.';

CREATE TABLE search_marks (
    name    text        PRIMARY KEY,
    read_at timestamptz NOT NULL,
    page_id bigint      NOT NULL
);
COMMENT ON TABLE search_marks IS 'Owner: search. Up to which page, in the order they were read, each index is made.';

-- Task control -------------------------------------------------------------------------------------------------------

CREATE INDEX crawl_tasks_failed ON crawl_tasks (domain_id, completed_at) WHERE status = 'failed';
CREATE INDEX crawl_tasks_batch ON crawl_tasks (batch_id, page_id, id) WHERE batch_id IS NOT NULL;
CREATE INDEX crawl_tasks_dependents ON crawl_tasks (depends_on) WHERE depends_on IS NOT NULL AND outcome IS NULL;
CREATE INDEX domains_switched_off ON domains (claimed_by) WHERE claimed_by IS NOT NULL AND NOT is_active;
COMMENT ON COLUMN crawl_tasks.recrawl_count IS 'How many visits of the same order came before it: 0, 1, 2 … of a page that recurs.';
COMMENT ON COLUMN crawl_tasks.is_recurring IS 'False: its page is not visited again after it, whatever the frequency.';
COMMENT ON COLUMN crawl_tasks.revisit_every_s IS 'The frequency this order asks for; NULL: as the page or its domain says.';
COMMENT ON COLUMN crawl_tasks.max_retries IS 'New tasks after it failed; NULL: the setting.';
COMMENT ON COLUMN crawl_tasks.batch_id IS 'The batch it was ordered in; its tries belong to it too. No foreign key: the history outlives batches.';
COMMENT ON COLUMN crawl_tasks.depends_on IS 'The task that has to be completed before it; if that fails and is tried again, the other try.';
COMMENT ON COLUMN crawl_tasks.is_waiting IS 'Paused for its dependency, not by a person: it goes on by itself.';
COMMENT ON COLUMN crawl_tasks.webhook_url IS 'Told when it is closed: a row of webhook_calls, by a trigger.';

CREATE TABLE batches (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text        NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    created_by text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE batches IS 'Owner: frontier. Tasks that were ordered together, under a name.';

CREATE TABLE task_orders (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id     bigint      NOT NULL,
    verb        text        NOT NULL,
    from_status task_status,
    to_status   task_status NOT NULL,
    ordered_at  timestamptz NOT NULL DEFAULT now(),
    ordered_by  text        NOT NULL,
    reason      text
);
CREATE INDEX task_orders_of ON task_orders (task_id, id DESC);
COMMENT ON TABLE task_orders IS 'Owner: frontier. What people ordered for tasks: when, by whom, why. No foreign key: history moves away.';
COMMENT ON COLUMN task_orders.from_status IS 'NULL: the order made the task.';

CREATE TABLE task_signals (
    worker_id bigint NOT NULL,
    task_id   bigint NOT NULL,
    PRIMARY KEY (worker_id, task_id)
);
COMMENT ON TABLE task_signals IS 'Owner: frontier. Running tasks that were paused or cancelled: their workers look here every second, and take away what they heard.';

CREATE TABLE webhook_calls (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text        NOT NULL DEFAULT 'task' CHECK (kind IN ('task', 'alert')),
    task_id      bigint      UNIQUE,
    payload      jsonb,
    url          text        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    tries        integer     NOT NULL DEFAULT 0,
    next_try_at  timestamptz DEFAULT now(),
    tried_at     timestamptz,
    delivered_at timestamptz,
    died_at      timestamptz,
    status_code  smallint,
    error        text,
    CHECK ((kind = 'task') = (task_id IS NOT NULL)),
    CHECK ((kind = 'task') = (payload IS NULL)),
    CHECK (delivered_at IS NULL OR died_at IS NULL),
    CHECK ((next_try_at IS NULL) = (delivered_at IS NOT NULL OR died_at IS NOT NULL))
);
CREATE INDEX webhook_calls_due ON webhook_calls (next_try_at) WHERE next_try_at IS NOT NULL;
COMMENT ON TABLE webhook_calls IS 'Owner: webhooks, those of tasks by a trigger. What somebody wants to hear of, one call each, tried until it was heard or a day is over.';
COMMENT ON COLUMN webhook_calls.payload IS 'What is told; NULL: the task, as it was closed.';
COMMENT ON COLUMN webhook_calls.next_try_at IS 'NULL: it was delivered, or given up.';

-- Readings and links -------------------------------------------------------------------------------------------------

-- Jobs and statistics ----------------------------------------------------------------------------------------------

CREATE TABLE jobs (
    name       text        PRIMARY KEY,
    every_s    double precision NOT NULL CHECK (every_s > 0),
    next_at    timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    ended_at   timestamptz,
    result     text,
    error      text,
    times      bigint      NOT NULL DEFAULT 0
);
COMMENT ON TABLE jobs IS 'Owner: scheduler. Periodic jobs. The process that holds the lock of a row runs the job, so that it runs once.';

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

-- Accounts -----------------------------------------------------------------------------------------------------------

CREATE TABLE users (
    id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name                text        NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    role                text        NOT NULL CHECK (role IN ('user', 'admin')),
    is_active           boolean     NOT NULL DEFAULT true,
    password_hash       text,
    password_changed_at timestamptz,
    last_login_at       timestamptz,
    created_by          text        NOT NULL,
    created_at          timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX users_by_name ON users (lower(name));
COMMENT ON TABLE users IS 'Owner: accounts. People. Their names differ in more than the case of letters.';
COMMENT ON COLUMN users.password_hash IS 'argon2id, with its salt and parameters; NULL: invited, and did not choose one yet.';

CREATE TABLE invites (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    secret_hash bytea       NOT NULL UNIQUE,
    user_id     bigint      REFERENCES users (id) ON DELETE CASCADE,
    created_by  text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL
);
CREATE INDEX invites_of_users ON invites (user_id);
COMMENT ON TABLE invites IS 'Owner: accounts. One-time links with which somebody chooses a password; gone once used. Of their secrets only the SHA-256.';
COMMENT ON COLUMN invites.user_id IS 'NULL: whoever comes first becomes the first admin; worth nothing once somebody has a password.';

CREATE TABLE sessions (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    secret_hash  bytea       NOT NULL UNIQUE,
    user_id      bigint      NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    ip           text,
    user_agent   text,
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL
);
CREATE INDEX sessions_of_users ON sessions (user_id, id);
CREATE INDEX sessions_by_end ON sessions (expires_at);
COMMENT ON TABLE sessions IS 'Owner: accounts. Who is signed in. Of a session''s secret only the SHA-256; last_used_at lags by up to a minute.';

CREATE TABLE api_tokens (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    secret_hash  bytea       NOT NULL UNIQUE,
    user_id      bigint      NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name         text        NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    scope        text        NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    created_by   text        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,
    expires_at   timestamptz,
    revoked_at   timestamptz
);
CREATE INDEX api_tokens_of_users ON api_tokens (user_id, id);
COMMENT ON TABLE api_tokens IS 'Owner: accounts. Credentials of programs. Of a token only the SHA-256; a revoked one stays for the record.';

CREATE TABLE login_attempts (
    subject      text        PRIMARY KEY CHECK (length(subject) <= 200),
    failures     integer     NOT NULL DEFAULT 0,
    failed_at    timestamptz,
    wait_until   timestamptz,
    succeeded_at timestamptz
);
COMMENT ON TABLE login_attempts IS 'Owner: accounts. Wrong passwords in a row, by account, by address, and by account and address together.';

CREATE UNLOGGED TABLE rate_counts (
    subject  text    NOT NULL,
    slot     bigint  NOT NULL,
    requests integer NOT NULL,
    PRIMARY KEY (subject, slot)
);
CREATE INDEX rate_counts_by_slot ON rate_counts (slot);
COMMENT ON TABLE rate_counts IS 'Owner: accounts. Requests of the last minute by second, of all API processes together. Unlogged: a crash may forget a minute.';

CREATE TABLE audit_log (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL DEFAULT now(),
    who         text        NOT NULL,
    via         text        NOT NULL,
    ip          text,
    action      text        NOT NULL,
    object_kind text,
    object_id   text,
    outcome     text        NOT NULL DEFAULT 'done' CHECK (outcome IN ('done', 'denied', 'failed')),
    details     jsonb       NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_log_by_who ON audit_log (who, id);
CREATE INDEX audit_log_by_action ON audit_log (action text_pattern_ops, id);
CREATE INDEX audit_log_by_object ON audit_log (object_kind, object_id, id);
COMMENT ON TABLE audit_log IS 'Owner: accounts. Every change an operator made: when, who, how, to what. Only ever grows.';

CREATE FUNCTION reject_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log only grows' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER audit_log_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION reject_audit_change();

-- Metrics by the minute, alerts, error patterns ----------------------------------------------------------------------

CREATE TABLE series_parts (
    minute    timestamptz      NOT NULL,
    worker_id bigint           NOT NULL,
    metric    text             NOT NULL,
    label     text             NOT NULL,
    amount    double precision NOT NULL,
    PRIMARY KEY (minute, worker_id, metric, label)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
COMMENT ON TABLE series_parts IS 'Owner: stats. What each worker did in a minute, counted in the transaction that records it; the job series folds it into series. Workers have rows of their own, so that none waits for another.';

CREATE TABLE series (
    minute  timestamptz      NOT NULL,
    metric  text             NOT NULL,
    label   text             NOT NULL,
    amount  double precision NOT NULL,
    samples integer          NOT NULL DEFAULT 0,
    most    double precision,
    PRIMARY KEY (metric, minute, label)
);
CREATE INDEX series_minute ON series USING brin (minute);
COMMENT ON TABLE series IS 'Owner: stats. Numbers by the minute, for seven days: what was done, and samples of what was to do.';
COMMENT ON COLUMN series.samples IS '0: something that is counted, amount is how much of it. Else amount is the sum of so many samples.';
COMMENT ON COLUMN series.most IS 'Of samples, the highest.';

CREATE TABLE series_days (
    day     date             NOT NULL,
    metric  text             NOT NULL,
    label   text             NOT NULL,
    amount  double precision NOT NULL,
    samples integer          NOT NULL DEFAULT 0,
    most    double precision,
    PRIMARY KEY (metric, day, label)
);
COMMENT ON TABLE series_days IS 'Owner: stats. The same by day (UTC), from minutes that became seven days old.';

CREATE TABLE series_totals (
    metric text             NOT NULL,
    label  text             NOT NULL,
    amount double precision NOT NULL,
    PRIMARY KEY (metric, label)
);
COMMENT ON TABLE series_totals IS 'Owner: stats. What was counted, since ever; together with series_parts it never goes back.';

CREATE TABLE alerts (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule            text        NOT NULL,
    subject         text        NOT NULL DEFAULT '',
    severity        text        NOT NULL CHECK (severity IN ('warning', 'critical')),
    message         text        NOT NULL,
    value           double precision,
    raised_at       timestamptz NOT NULL DEFAULT now(),
    seen_at         timestamptz NOT NULL DEFAULT now(),
    acknowledged_at timestamptz,
    acknowledged_by text,
    resolved_at     timestamptz,
    resolved_by     text,
    CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL)),
    CHECK ((resolved_at IS NULL) = (resolved_by IS NULL))
);
CREATE UNIQUE INDEX alerts_open ON alerts (rule, subject) WHERE resolved_at IS NULL;
CREATE INDEX alerts_raised ON alerts (raised_at DESC, id DESC);
COMMENT ON TABLE alerts IS 'Owner: alerts. Something a person should look at: raised, acknowledged, resolved. One at most is open for a rule and a subject.';
COMMENT ON COLUMN alerts.subject IS 'What it is about, such as a domain or a job; empty: all of it.';
COMMENT ON COLUMN alerts.seen_at IS 'When its rule last found it so.';
COMMENT ON COLUMN alerts.resolved_by IS 'A person, or rule: it was quiet for long enough.';

CREATE TABLE alert_events (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    alert_id bigint      NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
    what     text        NOT NULL CHECK (what IN ('raised', 'acknowledged', 'resolved')),
    at       timestamptz NOT NULL DEFAULT now(),
    by       text        NOT NULL,
    note     text
);
CREATE INDEX alert_events_of ON alert_events (alert_id, id);
COMMENT ON TABLE alert_events IS 'Owner: alerts. What happened to an alert, when, and by whom.';

CREATE TABLE alert_watches (
    rule        text        NOT NULL,
    subject     text        NOT NULL,
    bad_since   timestamptz,
    quiet_since timestamptz,
    seen_at     timestamptz NOT NULL,
    PRIMARY KEY (rule, subject)
);
COMMENT ON TABLE alert_watches IS 'Owner: alerts. What a rule began to find, and not yet long enough; and open alerts that began to be quiet.';

CREATE TABLE alert_mutes (
    rule        text        NOT NULL,
    subject     text        NOT NULL DEFAULT '',
    muted_until timestamptz NOT NULL,
    muted_by    text        NOT NULL,
    reason      text,
    PRIMARY KEY (rule, subject)
);
COMMENT ON TABLE alert_mutes IS 'Owner: alerts. Rules nobody is told of for a while; an empty subject stands for all of them. Their alerts are raised and shown all the same.';

CREATE TABLE alert_targets (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url        text        NOT NULL UNIQUE CHECK (length(url) BETWEEN 1 AND 2000),
    severity   text        NOT NULL DEFAULT 'warning' CHECK (severity IN ('warning', 'critical')),
    is_active  boolean     NOT NULL DEFAULT true,
    created_by text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE alert_targets IS 'Owner: alerts. Webhooks that are told when an alert is raised and when it is resolved.';
COMMENT ON COLUMN alert_targets.severity IS 'Told of this severity and worse.';

CREATE TABLE error_days (
    day         date        NOT NULL,
    fingerprint text        NOT NULL,
    code        text        NOT NULL,
    blame       text        NOT NULL,
    shape       text        NOT NULL,
    failures    integer     NOT NULL,
    domains     integer     NOT NULL,
    first_at    timestamptz NOT NULL,
    last_at     timestamptz NOT NULL,
    sample      text        NOT NULL,
    sample_task bigint,
    PRIMARY KEY (fingerprint, day)
);
CREATE INDEX error_days_day ON error_days (day);
COMMENT ON TABLE error_days IS 'Owner: stats. Failures by what they have in common, on a day (UTC): written by the job errors, kept when the history has moved away.';
COMMENT ON COLUMN error_days.shape IS 'The message without what differs from one failure to the next.';

CREATE TABLE plugin_errors (
    plugin    text        NOT NULL,
    hook      text        NOT NULL,
    errors    bigint      NOT NULL,
    error     text        NOT NULL,
    traceback text        NOT NULL,
    url       text,
    first_at  timestamptz NOT NULL,
    last_at   timestamptz NOT NULL,
    PRIMARY KEY (plugin, hook)
);
COMMENT ON TABLE plugin_errors IS 'Owner: plugins. Failures of plug-ins by hook: their number, and the last one.';

CREATE INDEX errors_task ON errors (task_id);
CREATE INDEX crawl_tasks_ours ON crawl_tasks (completed_at) WHERE outcome = 'failed' AND blame IN ('us', 'parser');
CREATE INDEX product_days_day ON product_days (day);

CREATE FUNCTION error_shape(message text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT left(regexp_replace(regexp_replace(left(message, 1000), '''[^'']*''|"[^"]*"', '…', 'g'),
                               '[^\s''"]*([0-9/]|[.:][^\s''"])[^\s''"]*', '…', 'g'), 300)
$$;
COMMENT ON FUNCTION error_shape IS 'What messages of one problem have in common: without quoted text, and without words that are URLs, names of hosts or numbers.';

CREATE FUNCTION stack_shape(stack text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT COALESCE(string_agg(frame[1] || ':' || frame[2], ' < ' ORDER BY n DESC), '')
    FROM (SELECT frame, n FROM regexp_matches(stack, 'File "(?:[^"]*/)?([^"/]+)", line \d+, in ([^\s]+)', 'g') WITH ORDINALITY AS f (frame, n)
          ORDER BY n DESC LIMIT 3) last
$$;
COMMENT ON FUNCTION stack_shape IS 'The innermost three frames of a stack trace, without line numbers: the same bug after a change elsewhere in the file.';

CREATE FUNCTION failure_shape(code text, message text, stack text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN stack IS NOT NULL THEN left(split_part(message, ':', 1), 100) || ' at ' || stack_shape(stack)
                WHEN code = 'http_status' THEN left(message, 300)
                ELSE COALESCE(error_shape(message), '') END
$$;
COMMENT ON FUNCTION failure_shape IS 'What failures of one problem have in common. Of a bug it is the place, of a refusal the status code, else the message.';

-- Life cycle ----------------------------------------------------------------------------------------------------------

CREATE TABLE archive_parts (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text        NOT NULL CHECK (kind IN ('visits', 'failures', 'pages')),
    month        date        NOT NULL CHECK (EXTRACT(day FROM month) = 1),
    status       text        NOT NULL DEFAULT 'writing' CHECK (status IN ('writing', 'moving', 'moved', 'purged')),
    file         text        NOT NULL DEFAULT '',
    row_count    bigint      NOT NULL DEFAULT 0,
    moved        bigint      NOT NULL DEFAULT 0,
    first_id     bigint,
    last_id      bigint,
    size_bytes   bigint      NOT NULL DEFAULT 0,
    stored_bytes bigint      NOT NULL DEFAULT 0,
    sha256       bytea       CHECK (octet_length(sha256) = 32),
    revision     text        NOT NULL,
    created_by   text        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    moved_at     timestamptz,
    CHECK (status = 'writing' OR (sha256 IS NOT NULL AND file <> '' AND first_id IS NOT NULL AND last_id IS NOT NULL)),
    CHECK (moved <= row_count)
);
CREATE INDEX cold_slices_month ON archive_parts (month, kind);
COMMENT ON TABLE archive_parts IS 'Owner: frontier. Visits that left the history for a file, month by month, and signals of pages that are there no longer. The row is there before the file is written, and says moving before the first of it goes.';
COMMENT ON COLUMN archive_parts.month IS 'In which its visits ended, or its pages were last read (UTC): the first of it.';
COMMENT ON COLUMN archive_parts.file IS 'Below the folder of cold files.';
COMMENT ON COLUMN archive_parts.moved IS 'How many of its visits left the history so far.';
COMMENT ON COLUMN archive_parts.sha256 IS 'Of the file as it is on disk.';
COMMENT ON COLUMN archive_parts.revision IS 'Of the schema the visits were written under.';

CREATE TABLE archived_rows (
    domain_id bigint       NOT NULL,
    run_id    bigint,
    outcome   task_outcome NOT NULL,
    is_image  boolean      NOT NULL,
    tasks     bigint       NOT NULL,
    errors    bigint       NOT NULL,
    refused   bigint       NOT NULL,
    is_sitemap boolean     NOT NULL DEFAULT false,
    UNIQUE NULLS NOT DISTINCT (domain_id, run_id, outcome, is_image, is_sitemap)
);
CREATE INDEX departures_run ON archived_rows (run_id);
COMMENT ON TABLE archived_rows IS 'Owner: frontier. Closed tasks that left the history, counted in the transaction that took them: what counters are recounted from, together with those that are there.';
COMMENT ON COLUMN archived_rows.errors IS 'Of them, those the site or the network was to blame for.';
COMMENT ON COLUMN archived_rows.refused IS 'Of them, those that were answered 400 or higher.';

CREATE TABLE restored_tasks (
    slice_id     bigint      NOT NULL REFERENCES archive_parts (id),
    id           bigint      NOT NULL,
    page_id      bigint      NOT NULL,
    domain_id    bigint      NOT NULL,
    domain       text        NOT NULL,
    url          text        NOT NULL,
    outcome      text        NOT NULL,
    status_code  smallint,
    error_code   text,
    completed_at timestamptz NOT NULL,
    fields       jsonb       NOT NULL,
    PRIMARY KEY (slice_id, id)
);
CREATE INDEX restored_tasks_page ON restored_tasks (page_id, id);
COMMENT ON TABLE restored_tasks IS 'Owner: frontier. Visits read back from cold files, beside the history, to look at; nothing else counts them.';
COMMENT ON COLUMN restored_tasks.fields IS 'Every column the visit had, as text.';

CREATE TABLE restored_pages (
    slice_id   bigint      NOT NULL REFERENCES archive_parts (id),
    id         bigint      NOT NULL,
    domain_id  bigint      NOT NULL,
    domain     text        NOT NULL,
    url        text        NOT NULL,
    title      text,
    fetched_at timestamptz NOT NULL,
    fields     jsonb       NOT NULL,
    PRIMARY KEY (slice_id, id)
);
COMMENT ON TABLE restored_pages IS 'Owner: frontier. Signals of pages read back from cold files, to look at; the pages themselves never left.';
COMMENT ON COLUMN restored_pages.fields IS 'Everything the file says of the page, as text.';

CREATE TABLE denied_domains (
    name      text        PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 260),
    reason    text        NOT NULL CHECK (length(reason) > 0),
    denied_by text        NOT NULL,
    denied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE denied_domains IS 'Owner: domains. Names that no link, list or order adds as a domain; they outlive a purge.';

CREATE TABLE purges (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    purged_at timestamptz NOT NULL DEFAULT now(),
    purged_by text        NOT NULL,
    reason    text        NOT NULL,
    what      text        NOT NULL CHECK (what IN ('domain', 'pages', 'tasks', 'cold')),
    subject   text        NOT NULL,
    counts    jsonb       NOT NULL DEFAULT '{}',
    tasks     bigint      NOT NULL DEFAULT 0,
    ended_at  timestamptz
);
COMMENT ON TABLE purges IS 'Owner: retention. What an operator had deleted for good: who, when, why, how much.';
COMMENT ON COLUMN purges.tasks IS 'Closed tasks that left the history by it.';
COMMENT ON COLUMN purges.ended_at IS 'When all of it was gone; NULL: it goes on, or was stopped before.';

CREATE TABLE storage_days (
    day        date   NOT NULL,
    what       text   NOT NULL,
    size_bytes bigint NOT NULL,
    rows       bigint NOT NULL,
    PRIMARY KEY (what, day)
);
COMMENT ON TABLE storage_days IS 'Owner: stats. How large tables were on a day (UTC), to see them grow.';

-- Decisions of the database ------------------------------------------------------------------------------------------

CREATE FUNCTION window_end(at timestamptz, starts time, ends time, zone text) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT CASE WHEN CASE WHEN starts < ends THEN t >= starts AND t < ends ELSE t >= starts OR t < ends END
                THEN (day + ends + CASE WHEN ends <= t THEN interval '1 day' ELSE interval '0' END) AT TIME ZONE zone END
    FROM (SELECT (at AT TIME ZONE zone)::time AS t, (at AT TIME ZONE zone)::date AS day) clock
$$;
COMMENT ON FUNCTION window_end IS 'When the daily maintenance window we are in ends; NULL outside of it.';

CREATE FUNCTION period_end(at timestamptz, period text, zone text) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT CASE period WHEN 'day' THEN (date_trunc('day', at AT TIME ZONE zone) + interval '1 day') AT TIME ZONE zone
                       WHEN 'week' THEN (date_trunc('week', at AT TIME ZONE zone) + interval '1 week') AT TIME ZONE zone END
$$;
COMMENT ON FUNCTION period_end IS 'When the period of a page budget ends that this moment is in; NULL for the period run.';

CREATE FUNCTION pages_left(d domains, page_limit integer, at timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT LEAST(page_limit, d.max_pages_per_run) - CASE WHEN d.budget_until <= at THEN 0 ELSE d.run_pages END
$$;
COMMENT ON FUNCTION pages_left IS 'What is left of a domain''s page budget in its current period; NULL: no budget. page_limit is that of its run.';

CREATE FUNCTION has_budget(d domains, page_limit integer, at timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT COALESCE(pages_left(d, page_limit, at) > 0, true)
        OR NOT d.counts_revisits AND EXISTS (SELECT FROM crawl_tasks t WHERE t.domain_id = d.id AND t.outcome IS NULL AND t.locked_at IS NULL
                                                                         AND t.status = 'pending' AND t.scheduled_for <= at)
$$;
COMMENT ON FUNCTION has_budget IS 'Whether the page budget of a domain lets it be claimed at this time: something is left of it, or a visit is due that may be one it does not count.';

CREATE FUNCTION claim_conditions(d domains, page_limit integer)
RETURNS TABLE (gate text, is_open boolean, opens_at timestamptz) LANGUAGE sql STABLE AS $$
    VALUES ('state', d.status IN ('pending', 'active'), CASE WHEN d.status NOT IN ('pending', 'active') THEN d.next_crawl_after END),
           ('cooldown', COALESCE(d.next_crawl_after <= now(), true), d.next_crawl_after),
           ('switch', d.is_active, NULL),
           ('window', window_end(now(), d.maintenance_start, d.maintenance_end, d.time_zone) IS NULL,
                      window_end(now(), d.maintenance_start, d.maintenance_end, d.time_zone)),
           ('budget', has_budget(d, page_limit, now()), d.budget_until),
           ('lease', d.claimed_by IS NULL, d.claim_expires_at),
           ('frontier', COALESCE(d.ready_at <= now(), false), d.ready_at)
$$;
COMMENT ON FUNCTION claim_conditions IS 'Whether a domain may be claimed now, condition by condition. The claim uses it, and so does forager why. A page budget that is spent holds back new pages; revisits are charged to it only if its settings say so.';

CREATE FUNCTION like_patterns(globs jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT array_agg(replace(replace(replace(replace(replace(g, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%'), '?', '_'))
    FROM jsonb_array_elements_text(CASE jsonb_typeof(globs) WHEN 'array' THEN globs ELSE '[]' END) AS g
$$;
COMMENT ON FUNCTION like_patterns IS 'Globs as LIKE patterns; NULL: none.';

CREATE FUNCTION like_prefixes(prefixes jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT array_agg(replace(replace(replace(p, '\', '\\'), '%', '\%'), '_', '\_') || '%')
    FROM jsonb_array_elements_text(CASE jsonb_typeof(prefixes) WHEN 'array' THEN prefixes ELSE '[]' END) AS p
$$;
COMMENT ON FUNCTION like_prefixes IS 'Prefixes of URLs as LIKE patterns; NULL: none.';

CREATE FUNCTION in_scope(p pages, s domain_settings, max_depth integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p.depth <= CASE max_depth WHEN 0 THEN 0 ELSE COALESCE(s.max_depth, max_depth) END
       AND (p.is_image OR p.is_sitemap OR p.is_seed
            OR (s.url_folders IS NULL OR p.url LIKE ANY (s.url_folders)) AND (s.url_include IS NULL OR p.url LIKE ANY (s.url_include)))
       AND (s.url_exclude IS NULL OR p.url NOT LIKE ALL (s.url_exclude))
$$;
COMMENT ON FUNCTION in_scope IS 'Whether the crawl settings of its domain let a page be visited. Images that pages show, sitemaps and feeds need not be in scope. max_depth is the limit of its run, which a limit of the domain replaces; 0: only seeds.';

CREATE FUNCTION is_charged(t crawl_tasks, p pages, counts_revisits boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT NOT p.is_image AND NOT p.is_sitemap AND (counts_revisits OR (p.status = 'queued' AND t.retry_count = 0))
$$;
COMMENT ON FUNCTION is_charged IS 'Whether a visit counts against the page budget of its domain: first visits do, retries, images and sitemaps do not, revisits where the settings say so.';

CREATE FUNCTION kept_places(visits bigint, want integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT ((visits + GREATEST(want, 0)) / 4 - visits / 4)::integer
$$;
COMMENT ON FUNCTION kept_places IS 'Of the next places in a domain''s queue, those kept for revisits, and as many for first visits, whatever the priorities of the others: one in four, counted on by the visits so far, so that it holds for single places too.';

CREATE FUNCTION score_terms(d domains, at timestamptz)
RETURNS TABLE (seed_rank double precision, boost double precision, new_pages double precision, staleness double precision,
               image_yield double precision, recent_errors double precision) LANGUAGE sql IMMUTABLE AS $$
    SELECT COALESCE(GREATEST(0, 1000 * (1 - log(d.seed_rank::float8) / 7)), 0),
           COALESCE(d.priority_boost, 0),
           LEAST(d.frontier_size, 500) * 2.0::float8,
           LEAST(90, days.idle) * 5,
           CASE WHEN d.images_policy IN ('none', 'found') THEN 0 ELSE LEAST(d.image_yield_rate, 5) * 100 END,
           -300 * COALESCE(d.recent_error_rate, 0) * power(0.5, LEAST(days.idle, 365) / 7)
    FROM (SELECT GREATEST(0, EXTRACT(EPOCH FROM at - COALESCE(d.last_crawled_at, d.first_seen_at)) / 86400)::float8 AS idle) days
$$;
COMMENT ON FUNCTION score_terms IS 'The terms of a domain''s priority; their sum is the score, higher is sooner. domains/score.py explains each to people.';

CREATE FUNCTION domain_score(d domains, at timestamptz) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT s.seed_rank + s.boost + s.new_pages + s.staleness + s.image_yield + s.recent_errors FROM score_terms(d, at) s
$$;

CREATE FUNCTION next_time(since timestamptz, at time, weekday integer) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT min(m.moment)
    FROM (SELECT ((since AT TIME ZONE 'UTC')::date + n + at) AT TIME ZONE 'UTC' AS moment FROM generate_series(0, 7) AS n) m
    WHERE m.moment > since AND (weekday IS NULL OR EXTRACT(isodow FROM m.moment AT TIME ZONE 'UTC') = weekday)
$$;
COMMENT ON FUNCTION next_time IS 'The next moment with this time of day (UTC), on this day of the week (1 is Monday) or any; NULL without a time.';

CREATE FUNCTION old_visits(visit_s double precision, failure_s double precision) RETURNS SETOF crawl_tasks LANGUAGE sql STABLE AS $$
    SELECT t.*
    FROM crawl_tasks t JOIN domains d ON d.id = t.domain_id
    WHERE t.outcome IS NOT NULL
      AND t.completed_at < (SELECT max(r.day) FROM domain_days r)::timestamp AT TIME ZONE 'UTC'
      AND t.completed_at < date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '1 day'
      AND t.completed_at < now() - make_interval(secs => COALESCE(
              d.history_retention_s, CASE WHEN t.outcome IN ('success', 'cancelled') THEN visit_s ELSE failure_s END))
      AND EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id AND n.outcome <> 'cancelled'
                  AND n.error_code IS DISTINCT FROM 'address_refused')
      AND (t.body_ref IS NULL
           OR (EXISTS (SELECT FROM crawl_tasks n WHERE n.page_id = t.page_id AND n.id > t.id AND n.body_ref IS NOT NULL)
               AND NOT EXISTS (SELECT FROM bodies b WHERE b.name = split_part(t.body_ref, ':', 2) AND b.kind <> 'archive' AND b.dropped_at IS NULL)))
      AND (t.batch_id IS NULL OR EXISTS (SELECT FROM crawl_tasks n WHERE n.batch_id = t.batch_id AND n.page_id = t.page_id AND n.id > t.id))
      AND (t.webhook_url IS NULL OR NOT EXISTS (SELECT FROM webhook_calls w WHERE w.task_id = t.id AND w.delivered_at IS NULL))
      AND NOT EXISTS (SELECT FROM crawl_tasks n WHERE n.depends_on = t.id AND n.outcome IS NULL)
$$;
COMMENT ON FUNCTION old_visits IS 'Closed tasks that may leave for cold files: old enough, of a day that is rolled up, not the last word on their page or for their batch, no way to a body that is there, and nobody waits for them.';

CREATE FUNCTION old_pages(page_s double precision) RETURNS SETOF pages LANGUAGE sql STABLE AS $$
    SELECT p.*
    FROM pages p
    WHERE p.status IN ('gone', 'failed', 'blocked') AND p.fetched_at < now() - make_interval(secs => page_s)
      AND (p.title IS NOT NULL OR p.description IS NOT NULL OR p.keywords_tsv IS NOT NULL OR p.content_hash IS NOT NULL)
$$;
COMMENT ON FUNCTION old_pages IS 'Pages whose signals may leave for cold files: they are there no longer, and were last read long ago. NULL: none.';

-- Invariants that the database enforces ------------------------------------------------------------------------------

CREATE TABLE domain_transitions (
    from_status domain_status NOT NULL,
    to_status   domain_status NOT NULL,
    PRIMARY KEY (from_status, to_status)
);
COMMENT ON TABLE domain_transitions IS 'Owner: domains. The allowed moves of a domain; domains/status.py holds the same table and a test compares them.';
INSERT INTO domain_transitions VALUES
    ('pending', 'active'), ('pending', 'blocked'), ('pending', 'unreachable'),
    ('active', 'exhausted'), ('active', 'blocked'), ('active', 'unreachable'),
    ('exhausted', 'pending'), ('exhausted', 'active'),
    ('blocked', 'pending'), ('blocked', 'active'),
    ('unreachable', 'pending'), ('unreachable', 'active');

CREATE FUNCTION reject_domain_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM domain_transitions WHERE from_status = OLD.status AND to_status = NEW.status) THEN
        RAISE EXCEPTION 'a domain cannot move from % to %', OLD.status, NEW.status USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER domains_move BEFORE UPDATE OF status ON domains FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION reject_domain_transition();

CREATE FUNCTION keep_domain_of_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pages WHERE domain_id = OLD.id) THEN
        RAISE EXCEPTION 'domain % still has pages', OLD.id USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION keep_domain_of_pages IS 'One half of a foreign key; the other is the lock of add_pages, once for each domain. A look-up for each new page was a quarter of its price.';
CREATE TRIGGER domains_of_pages_stay AFTER DELETE ON domains FOR EACH ROW EXECUTE FUNCTION keep_domain_of_pages();

CREATE FUNCTION keep_domain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.updated_at := now();
        IF NEW.priority_boost <> OLD.priority_boost THEN
            NEW.priority_score := NEW.priority_score + NEW.priority_boost - OLD.priority_boost;
        END IF;
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
    IF NEW.counts_revisits AND NEW.run_pages > 0 AND pages_left(NEW, (SELECT max_pages_per_domain FROM runs WHERE id = NEW.run_id), now()) <= 0 THEN
        NEW.due_at := CASE WHEN NEW.due_at IS NOT NULL AND NEW.budget_until IS NOT NULL THEN GREATEST(NEW.due_at, NEW.budget_until) END;
    END IF;
    IF NEW.maintenance_start IS NOT NULL AND NEW.due_at IS NOT NULL THEN
        NEW.due_at := COALESCE(window_end(GREATEST(NEW.due_at, now()), NEW.maintenance_start, NEW.maintenance_end, NEW.time_zone), NEW.due_at);
    END IF;
    NEW.is_due := COALESCE(NEW.due_at <= now(), false);
    NEW.urgency := CASE WHEN NEW.urgent_at <= now() THEN 2 WHEN NEW.priority_boost > 0 THEN 1 ELSE 0 END;
    RETURN NEW;
END $$;
CREATE TRIGGER domains_keep BEFORE INSERT OR UPDATE ON domains FOR EACH ROW EXECUTE FUNCTION keep_domain();

CREATE FUNCTION recount_urgency(ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM domains WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
    UPDATE domains d SET urgent_at = n.at
    FROM (SELECT i.id, (SELECT min(t.scheduled_for) FROM crawl_tasks t
                        WHERE t.domain_id = i.id AND t.is_urgent AND t.outcome IS NULL AND t.locked_at IS NULL AND t.status = 'pending') AS at
          FROM unnest(ids) AS i (id)) n
    WHERE d.id = n.id AND d.urgent_at IS DISTINCT FROM n.at;
END $$;
COMMENT ON FUNCTION recount_urgency IS 'Sets urgent_at of domains from their tasks. Locks them first, so that the count sees what another transaction that held them committed.';

CREATE FUNCTION keep_urgency() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM recount_urgency(CASE TG_OP WHEN 'INSERT' THEN ARRAY[NEW.domain_id] WHEN 'DELETE' THEN ARRAY[OLD.domain_id]
                                       ELSE ARRAY[OLD.domain_id, NEW.domain_id] END);
    RETURN NULL;
END $$;
CREATE TRIGGER crawl_tasks_urgent_new AFTER INSERT ON crawl_tasks FOR EACH ROW WHEN (NEW.is_urgent) EXECUTE FUNCTION keep_urgency();
CREATE TRIGGER crawl_tasks_urgent_change AFTER UPDATE ON crawl_tasks FOR EACH ROW
    WHEN ((OLD.is_urgent OR NEW.is_urgent) AND OLD.outcome IS NULL) EXECUTE FUNCTION keep_urgency();
CREATE TRIGGER crawl_tasks_urgent_gone AFTER DELETE ON crawl_tasks FOR EACH ROW
    WHEN (OLD.is_urgent AND OLD.outcome IS NULL) EXECUTE FUNCTION keep_urgency();

CREATE FUNCTION combine_crawl_settings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.effective := COALESCE((SELECT p.settings FROM profiles p WHERE p.id = NEW.profile_id), '{}') || NEW.settings;
    NEW.max_depth := (NEW.effective->>'max_depth')::smallint;
    NEW.url_folders := CASE NEW.effective->>'scope' WHEN 'page' THEN '{}' WHEN 'prefix' THEN COALESCE(like_prefixes(NEW.effective->'prefixes'), '{}') END;
    NEW.url_include := like_patterns(NEW.effective->'include');
    NEW.url_exclude := like_patterns(NEW.effective->'exclude');
    RETURN NEW;
END $$;
COMMENT ON FUNCTION combine_crawl_settings IS 'The same layers as resolve() of config/crawl_settings.py, without the defaults of the instance.';
CREATE TRIGGER domain_settings_combine BEFORE INSERT OR UPDATE ON domain_settings FOR EACH ROW EXECUTE FUNCTION combine_crawl_settings();

CREATE FUNCTION copy_crawl_settings() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    e CONSTANT jsonb := CASE TG_OP WHEN 'DELETE' THEN '{}' ELSE NEW.effective END;
    of_domain CONSTANT bigint := CASE TG_OP WHEN 'DELETE' THEN OLD.domain_id ELSE NEW.domain_id END;
BEGIN
    UPDATE domains d
    SET crawl_delay_s = (e->>'delay')::float8,
        max_concurrent_requests = (e->>'concurrency')::integer,
        max_pages_per_run = (e->>'max_pages')::integer,
        budget_period = COALESCE(e->>'max_pages_per', 'run'),
        budget_until = CASE WHEN COALESCE(e->>'max_pages_per', 'run') = d.budget_period AND COALESCE(e->>'timezone', 'UTC') = d.time_zone THEN d.budget_until
                            ELSE period_end(now(), COALESCE(e->>'max_pages_per', 'run'), COALESCE(e->>'timezone', 'UTC')) END,
        counts_revisits = COALESCE((e->>'count_revisits')::boolean, false),
        max_pages_per_template = (e->>'max_pages_per_template')::integer,
        revisit_every_s = (e->>'revisit_every')::float8,
        is_adaptive = COALESCE((e->>'adaptive')::boolean, false),
        revisits_per_day = (e->>'revisits_per_day')::float8,
        revisit_price = CASE WHEN (e->>'adaptive')::boolean AND (e->>'revisits_per_day')::float8 IS NOT DISTINCT FROM d.revisits_per_day THEN d.revisit_price END,
        refresh_every_s = CASE WHEN e->'refresh_every' = 'null' THEN 3155760000 ELSE (e->>'refresh_every')::float8 END,
        maintenance_start = split_part(e->>'window', '-', 1)::time,
        maintenance_end = split_part(e->>'window', '-', 2)::time,
        time_zone = COALESCE(e->>'timezone', 'UTC'),
        content_policy = e->>'content',
        images_policy = e->>'images',
        rendering = e->>'rendering',
        stores_links = COALESCE((e->>'store_links')::boolean, true),
        links_since = CASE WHEN COALESCE((e->>'store_links')::boolean, true) AND NOT d.stores_links THEN clock_timestamp() ELSE d.links_since END,
        history_retention_s = (e->>'history_retention')::float8,
        image_retention_s = (e->>'image_retention')::float8,
        parser_name = COALESCE(e->>'parser', 'auto'),
        proxy_country = e->>'proxy_country',
        paces_per_proxy = COALESCE((e->>'delay_per_proxy')::boolean, false),
        verifies_tls = COALESCE((e->>'verify_tls')::boolean, true),
        allow_networks = CASE WHEN e ? 'allow_networks' THEN ARRAY(SELECT jsonb_array_elements_text(e->'allow_networks')) END,
        worker_label = COALESCE(e->>'worker_label', ''),
        url_rules = (SELECT jsonb_object_agg(r.key, r.value) FROM jsonb_each(e) r
                     WHERE r.key IN ('trailing_slash', 'strip_params', 'keep_params', 'strip_session_ids')),
        strips_subdomains = COALESCE((e->>'strip_subdomains')::boolean, false),
        priority_boost = COALESCE((e->>'priority_boost')::float8, 0),
        has_new_settings = d.claimed_by IS NOT NULL
    WHERE d.id = of_domain;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION copy_crawl_settings IS 'Copies the settings that statements need into domains, and asks the lease holder to release the domain, so that the next claim gets the new ones.';
CREATE TRIGGER domain_settings_copy AFTER INSERT OR DELETE ON domain_settings FOR EACH ROW EXECUTE FUNCTION copy_crawl_settings();
CREATE TRIGGER domain_settings_copy_changed AFTER UPDATE ON domain_settings FOR EACH ROW
    WHEN (OLD.effective IS DISTINCT FROM NEW.effective OR NEW.updated_by = 'repair') EXECUTE FUNCTION copy_crawl_settings();

CREATE FUNCTION has_stale_copies(d domains, e jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT (d.crawl_delay_s, d.max_concurrent_requests, d.max_pages_per_run, d.revisit_every_s, d.content_policy, d.images_policy)
           IS DISTINCT FROM ((e->>'delay')::float8, (e->>'concurrency')::integer, (e->>'max_pages')::integer, (e->>'revisit_every')::float8,
                             e->>'content', e->>'images')
        OR (d.budget_period, d.counts_revisits, d.is_adaptive, d.time_zone, d.stores_links, d.worker_label, d.parser_name, d.strips_subdomains, d.priority_boost)
           IS DISTINCT FROM (COALESCE(e->>'max_pages_per', 'run'), COALESCE((e->>'count_revisits')::boolean, false),
                             COALESCE((e->>'adaptive')::boolean, false), COALESCE(e->>'timezone', 'UTC'), COALESCE((e->>'store_links')::boolean, true),
                             COALESCE(e->>'worker_label', ''), COALESCE(e->>'parser', 'auto'), COALESCE((e->>'strip_subdomains')::boolean, false),
                             COALESCE((e->>'priority_boost')::float8, 0))
$$;
COMMENT ON FUNCTION has_stale_copies IS 'Whether columns of a domain differ from the crawl settings that they are copies of.';

CREATE FUNCTION note_robots_override() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.effective ->> 'obey_robots')::boolean IS FALSE THEN
        INSERT INTO robots_overrides (domain_id, ordered_by) VALUES (NEW.domain_id, NEW.updated_by)
        ON CONFLICT (domain_id) WHERE ended_at IS NULL DO NOTHING;
    ELSE
        UPDATE robots_overrides SET ended_at = now() WHERE domain_id = NEW.domain_id AND ended_at IS NULL;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER domain_settings_robots AFTER INSERT OR UPDATE ON domain_settings FOR EACH ROW EXECUTE FUNCTION note_robots_override();

CREATE FUNCTION apply_profile() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM domains d WHERE d.id IN (SELECT s.domain_id FROM domain_settings s WHERE s.profile_id = NEW.id) ORDER BY d.id FOR NO KEY UPDATE;
    UPDATE domain_settings SET profile_id = NEW.id WHERE profile_id = NEW.id;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION apply_profile IS 'New settings of a profile hold for its domains at once; their rows are locked in id order, as workers lock them.';
CREATE TRIGGER profiles_apply AFTER UPDATE ON profiles FOR EACH ROW WHEN (OLD.settings <> NEW.settings) EXECUTE FUNCTION apply_profile();

CREATE FUNCTION profile_for(domain_name text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT p.id FROM profiles p CROSS JOIN LATERAL unnest(p.members) AS m (member)
    WHERE m.member = domain_name
       OR (m.member LIKE '%*%' AND domain_name LIKE replace(replace(replace(replace(m.member, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%'))
    ORDER BY m.member = domain_name DESC, length(m.member) DESC, p.id LIMIT 1
$$;
COMMENT ON FUNCTION profile_for IS 'The profile that a domain of this name belongs to; NULL: none.';

CREATE FUNCTION join_profiles() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM profiles WHERE members <> '{}') THEN
        INSERT INTO domain_settings (domain_id, profile_id)
        SELECT n.id, m.profile_id FROM added n CROSS JOIN LATERAL (SELECT profile_for(n.name) AS profile_id) m WHERE m.profile_id IS NOT NULL ORDER BY n.id;
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION join_profiles IS 'New domains join the profile that names them before their first request.';
CREATE TRIGGER domains_join AFTER INSERT ON domains REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION join_profiles();

CREATE FUNCTION record_domain_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO domain_history (domain_id, from_status, to_status, is_active, reason_code, reason, moved_by)
    VALUES (NEW.id, OLD.status, NEW.status, NEW.is_active,
            COALESCE(NEW.block_reason_code, NULLIF(current_setting('forager.reason_code', true), '')),
            COALESCE(NEW.block_reason, NULLIF(current_setting('forager.reason', true), '')),
            COALESCE(NULLIF(current_setting('forager.by', true), ''), 'worker ' || COALESCE(NEW.claimed_by, OLD.claimed_by), 'system'));
    RETURN NULL;
END $$;
CREATE TRIGGER domains_moved AFTER UPDATE ON domains FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.is_active IS DISTINCT FROM NEW.is_active) EXECUTE FUNCTION record_domain_transition();

CREATE FUNCTION reject_history_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('forager.purge', true) = 'on' THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    IF TG_OP = 'DELETE' AND EXISTS (
        SELECT FROM archive_parts s WHERE s.id = NULLIF(current_setting('forager.slice', true), '')::bigint AND s.status = 'moving'
                                    AND OLD.id BETWEEN s.first_id AND s.last_id) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'task % is closed: history does not change', OLD.id USING ERRCODE = 'check_violation';
END $$;
COMMENT ON FUNCTION reject_history_change IS 'Closed tasks go into a verified cold slice, or by an audited purge, and in no other way.';
CREATE TRIGGER crawl_tasks_closed_stay BEFORE UPDATE OR DELETE ON crawl_tasks FOR EACH ROW
    WHEN (OLD.outcome IS NOT NULL) EXECUTE FUNCTION reject_history_change();

CREATE TABLE task_transitions (
    from_status task_status NOT NULL,
    to_status   task_status NOT NULL,
    PRIMARY KEY (from_status, to_status)
);
COMMENT ON TABLE task_transitions IS 'Owner: frontier. The allowed moves of a task; frontier/task_status.py holds the same table and a test compares them.';
INSERT INTO task_transitions VALUES
    ('pending', 'crawling'), ('pending', 'paused'), ('pending', 'cancelled'),
    ('crawling', 'pending'), ('crawling', 'completed'), ('crawling', 'failed'), ('crawling', 'paused'), ('crawling', 'cancelled'),
    ('paused', 'pending'), ('paused', 'cancelled');

CREATE FUNCTION reject_task_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM task_transitions WHERE from_status = OLD.status AND to_status = NEW.status) THEN
        RAISE EXCEPTION 'a task cannot move from % to %', OLD.status, NEW.status USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION reject_task_transition IS 'Not asked for what a crawl does thousands of times in a second; those moves are named in the trigger itself.';
CREATE TRIGGER crawl_tasks_move BEFORE UPDATE OF status ON crawl_tasks FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND NOT (OLD.status = 'crawling' AND NEW.status IN ('completed', 'failed', 'pending'))
          AND NOT (OLD.status = 'pending' AND NEW.status = 'crawling')) EXECUTE FUNCTION reject_task_transition();

CREATE FUNCTION note_webhook_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_calls (task_id, url) VALUES (NEW.id, NEW.webhook_url) ON CONFLICT (task_id) DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER crawl_tasks_tell AFTER UPDATE OF outcome ON crawl_tasks FOR EACH ROW
    WHEN (NEW.webhook_url IS NOT NULL AND OLD.outcome IS NULL AND NEW.outcome IS NOT NULL) EXECUTE FUNCTION note_webhook_call();

CREATE TABLE page_cache_namespace (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    era     uuid    NOT NULL
);
COMMENT ON TABLE page_cache_namespace IS 'Owner: frontier. At most one row, another one each time pages were deleted: what was remembered of pages outside the database is void then.';

CREATE FUNCTION change_page_cache_namespace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO page_cache_namespace (era) VALUES (gen_random_uuid()) ON CONFLICT (is_only) DO UPDATE SET era = EXCLUDED.era;
    RETURN NULL;
END $$;
CREATE TRIGGER pages_gone AFTER DELETE OR TRUNCATE ON pages FOR EACH STATEMENT EXECUTE FUNCTION change_page_cache_namespace();

CREATE FUNCTION free_duplicates() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE pages p SET duplicate_of = NULL FROM gone g WHERE p.domain_id = g.domain_id AND p.duplicate_of = g.id;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION free_duplicates IS 'Duplicates of a page that is deleted are pages of their own again.';
CREATE TRIGGER pages_free_duplicates AFTER DELETE ON pages REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION free_duplicates();

-- Messages in transit through a broker -------------------------------------------------------------------------------

CREATE TABLE dispatched_domains (
    domain_id  bigint      PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
    version    bigint      NOT NULL,
    run_id     bigint      NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    is_urgent  boolean     NOT NULL,
    offered_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX dispatched_domains_run ON dispatched_domains (run_id, offered_at);
COMMENT ON TABLE dispatched_domains IS 'Owner: dispatch. Domains whose hints are on their way to workers; another version of the lease makes an offer void.';

CREATE TABLE queue_depths (
    queue     text        PRIMARY KEY,
    messages  bigint      NOT NULL,
    consumers integer     NOT NULL,
    seen_at   timestamptz NOT NULL
);
COMMENT ON TABLE queue_depths IS 'Owner: dispatch. What the broker said last of its queues, those of all runs together.';

-- Search on an external server ---------------------------------------------------------------------------------------

CREATE SEQUENCE search_versions;
COMMENT ON SEQUENCE search_versions IS 'Numbers what is sent to the search server: of two versions of a document the server keeps the higher one.';

CREATE TABLE search_outbox (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind   text   NOT NULL CHECK (kind IN ('page', 'product')),
    id     bigint NOT NULL
);
COMMENT ON TABLE search_outbox IS 'Owner: search, by triggers. What the search server has to hear of: written with the change itself, deleted when the server has it. Empty where PostgreSQL does the searching.';

CREATE TABLE search_rejected (
    kind       text        NOT NULL CHECK (kind IN ('page', 'product')),
    id         bigint      NOT NULL,
    reason     text        NOT NULL,
    refused_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (kind, id)
);
COMMENT ON TABLE search_rejected IS 'Owner: search. Documents the search server would not take, and why. Tried again when they change, or when the index is made anew.';

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

-- Seals: proof that immutable rows are unchanged ----------------------------------------------------------------------

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
               p.old_price, p.old_currency, p.old_availability, p.is_backfill)::text
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
    PERFORM pg_advisory_xact_lock_shared(x'466F7261677A'::bigint);
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
    PERFORM pg_advisory_xact_lock_shared(x'466F7261677A'::bigint);
    UPDATE seals s SET left_digest = s.left_digest + row_digest(sealed_line(OLD)) - row_digest(sealed_line(NEW))
    WHERE s.id = (SELECT e.id FROM seals e WHERE e.what = 'crawl_tasks' AND e.until >= sealed_position(OLD) ORDER BY e.until LIMIT 1)
      AND s.after < sealed_position(OLD);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION note_resealed IS 'A closed task that goes to another page, when two domains are merged, is sealed as it is then.';
CREATE TRIGGER crawl_tasks_resealed AFTER UPDATE OF page_id ON crawl_tasks FOR EACH ROW
    WHEN (OLD.outcome IS NOT NULL AND OLD.page_id <> NEW.page_id) EXECUTE FUNCTION note_resealed();

-- Compatible versions of Forager -------------------------------------------------------------------------------------

CREATE TABLE schema_window (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    oldest  text    NOT NULL
);
COMMENT ON TABLE schema_window IS 'Owner: db. One row: the oldest revision whose Forager may work on this schema. A migration that takes something away, or asks more of what is written, sets it to its own.';
INSERT INTO schema_window (oldest) VALUES ('0001');

-- Lists by filter ----------------------------------------------------------------------------------------------------
-- Indexes of rare values only, on tables with many writes: a page that is read without errors does not stay in those by
-- status, outcome and error.

CREATE INDEX pages_by_status ON pages (status, id) WHERE status NOT IN ('fetched', 'discovered') AND NOT is_image;
CREATE INDEX pages_seeds ON pages (id) WHERE is_seed;
CREATE INDEX crawl_tasks_of_domain ON crawl_tasks (domain_id, id) WHERE outcome IS NOT NULL;
CREATE INDEX crawl_tasks_of_run ON crawl_tasks (run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX crawl_tasks_by_status ON crawl_tasks (status, id) WHERE status NOT IN ('pending', 'completed');
CREATE INDEX crawl_tasks_by_outcome ON crawl_tasks (outcome, id) WHERE outcome <> 'success';
CREATE INDEX crawl_tasks_by_error ON crawl_tasks (error_code, id) WHERE error_code IS NOT NULL;
CREATE INDEX crawl_tasks_images ON crawl_tasks (id) WHERE is_image;
CREATE INDEX crawl_tasks_by_code ON crawl_tasks (status_code, id) WHERE status_code <> 200;
CREATE INDEX crawl_tasks_by_author ON crawl_tasks (created_by, id) WHERE created_by NOT IN ('system', 'revisit');
CREATE INDEX pages_changed ON pages (changed_at, id) WHERE changed_at IS NOT NULL;
CREATE INDEX domains_source ON domains (source, id) WHERE source <> 'link';
CREATE INDEX domains_label ON domains (worker_label, id) WHERE worker_label <> '';
CREATE INDEX domains_by_status ON domains (status, id) WHERE block_reason_code IS NOT NULL;
CREATE FUNCTION tell_kind_of_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.is_image := COALESCE((SELECT p.is_image FROM pages p WHERE p.id = NEW.page_id), false);
    RETURN NEW;
END $$;
CREATE TRIGGER crawl_tasks_kind BEFORE INSERT ON crawl_tasks FOR EACH ROW
    WHEN (NEW.is_image IS NULL) EXECUTE FUNCTION tell_kind_of_task();
COMMENT ON COLUMN crawl_tasks.is_image IS 'Whether its page was an image when the task was made; statements that do not say it leave it to a trigger.';

-- When a row last changed -------------------------------------------------------------------------------------------
-- A claim stamps locked_at, a closed task has completed_at: only what else changes an open task needs a stamp of its own,
-- so that visits themselves pay nothing.

CREATE FUNCTION note_amended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.amended_at := now();
    RETURN NEW;
END $$;
CREATE TRIGGER crawl_tasks_amended BEFORE UPDATE ON crawl_tasks FOR EACH ROW
    WHEN (NEW.outcome IS NULL AND (NEW.locked_at IS NULL OR OLD.locked_at = NEW.locked_at)) EXECUTE FUNCTION note_amended();
COMMENT ON COLUMN crawl_tasks.amended_at IS 'When an open task was last changed otherwise than by a claim, such as paused, given back or rescheduled; NULL: never.';
CREATE FUNCTION updated_at(t crawl_tasks) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT COALESCE(t.completed_at, GREATEST(t.created_at, t.locked_at, t.amended_at))
$$;
COMMENT ON FUNCTION updated_at(crawl_tasks) IS 'When a task last changed: exact, from the stamps that each change leaves.';
CREATE FUNCTION updated_at(p pages) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT GREATEST(p.discovered_at, p.fetched_at, p.failed_at)
$$;
COMMENT ON FUNCTION updated_at(pages) IS 'When a page was last visited, or found; that it waits in the queue changes its task, not the page.';

-- Checks -------------------------------------------------------------------------------------------------------------

CREATE TABLE checks (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    started_by text        NOT NULL,
    has_files  boolean     NOT NULL,
    heard_at   timestamptz NOT NULL DEFAULT now(),
    done       integer     NOT NULL DEFAULT 0,
    total      integer     NOT NULL,
    ended_at   timestamptz,
    error      text,
    result     jsonb,
    is_deep    boolean     NOT NULL DEFAULT false
);
COMMENT ON TABLE checks IS 'Owner: explain. Checks of the promises that were started over HTTP, the last few, with what came of them.';
COMMENT ON COLUMN checks.is_deep IS 'Whether bodies, history and schema are read from end to end, too.';
COMMENT ON COLUMN checks.heard_at IS 'When its process last said that it is at it; long ago and no end: the process is gone.';

-- Exports of what changed since the last one. A row is chosen by the age of the transaction that wrote it, in the
-- transaction of the export; ages of rows frozen long ago are negative or very large.
CREATE FUNCTION changed_within(writer xid, newest integer, oldest integer) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT writer IS NOT NULL AND CASE WHEN oldest IS NULL THEN age(writer) > newest OR age(writer) < 0 ELSE age(writer) > newest AND age(writer) <= oldest END
$$;
