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

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log only grows' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER audit_log_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
