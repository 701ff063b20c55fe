"""Parses and normalises URLs, and determines the domain of each. Pure; no network, no database."""
