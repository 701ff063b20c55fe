"""Plug-ins: Python files of the data folder, and installed packages, that add to what Forager does.

A plug-in implements hooks (`specifications.py`) with `@forager.hookimpl`. `registry.py` finds and loads plug-ins in the
processes that need them, and calls them so that a failure costs its own result only.
"""
