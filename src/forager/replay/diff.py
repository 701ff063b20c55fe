"""Compares a new parse of a stored body with the stored fields of its page, field by field. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from forager.frontier.details import details_of
from forager.frontier.store import flags_of
from forager.links.models import Selection, Sighting
from forager.parsing.models import Reading
from forager.products.models import pack_variant

MOST_EXAMPLES = 3
LONGEST_SHOWN = 200
FEW = 3
"""For a longer list, an example shows at most this many of the items that the other side lacks."""
DETAILS = ("headline", "site_name", "section", "tags", "rating", "rating_count", "published_on", "modified_on")
SIGNALS = (
    *("title", "description", "language", "content_hash", "simhash", "links_count", "flags"),
    *("canonical_url", "author", "published_at", "modified_at"),
    *DETAILS,
)
PRODUCT = (
    *("name", "price", "currency", "availability", "rating", "review_count", "brand", "category", "sku", "gtin"),
    *("description", "image_urls", "variants"),
    *("mpn", "regular_price", "unit_price", "unit", "seller", "condition", "shipping", "attributes"),
)
IMAGES = ("count", "primary", "urls", "alts")
Fields = dict[str, Any]


@dataclass(slots=True)
class ReplayProgress:
    """How far a replay has come, and what it found. Stored with it in the database."""

    pages: int = 0
    """Pages processed."""
    read: int = 0
    changed: int = 0
    """Pages with at least one field that is parsed differently."""
    written: int = 0
    """Pages whose new parse was written to the live tables."""
    versions: int = 0
    """Older versions that were read for the history of prices."""
    prices: int = 0
    """Rows that were added to it."""
    left: dict[str, int] = field(default_factory=dict)
    """Pages that were not parsed, or not written, by reason."""
    fields: dict[str, dict[str, int]] = field(default_factory=dict)
    """Field → `gained`, `lost`, `changed` → pages."""
    examples: dict[str, list[Fields]] = field(default_factory=dict)

    def leave(self, reason: str, pages: int = 1) -> None:
        self.left[reason] = self.left.get(reason, 0) + pages

    def note(self, url: str, old: Fields, new: Fields) -> list[str]:
        """Counts the fields that differ, with the first few as examples."""
        names = [name for name in new if old.get(name) != new[name]]
        self.read += 1
        self.changed += bool(names)
        for name in names:
            kind = kind_of(old.get(name), new[name])
            counts = self.fields.setdefault(name, {})
            counts[kind] = counts.get(kind, 0) + 1
            shown = self.examples.setdefault(name, [])
            if len(shown) < MOST_EXAMPLES:
                sides = old.get(name), new[name]
                shown.append({"url": url[:LONGEST_SHOWN], "old": _truncate(*sides), "new": _truncate(*reversed(sides))})
        return names

    def document(self) -> Fields:
        return asdict(self)


def kind_of(old: Any, new: Any) -> str:
    return "gained" if old is None else "lost" if new is None else "changed"


def known_fields(
    row: Mapping[str, Any], product: Mapping[str, Any] | None, images: Mapping[str, Any] | None = None
) -> Fields:
    """Returns the fields of a page, its product and its images, as the database has them."""
    signals = {name: plain(row[name]) for name in SIGNALS}
    documents = ("variants", "attributes")
    sold = product and {**product, **{name: json.loads(product[name]) for name in documents}}
    shown = {
        "count": len(images["urls"]) if images else None,
        "primary": images["primary_url"] if images else None,
        "urls": images["urls"] if images else None,
        "alts": images["alts"] if images else None,
    }
    return (
        signals
        | {f"product.{name}": plain(sold[name]) if sold else None for name in PRODUCT}
        | {f"images.{name}": plain(shown[name]) for name in IMAGES}
    )


def read_fields(reading: Reading, selection: Selection, url: str) -> Fields:
    """Returns the fields of a new parse, in the same shape. Images that were not extracted are left out, and so not
    compared."""
    signals = {
        "title": reading.title,
        "description": reading.description,
        "language": reading.language,
        "content_hash": reading.content_hash.hex(),
        "simhash": reading.simhash,
        "links_count": len(selection.links),
        "flags": list(flags_of(reading, selection)),
        "canonical_url": None if reading.canonical == url else reading.canonical,
        "author": reading.author,
        "published_at": reading.published_at,
        "modified_at": reading.modified_at,
    }
    details = details_of(reading)._asdict() | {"tags": reading.tags}
    signals |= {name: details[name] for name in DETAILS}
    found = reading.product if reading.product and reading.product.name else None
    product = {f"product.{name}": getattr(found, name) if found else None for name in PRODUCT}
    product["product.variants"] = [pack_variant(variant) for variant in found.variants] if found else None
    images = _image_fields(selection.images) if selection.images is not None else {}
    return {name: plain(value) for name, value in (signals | product | images).items()}


def record_fields(records: Iterable[tuple[str, str | None, Mapping[str, Any]]]) -> Fields:
    """Returns the fields of records as `EXTRACTOR.FIELD`, each given as extractor, key and fields: the value where a
    page has one record of the extractor, otherwise key → value."""
    by_extractor: dict[str, dict[str, Mapping[str, Any]]] = {}
    for extractor, key, fields in records:
        group = by_extractor.setdefault(extractor, {})
        group[key if key is not None else f"#{len(group)}"] = fields
    found: Fields = {}
    for extractor, group in by_extractor.items():
        names = dict.fromkeys(name for fields in group.values() for name in fields)
        for name in names:
            values = {key: plain(fields[name]) for key, fields in group.items() if fields.get(name) is not None}
            whole = next(iter(values.values()), None) if len(group) == 1 else values or None
            found[f"{extractor}.{name}"] = whole
    return found


def _image_fields(sightings: Sequence[Sighting]) -> Fields:
    return {
        "images.count": len(sightings) or None,
        "images.primary": min((each.url for each in sightings if each.image.image_type == "primary"), default=None),
        "images.urls": [each.url for each in sightings],
        "images.alts": [each.image.alt for each in sightings],
    }


def plain(value: Any) -> Any:
    """Converts to JSON form, so that stored and parsed values compare equal when they mean the same."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return _number(str(value))
    if isinstance(value, str) and value[:1].isdigit():
        return _number(value)
    if isinstance(value, Mapping):
        return dict(value) or None
    return (list(value) or None) if isinstance(value, list | tuple) else value


def _number(text: str) -> str:
    """Normalises decimals: `12.50` and `12.5000` are one price."""
    whole, dot, rest = text.partition(".")
    return f"{whole}.{rest.rstrip('0')}".rstrip(".") if dot and (whole + rest).isdigit() else text


def _truncate(value: Any, other: Any) -> Any:
    """Shortens a value so that it can be stored as an example."""
    if isinstance(value, list) and len(value) > FEW:
        own = [each for each in value if each not in (other or [])] or value
        return [_truncate(each, None) for each in own[:FEW]]
    return value[:LONGEST_SHOWN] if isinstance(value, str) else value
