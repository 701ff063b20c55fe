-- Offers: domains whose hints have been sent. Owner of dispatched_domains and queue_depths.

-- name: runs_to_serve
-- Runs whose domains are offered, the continuous run first.
SELECT id, keeper = 'standing' AS is_standing, max_pages_per_domain FROM runs WHERE status = 'running' ORDER BY keeper <> 'standing', id;

-- name: seconds_since_poll
-- Seconds since the queues of the broker were last read.
SELECT EXTRACT(EPOCH FROM now() - min(q.seen_at))::float8 FROM queue_depths q;

-- name: delete_stale_offers
-- Deletes offers whose domain a worker has claimed or that no longer belongs to the run; the lease's version shows it.
DELETE FROM dispatched_domains o USING domains d
WHERE d.id = o.domain_id AND (d.version <> o.version OR d.claimed_by IS NOT NULL OR d.run_id IS DISTINCT FROM o.run_id);

-- name: count_offers
-- Counts the open offers of a run.
SELECT count(*)::int FROM dispatched_domains WHERE run_id = $1;

-- name: renew_offers
-- Renews offers to be sent again: those whose domains became urgent or were boosted since, and the oldest ones, as many
-- as the queues have lost. An offer that is no longer urgent is not sent again: its first message would still be in the
-- priority queue.
WITH out AS MATERIALIZED (
    SELECT o.domain_id, o.is_urgent, o.offered_at, d.urgency > 0 AS is_urgent_now
    FROM dispatched_domains o JOIN domains d ON d.id = o.domain_id WHERE o.run_id = $1
), again AS (
    SELECT domain_id, is_urgent_now FROM out WHERE is_urgent_now AND NOT is_urgent
    UNION
    SELECT domain_id, is_urgent_now FROM (
        SELECT domain_id, is_urgent_now FROM out WHERE offered_at < now() - make_interval(secs => $2) ORDER BY offered_at, domain_id LIMIT $3) lost
)
UPDATE dispatched_domains o SET offered_at = now(), is_urgent = again.is_urgent_now FROM again WHERE o.domain_id = again.domain_id
RETURNING o.domain_id, o.version, o.run_id, o.is_urgent;

-- name: make_offers
-- Offers the best domains of a run that may be claimed now and are not offered. Sort order and conditions are those of
-- the claim; domains that require a label which no worker has wait for one. Each label has a window of $3, so that
-- labels whose workers are full do not delay the others, and one for urgent domains, so that a full window does not.
WITH served AS MATERIALIZED (
    SELECT l.label, u.lowest, u.highest, GREATEST(0, $3::int - (SELECT count(*) FROM dispatched_domains o JOIN domains d ON d.id = o.domain_id
                                           WHERE o.run_id = $1 AND d.worker_label = l.label AND o.is_urgent = (u.lowest > 0))) AS room
    FROM (SELECT '' AS label UNION SELECT unnest(w.labels) FROM workers w WHERE w.status = 'running' AND w.run_id = $1) l
    CROSS JOIN (VALUES (1, 2), (0, 0)) AS u (lowest, highest)
), due AS MATERIALIZED (
    SELECT c.id, c.version, c.run_id, c.urgency, c.round, c.priority_score FROM served CROSS JOIN LATERAL (
        SELECT d.id, d.version, d.run_id, d.urgency, d.round, d.priority_score FROM domains d
        WHERE d.claimed_by IS NULL AND d.is_due AND d.status IN ('pending', 'active') AND d.is_active AND d.run_id = $1
          AND d.worker_label = served.label AND d.urgency BETWEEN served.lowest AND served.highest
          AND NOT EXISTS (SELECT FROM dispatched_domains o WHERE o.domain_id = d.id)
          AND NOT EXISTS (SELECT FROM claim_conditions(d, $2::int) g WHERE NOT g.is_open)
        ORDER BY d.urgency DESC, d.round, d.priority_score DESC, d.id
        LIMIT served.room) c
), made AS (
    INSERT INTO dispatched_domains (domain_id, version, run_id, is_urgent)
    SELECT due.id, due.version, due.run_id, due.urgency > 0
    FROM due ORDER BY due.id
    ON CONFLICT (domain_id) DO NOTHING
    RETURNING domain_id, version, run_id, is_urgent
)
SELECT made.* FROM made JOIN due ON due.id = made.domain_id ORDER BY due.urgency DESC, due.round, due.priority_score DESC, due.id;

-- name: delete_offers
-- Deletes offers that could not be sent, or that no worker can take now: they are created again when the domain is due.
DELETE FROM dispatched_domains o USING unnest($1::bigint[], $2::bigint[]) AS n (domain_id, version) WHERE o.domain_id = n.domain_id AND o.version = n.version;

-- name: delete_all_offers
-- Deletes all offers, after an operator purged the queues.
DELETE FROM dispatched_domains;

-- name: keep_depths
-- Stores the queue depths that the broker reported.
INSERT INTO queue_depths (queue, messages, consumers, seen_at)
SELECT n.queue, n.messages, n.consumers, now() FROM unnest($1::text[], $2::bigint[], $3::int[]) AS n (queue, messages, consumers) ORDER BY n.queue
ON CONFLICT (queue) DO UPDATE SET messages = EXCLUDED.messages, consumers = EXCLUDED.consumers, seen_at = EXCLUDED.seen_at;

-- name: read_depths
-- The last reported queue depths, and when they were read.
SELECT queue, messages, consumers, seen_at FROM queue_depths ORDER BY queue;
