-- The audit log. Owner of audit_log.

-- name: note
-- Writes one change of one operator, in the transaction that makes it.
INSERT INTO audit_log (who, via, ip, action, object_kind, object_id, outcome, details)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8::jsonb);

-- name: has_audit_log
-- Whether the audit log exists: older schema revisions have none.
SELECT to_regclass('audit_log') IS NOT NULL;

-- name: read
-- Entries, newest first, before the given one.
SELECT id, at, who, via, (details ->> 'credential_id')::bigint AS credential_id, ip, action, object_kind, object_id, outcome,
       details - 'credential_id' AS details
FROM audit_log
WHERE ($1::bigint IS NULL OR id < $1)
  AND ($2::text IS NULL OR who = $2)
  AND ($3::text IS NULL OR action = $3 OR starts_with(action, $3 || '.'))
  AND ($4::text IS NULL OR object_kind = $4)
  AND ($5::text IS NULL OR object_id = $5)
  AND ($6::timestamptz IS NULL OR at >= $6)
  AND ($7::timestamptz IS NULL OR at < $7)
ORDER BY id DESC LIMIT $8;
