#!/bin/sh
# Crawls one site and exports what was found: pages.jsonl and images.csv in the current folder.
#
#     examples/crawl-a-site.sh https://example.com
#
# Ctrl-C stops it; the same command resumes.
set -eu
site=${1:?"usage: $0 URL"}

forager crawl "$site" --max-pages 1000 --depth 8
forager export pages --status fetched -o pages.jsonl
forager export images -o images.csv
