"""HTTP client: one request returns one response or raises one typed error. No other package opens HTTP connections
to the outside."""
