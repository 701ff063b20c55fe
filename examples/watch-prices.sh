#!/bin/sh
# Watches the prices of a shop. The first run crawls it, each later run visits it again and prints what changed since.
#
#     examples/watch-prices.sh https://shop.example
#
# Once a day from cron:
#     15 6 * * *   FORAGER_CONTACT=you@example.com /opt/forager/examples/watch-prices.sh https://shop.example
set -eu
shop=${1:?"usage: $0 URL [HOW-OFTEN]"}
how_often=${2:-20h} # a little less than the time between two runs

if forager domain "$shop" >/dev/null 2>&1; then
    forager refresh --quiet "$shop"
else
    forager crawl --quiet "$shop"
    forager domain "$shop" set --refresh "$how_often" >/dev/null
fi
forager products changes --of price --since 24h
