"""What a URL is, which spelling of it counts, and which domain it belongs to. Pure; no network, no database."""
