"""The report of a site: what its owner would want to repair, from what crawls found. Reads only."""
