"""Forager: a self-hosted crawl platform. `ARCHITECTURE.md` tells where everything lives."""

__version__ = "0.1.0"
