-- Users, their sessions, tokens and links. Owner of users, invites, sessions, api_tokens, login_attempts.

-- name: find_session
-- The user of a session that has neither expired nor been idle too long; updates its last use once a minute.
WITH found AS (
    SELECT s.id, s.user_id, s.expires_at, s.last_used_at, u.name, u.role
    FROM sessions s JOIN users u ON u.id = s.user_id
    WHERE s.secret_hash = $1 AND s.expires_at > now() AND s.last_used_at > now() - make_interval(secs => $2) AND u.is_active
), used AS (
    UPDATE sessions s SET last_used_at = now() FROM found
    WHERE s.id = found.id AND found.last_used_at < now() - interval '1 minute'
)
SELECT id, user_id, name, role, 'admin' AS scope, expires_at FROM found;

-- name: find_token
-- The user of a token that is still valid; updates its last use once a minute.
WITH found AS (
    SELECT t.id, t.user_id, t.scope, t.expires_at, t.last_used_at, u.name, u.role
    FROM api_tokens t JOIN users u ON u.id = t.user_id
    WHERE t.secret_hash = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now()) AND u.is_active
), used AS (
    UPDATE api_tokens t SET last_used_at = now() FROM found
    WHERE t.id = found.id AND (found.last_used_at IS NULL OR found.last_used_at < now() - interval '1 minute')
)
SELECT id, user_id, name, role, scope, expires_at FROM found;

-- name: find_login
-- A name as the database compares it, and its account, if it exists, with the password hash.
SELECT lower($1::text) AS normal_name, u.id, u.name, u.role, u.is_active, u.password_hash
FROM (SELECT) AS always LEFT JOIN users u ON lower(u.name) = lower($1);

-- name: open_session
-- Opens a session if the verified password is still the account's password; ends the browser's old session.
WITH owner AS (
    UPDATE users SET last_login_at = now() WHERE id = $1 AND is_active AND password_hash = $2 RETURNING id
), left_behind AS (
    DELETE FROM sessions WHERE secret_hash = $7::bytea
)
INSERT INTO sessions (user_id, secret_hash, ip, user_agent, expires_at)
SELECT id, $3, $4, $5, now() + make_interval(secs => $6) FROM owner
RETURNING id, expires_at;

-- name: end_oldest_sessions
-- Keeps only the newest sessions of a user who signs in repeatedly without signing out.
DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE user_id = $1 ORDER BY id DESC OFFSET $2);

-- name: list_sessions
-- The sessions of a user, newest first.
SELECT id, ip, user_agent, created_at, last_used_at, expires_at
FROM sessions WHERE user_id = $1 AND expires_at > now() AND last_used_at > now() - make_interval(secs => $2) ORDER BY id DESC;

-- name: end_sessions
-- Ends one session of a user (NULL: all of them), except the one to keep.
DELETE FROM sessions
WHERE user_id = $1 AND ($2::bigint IS NULL OR id = $2) AND ($3::bigint IS NULL OR id <> $3)
RETURNING id;

-- name: set_password
-- Sets a new password; NULL as the old hash: whatever it was.
UPDATE users SET password_hash = $2, password_changed_at = now()
WHERE id = $1 AND ($3::text IS NULL OR password_hash = $3)
RETURNING id, name, role;

-- name: rehash_password
-- Stores the same password, hashed with the current parameters.
UPDATE users SET password_hash = $2 WHERE id = $1 AND password_hash = $3;

-- name: add_user
-- Adds a user; returns no row when the name is taken.
INSERT INTO users (name, role, password_hash, password_changed_at, created_by)
VALUES ($1, $2, $3, CASE WHEN $3::text IS NOT NULL THEN now() END, $4)
ON CONFLICT (lower(name)) DO NOTHING
RETURNING id;

-- name: list_users
-- Users by name, after the given name.
SELECT u.id, u.name, u.role, u.is_active, u.password_hash IS NOT NULL AS has_password, u.password_changed_at, u.last_login_at,
       u.created_by, u.created_at,
       (SELECT count(*) FROM sessions s WHERE s.user_id = u.id AND s.expires_at > now()) AS sessions,
       (SELECT count(*) FROM api_tokens t WHERE t.user_id = u.id AND t.revoked_at IS NULL
                                            AND (t.expires_at IS NULL OR t.expires_at > now())) AS tokens,
       (SELECT max(i.expires_at) FROM invites i WHERE i.user_id = u.id AND i.expires_at > now()) AS invited_until
FROM users u
WHERE ($1::text IS NULL OR lower(u.name) > lower($1)) AND ($2::bigint IS NULL OR u.id = $2)
ORDER BY lower(u.name) LIMIT $3;

-- name: hold_admins
-- Admins who can still sign in, locked: of two concurrent removals the second sees that it would remove the last admin.
SELECT id FROM users WHERE role = 'admin' AND is_active AND password_hash IS NOT NULL ORDER BY id FOR UPDATE;

-- name: hold_user
-- One user by name, locked until the change is made.
SELECT id, name, role, is_active, password_hash IS NOT NULL AS has_password FROM users WHERE lower(name) = lower($1) FOR UPDATE;

-- name: hold_user_by_id
-- One user by id, locked until the change is made.
SELECT id, name, role, is_active, password_hash IS NOT NULL AS has_password FROM users WHERE id = $1 FOR UPDATE;

-- name: set_user
-- Sets the role of a user, and whether the account is enabled.
UPDATE users SET role = $2, is_active = $3 WHERE id = $1;

-- name: remove_user
-- Deletes a user with their sessions, tokens and links; the audit log keeps their actions.
DELETE FROM users WHERE id = $1;

