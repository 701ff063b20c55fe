"""Stored versions of pages: which there are, their bodies, and what changed between two of them."""
