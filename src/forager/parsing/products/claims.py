"""Merges the claims of several sources into one product. The highest confidence wins, agreement raises it, the other
claims are kept as evidence."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from forager.parsing.structured.items import sanitize_text
from forager.products.models import Evidence

MOST_EVIDENCE = 6
LONGEST_EVIDENCE = 200
SUREST = 0.99
CONTRADICTED = 0.85
"""Factor on a confidence when another good source disagrees."""
GOOD = 0.7


class Claim(NamedTuple):
    field: str
    value: Any
    confidence: float
    where: str


class FieldValue(NamedTuple):
    value: Any
    confidence: float
    evidence: tuple[Evidence, ...]


def resolve_claims(claims: Iterable[Claim]) -> dict[str, FieldValue]:
    by_field: dict[str, list[Claim]] = {}
    for claim in claims:
        by_field.setdefault(claim.field, []).append(claim)
    return {name: _resolve_field(name, found) for name, found in by_field.items()}


def _resolve_field(name: str, claims: Sequence[Claim]) -> FieldValue:
    if len(claims) == 1:
        return FieldValue(claims[0].value, round(claims[0].confidence, 2), (_evidence(claims[0]),))
    ranked = sorted(_drop_bad_prices(name, claims), key=lambda claim: -claim.confidence)
    groups: dict[Any, list[Claim]] = {}
    for claim in ranked:
        groups.setdefault(_comparison_key(claim), []).append(claim)
    best = max(groups.values(), key=_combine)
    confidence = _combine(best)
    if name == "attributes":
        return FieldValue(
            _merged(ranked), round(confidence, 2), tuple(_evidence(claim) for claim in ranked[:MOST_EVIDENCE])
        )
    if any(group is not best and group[0].confidence >= GOOD for group in groups.values()) and name not in LONG:
        confidence *= CONTRADICTED
    others = [claim for group in groups.values() if group is not best for claim in group]
    evidence = [_evidence(claim) for claim in (*best, *others)]
    return FieldValue(best[0].value, round(confidence, 2), tuple(evidence[:MOST_EVIDENCE]))


def _merged(ranked: Sequence[Claim]) -> dict[str, str]:
    """Returns all values; for duplicates, the one with the highest confidence."""
    merged: dict[str, str] = {}
    for claim in ranked:
        for name, value in claim.value.items():
            merged.setdefault(name, value)
    return merged


LONG = frozenset({"description", "image_urls", "variants", "category", "name"})
"""Fields with many valid wordings, where sources differ without contradicting each other."""


def _combine(claims: Sequence[Claim]) -> float:
    """Combines the confidence of agreeing sources; the same source twice is not agreement."""
    doubt = 1.0
    for confidence in {claim.where.partition(" ")[0]: claim.confidence for claim in reversed(claims)}.values():
        doubt *= 1 - confidence
    return min(SUREST, 1 - doubt)


def _drop_bad_prices(name: str, claims: Sequence[Claim]) -> Sequence[Claim]:
    """Drops a price of zero, or in cents, if another source states a plain price."""
    if name != "price" or len(claims) == 1:
        return claims
    positive = [claim for claim in claims if claim.value > 0] or claims
    amounts = {claim.value for claim in positive}
    return [claim for claim in positive if not _is_in_cents(claim.value, amounts)] or positive


def _is_in_cents(amount: Decimal, others: set[Decimal]) -> bool:
    return amount == amount.to_integral_value() and amount / 100 in others and amount > 0


def _comparison_key(claim: Claim) -> Any:
    value = claim.value
    if isinstance(value, str) and claim.field not in {"currency", "gtin", "availability"}:
        return "".join(filter(str.isalnum, value.casefold()))[:300]
    return tuple(value.items()) if isinstance(value, dict) else value


def _evidence(claim: Claim) -> Evidence:
    value = claim.value
    if isinstance(value, dict):
        shown = ", ".join(f"{name}: {each}" for name, each in value.items())
    elif isinstance(value, tuple):
        shown = f"{len(value)}: " + ", ".join(_format_value(each) for each in value[:3])
    else:
        shown = str(value)
    return Evidence(
        sanitize_text(shown[:LONGEST_EVIDENCE]),
        sanitize_text(claim.where[:LONGEST_EVIDENCE]),
        round(claim.confidence, 2),
    )


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else value.name or value.sku or "?"
