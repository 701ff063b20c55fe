DROP FUNCTION failure_shape(text, text, text);
DROP FUNCTION stack_shape(text);
DROP FUNCTION error_shape(text);
DROP INDEX errors_task, crawl_tasks_ours, product_days_day;
DROP TABLE error_days, alert_targets, alert_mutes, alert_watches, alert_events, alerts, series_totals, series_days, series, series_parts;
