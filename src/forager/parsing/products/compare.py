"""Compares two parse results of one page field by field, to show what a new parser would change. Pure."""

from typing import Any, NamedTuple

from forager.products.models import FACTS, Product


class FieldChange(NamedTuple):
    field: str
    old: Any
    new: Any
    old_confidence: float
    new_confidence: float

    @property
    def kind(self) -> str:
        """Returns `gained`, `lost` or `changed`."""
        return "gained" if self.old is None else "lost" if self.new is None else "changed"


def compare(old: Product | None, new: Product | None) -> list[FieldChange]:
    """Returns the changes in field order; empty if there are none. A missing product counts as having lost all its
    fields."""
    found = []
    for field in FACTS:
        before, after = _value(old, field), _value(new, field)
        if before != after:
            found.append(FieldChange(field, before, after, _confidence(old, field), _confidence(new, field)))
    return found


def _value(product: Product | None, field: str) -> Any:
    value = getattr(product, field) if product is not None else None
    return None if value == () else value


def _confidence(product: Product | None, field: str) -> float:
    found = product.evidence.get(field) if product is not None else None
    return found[0].confidence if found else 0.0
