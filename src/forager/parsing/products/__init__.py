"""Products: what a page says about the thing it sells, each field with how sure we are and where it stands.

`find.py` is the line; `extract/sites/` has parsers for single sites, which may start from what is found here.
"""
