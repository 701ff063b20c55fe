"""Alerts: the rules, how long a condition has to last, and the history of each alert."""
