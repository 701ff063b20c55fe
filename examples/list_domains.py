"""Lists all domains by the HTTP API: name, state and pages that were crawled, tab-separated.

    export FORAGER_TOKEN=$(forager token create alice "list of domains")
    python examples/list_domains.py http://127.0.0.1:8600

Every list of the API is read in this way: page by page, each beginning after the `next` of the one before.
"""

import json
import os
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any


def list_rows(base: str, path: str, token: str) -> Iterator[dict[str, Any]]:
    query: dict[str, str] = {"limit": "1000"}
    while True:
        address = f"{base}{path}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=60) as response:
            page = json.load(response)
        yield from page["items"]
        if page["next"] is None:
            return
        query["after"] = page["next"]


def main(base: str = "http://127.0.0.1:8600") -> None:
    for domain in list_rows(base.rstrip("/"), "/api/domains", os.environ["FORAGER_TOKEN"]):
        print(domain["name"], domain["status"], domain["pages_crawled"], sep="\t")


if __name__ == "__main__":
    main(*sys.argv[1:])
