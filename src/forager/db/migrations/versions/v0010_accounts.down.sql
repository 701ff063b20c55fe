DROP TABLE audit_log;
DROP FUNCTION refuse_audit_change();
DROP TABLE rate_counts;
DROP TABLE login_attempts;
DROP TABLE api_tokens;
DROP TABLE sessions;
DROP TABLE invites;
DROP TABLE users;
