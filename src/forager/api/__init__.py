"""The HTTP API for programs and the dashboard: parses requests, calls the services, returns JSON. No domain logic."""
