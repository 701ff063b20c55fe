"""Proxies: rotation in a domain's pool, health, passwords. Opens no connections: `fetch` does."""
