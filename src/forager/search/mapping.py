"""Index settings and mappings for the search server.

Products are mapped as in the first design of this crawler, except for ids, which are 64 bits wide. Further fields hold
the words PostgreSQL extracted from a document (`stream.py`), and the values used for filters and facets.
"""

from typing import Any

WORDS = {"type": "text", "analyzer": "lexemes"}
TEXT = {"type": "text", "analyzer": "standard"}
KEYWORD = {"type": "keyword"}
COMMON: dict[str, Any] = {
    "url": {"type": "keyword", "index": False, "doc_values": False},
    "url_words": {"type": "keyword", "doc_values": False},
    "domain_id": {"type": "long"},
    "domain_name": KEYWORD,
    "language": KEYWORD,
    "languages": KEYWORD,
    "config": KEYWORD,
    "words": WORDS,
}
PAGES: dict[str, Any] = {
    "page_id": {"type": "long"},
    "title": TEXT,
    "description": TEXT,
    "depth": {"type": "short"},
    "weight": {"type": "float"},
    "fetched_at": {"type": "date"},
    "read_at": {"type": "date"},
    "title_words": WORDS,
    "heading_words": WORDS,
    **COMMON,
}
PRODUCTS: dict[str, Any] = {
    "product_id": {"type": "long"},
    "product_name": TEXT,
    "description": TEXT,
    "brand": KEYWORD,
    "category": KEYWORD,
    "domain_name": KEYWORD,
    "created_at": {"type": "date"},
    "updated_at": {"type": "date"},
    "page_id": {"type": "long"},
    "availability": KEYWORD,
    "price": {"type": "double"},
    "currency": KEYWORD,
    "price_range": KEYWORD,
    "brand_folded": KEYWORD,
    "category_folded": KEYWORD,
    "availability_folded": KEYWORD,
    "currency_folded": KEYWORD,
    "title_words": WORDS,
    "heading_words": WORDS,
    **COMMON,
}
KINDS: dict[str, dict[str, Any]] = {"page": PAGES, "product": PRODUCTS}
PLURALS = {"page": "pages", "product": "products"}
SETTINGS: dict[str, Any] = {
    "index": {
        "auto_expand_replicas": "0-1",
        # How long the version of a deleted document is kept: a delayed write with an older version is rejected.
        "gc_deletes": "1h",
    },
    "analysis": {
        "tokenizer": {"at_spaces": {"type": "char_group", "tokenize_on_chars": [" "], "max_token_length": 4096}},
        "filter": {"gaps": {"type": "stop", "stopwords": ["_"]}},
        "analyzer": {"lexemes": {"type": "custom", "tokenizer": "at_spaces", "filter": ["gaps"]}},
    },
}


def describe(kind: str, *, owner: str, writers: str) -> dict[str, Any]:
    """Returns the request body that creates an index of a kind. Strict: an unmapped field is our bug and fails at
    once."""
    mappings = {"dynamic": "strict", "_meta": {"forager": owner}, "properties": KINDS[kind]}
    return {"settings": SETTINGS, "mappings": mappings, "aliases": {writers: {}}}
