"""Reads pages with Forager's parser, without a crawl or a database: what they are about, and what they sell.

    python examples/read_pages.py https://shop.example/p/1 https://shop.example/p/2

`forager.read` takes the bytes of a page and its address; where they come from is up to you. This fetches the few pages
that it is given by name. To fetch many, crawl: `forager crawl` knows robots.txt and keeps a pace.
"""

import sys
import urllib.request

import forager


def main(urls: list[str]) -> None:
    for url in urls:
        with urllib.request.urlopen(url, timeout=30) as response:
            page = forager.read(response.read(), response.url, response.headers["Content-Type"])
        print(f"{page.title} [{page.language}], {len(page.text.split())} words, {len(page.links)} links")
        for product in page.products:
            print(f"  {product.name}: {product.price} {product.currency}, {product.availability}")


if __name__ == "__main__":
    main(sys.argv[1:])