-- name: has_users
-- Whether any user has a password.
SELECT EXISTS (SELECT FROM users WHERE password_hash IS NOT NULL);

-- name: hold_first_admin
-- Serializes concurrent attempts to become the first admin: one succeeds.
SELECT pg_advisory_xact_lock(hashtext('forager first admin'));

-- name: add_invite
-- Adds a one-time link, for a user or (NULL) for the first admin.
INSERT INTO invites (secret_hash, user_id, created_by, expires_at)
VALUES ($1, $2, $3, now() + make_interval(secs => $4))
RETURNING id, expires_at;

-- name: drop_invites
-- Deletes earlier links of a user once there is a new one, or a password.
DELETE FROM invites WHERE user_id = $1;

-- name: find_invite
-- The user of a link that has not expired.
SELECT i.id, i.user_id, u.name, u.role FROM invites i LEFT JOIN users u ON u.id = i.user_id
WHERE i.secret_hash = $1 AND i.expires_at > now() AND (u.id IS NULL OR u.is_active);

-- name: use_invite
-- Uses up the link; of several concurrent requests one succeeds.
DELETE FROM invites WHERE secret_hash = $1 AND expires_at > now() RETURNING user_id;

-- name: drop_first_invites
-- Deletes the links for the first admin once that account exists.
DELETE FROM invites WHERE user_id IS NULL;

-- name: add_token
-- Adds a token for a program.
INSERT INTO api_tokens (secret_hash, user_id, name, scope, created_by, expires_at)
VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
RETURNING id, created_at, expires_at;

-- name: list_tokens
-- Tokens of a user (NULL: of all users), newest first, before the given one.
SELECT t.id, u.name AS owner, t.name, t.scope, t.created_by, t.created_at, t.last_used_at, t.expires_at, t.revoked_at,
       t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now()) AND u.is_active AS is_valid
FROM api_tokens t JOIN users u ON u.id = t.user_id
WHERE ($1::bigint IS NULL OR t.user_id = $1) AND ($2::bigint IS NULL OR t.id < $2)
ORDER BY t.id DESC LIMIT $3;

-- name: revoke_token
-- Revokes a token; returns its owner, and whether it was revoked before.
WITH held AS (
    SELECT t.id, t.name, t.revoked_at, u.name AS owner FROM api_tokens t JOIN users u ON u.id = t.user_id
    WHERE t.id = $1 AND ($2::bigint IS NULL OR t.user_id = $2) FOR UPDATE OF t
), ended AS (
    UPDATE api_tokens t SET revoked_at = now() FROM held WHERE t.id = held.id AND held.revoked_at IS NULL
)
SELECT id, name, owner, revoked_at IS NOT NULL AS was_revoked FROM held;

-- name: revoke_tokens
-- Revokes all tokens of a user.
UPDATE api_tokens SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL RETURNING id;

-- name: begin_attempts
-- Inserts the rows that count wrong passwords.
INSERT INTO login_attempts (subject) SELECT subject FROM unnest($1::text[]) AS n (subject) ORDER BY subject
ON CONFLICT (subject) DO NOTHING;

-- name: hold_attempts
-- Earlier failures, locked: concurrent attempts are counted one after the other.
SELECT subject, failures, failed_at, wait_until, succeeded_at, clock_timestamp() AS now
FROM login_attempts WHERE subject = ANY ($1::text[]) ORDER BY subject FOR UPDATE;

-- name: count_attempts
-- Counts this attempt as failed; a successful one is reset afterwards.
UPDATE login_attempts a SET failures = n.failures, failed_at = clock_timestamp(), wait_until = n.wait_until
FROM unnest($1::text[], $2::int[], $3::timestamptz[]) AS n (subject, failures, wait_until) WHERE a.subject = n.subject;

-- name: reset_attempts
-- After a successful login: resets account and pair, takes this one attempt off the address, and marks the pair as known.
WITH held AS MATERIALIZED (
    SELECT subject FROM login_attempts WHERE subject IN ($1, $2, $3) ORDER BY subject FOR UPDATE
)
UPDATE login_attempts a
SET failures = CASE WHEN a.subject = $2 AND NOT $4 THEN GREATEST(a.failures - 1, 0) WHEN a.subject = $2 THEN a.failures ELSE 0 END,
    wait_until = CASE WHEN a.subject = $2 AND $4 THEN a.wait_until END,
    succeeded_at = CASE WHEN a.subject = $3 THEN clock_timestamp() ELSE a.succeeded_at END
FROM held WHERE a.subject = held.subject;

-- name: reset_account_attempts
-- Resets the wrong passwords of an account from all addresses, when an operator or a one-time link has confirmed the user.
UPDATE login_attempts SET failures = 0, wait_until = NULL
WHERE subject = 'account:' || $1 OR starts_with(subject, 'pair:' || $1 || ' ');

-- name: clear_out
-- Deletes expired sessions and links, and attempts that are no longer needed.
WITH sessions_gone AS (
    DELETE FROM sessions WHERE expires_at <= now() RETURNING 1
), invites_gone AS (
    DELETE FROM invites WHERE expires_at <= now() RETURNING 1
), attempts_gone AS (
    DELETE FROM login_attempts
    WHERE COALESCE(wait_until, failed_at, '-infinity') < now() - interval '1 day'
      AND COALESCE(succeeded_at, '-infinity') < now() - make_interval(secs => $1)
      AND COALESCE(failed_at, '-infinity') < now() - interval '1 day'
    RETURNING 1
)
SELECT (SELECT count(*) FROM sessions_gone) AS sessions, (SELECT count(*) FROM invites_gone) AS invites,
       (SELECT count(*) FROM attempts_gone) AS attempts;
