"""Runs, workers and what they came to: the numbers behind displays, reports and budgets."""
