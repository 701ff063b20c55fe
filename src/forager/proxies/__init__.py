"""Proxies: whose turn it is in a domain's pool, their health, their passwords. Dials nobody: `fetch` does."""
