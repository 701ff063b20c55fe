"""Read: what a page says, from its bytes. Pure; no network, no database, and no page can make it hang.

What reads whole pages is loaded when it is first asked for: most processes of Forager need only names from here, and
it is a tenth of a second of processor time and 9 MB.
"""
