"""Parses pages from their bytes. Pure; no network, no database, and no page can make it hang.

The page parser is imported on first use: most processes of Forager need only names from here, and the import takes a
tenth of a second of CPU time and 9 MB.
"""
