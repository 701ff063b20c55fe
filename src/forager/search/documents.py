"""Converts database rows to documents for the search server. Pure."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from forager.search.products import price_range
from forager.search.stream import of_weight, write_stream
from forager.search.url_words import url_parts, url_words

TITLE, HEADING = "A", "B"
DEEPEST = 10


def page_document(row: Mapping[str, Any]) -> dict[str, Any]:
    return _common(row) | {
        "page_id": row["id"],
        "title": row["title"],
        "description": row["description"],
        "depth": row["depth"],
        "weight": weight_of(row["depth"]),
        "fetched_at": _format_time(row["fetched_at"]),
        "read_at": _format_time(row["read_at"]),
    }


def product_document(row: Mapping[str, Any]) -> dict[str, Any]:
    has_price = row["price"] is not None and row["currency"] is not None
    facts = ("brand", "category", "availability", "currency")
    return (
        _common(row)
        | {
            "product_id": row["id"],
            "product_name": row["product_name"],
            "description": row["description"],
            "created_at": _format_time(row["created_at"]),
            "updated_at": _format_time(row["updated_at"]),
            "page_id": row["page_id"],
            "price": row["price"],
            "price_range": price_range(row["price"], row["currency"]) if has_price else None,
        }
        | {fact: row[fact] for fact in facts}
        | {f"{fact}_folded": row[f"{fact}_folded"] for fact in facts}
    )


DOCUMENTS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "page": page_document,
    "product": product_document,
}


def weight_of(depth: int) -> float:
    """Returns the depth weight: five per cent less per link from a seed, as in PostgreSQL's ranking."""
    return round(1 / (1 + 0.05 * min(depth, DEEPEST)), 6)


def _common(row: Mapping[str, Any]) -> dict[str, Any]:
    lexemes, weights = row["lexemes"] or (), row["weights"] or ""
    language = row["language"]
    folded = (language or "").lower()
    return {
        "url": row["url"],
        "url_words": url_words(url_parts(row["url"])),
        "domain_id": row["domain_id"],
        "domain_name": row["domain_name"],
        "language": language,
        "languages": sorted({folded, folded.partition("-")[0]}),
        "config": row["config"],
        "words": write_stream(lexemes, row["places"] or ()),
        "title_words": of_weight(lexemes, weights, TITLE),
        "heading_words": of_weight(lexemes, weights, HEADING),
    }


def _format_time(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
