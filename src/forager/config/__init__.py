"""Settings in sections, with the values people write (`90d`, `10MiB`), and where they are read from.

Nothing is imported here: `forager --help` uses the durations and must not load pydantic.
"""
