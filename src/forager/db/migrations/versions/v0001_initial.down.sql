-- The reverse of v0001_initial.up.sql: nothing of Forager is left, and nothing of it can be brought back.

DROP TABLE errors, page_links, crawl_tasks, pages, origins, domains, domain_moves, workers, run_drops, run_outcomes, runs;
DROP FUNCTION refuse_domain_move, refuse_history_change;
DROP TYPE domain_status, page_status, task_status, task_outcome, run_status, worker_status;
