"""Scrape, crawl and map in the shape of Firecrawl's API, so that programs written for it work with an own instance."""
