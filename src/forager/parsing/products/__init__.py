"""Extracts the product that a page sells, each field with a confidence and its source.

`find.py` is the pipeline; `parsing/sites/` has parsers for single sites, which may start from its results.
"""
