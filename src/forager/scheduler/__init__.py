"""Periodic jobs: what a job is, when each runs, and the locks that let one process at a time run it."""
