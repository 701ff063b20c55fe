"""The routes of Firecrawl's API, and what becomes of its options."""
