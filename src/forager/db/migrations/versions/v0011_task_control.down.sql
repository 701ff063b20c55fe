DROP TRIGGER crawl_tasks_tell ON crawl_tasks;
DROP FUNCTION note_webhook_call;
DROP TRIGGER crawl_tasks_move ON crawl_tasks;
DROP FUNCTION refuse_task_move;
DROP TABLE task_moves;
DROP TABLE webhook_calls;
DROP TABLE task_calls;
DROP TABLE task_orders;
DROP TABLE batches;
DROP INDEX domains_switched_off;
DROP INDEX crawl_tasks_dependents;
DROP INDEX crawl_tasks_batch;
DROP INDEX crawl_tasks_failed;
ALTER TABLE crawl_tasks DROP COLUMN webhook_url, DROP COLUMN is_waiting, DROP COLUMN depends_on, DROP COLUMN batch_id,
    DROP COLUMN max_retries, DROP COLUMN revisit_every_s, DROP COLUMN is_recurring, DROP COLUMN recrawl_count;
