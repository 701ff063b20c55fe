"""Extractors: TOML files that say which pages have a record, and where its fields are."""
