"""Runs, workers and their counters: the metrics behind displays, reports and budgets."""
