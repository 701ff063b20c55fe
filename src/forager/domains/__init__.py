"""Domains: their life cycle, leases, counters and robots.txt."""
