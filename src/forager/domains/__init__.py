"""Domains as entities: their life, leases, counters and robots.txt."""
