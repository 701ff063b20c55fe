"""Extracts labelled values: `Product code: 4711`, a row `Brand | Acme`, `EAN: 4006381333931` → claims.

The code a shop shows its customers is the one they order by; markup often has that of a size, or of a database row.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from forager.parsing.products.claims import Claim
from forager.parsing.products.item_fields import clean_field
from forager.parsing.products.label_words import LABELS
from forager.parsing.products.numbers import read_gtin
from forager.parsing.products.view import View
from forager.parsing.products.visible import is_outside_product

MOST_TEXT = 150_000
LONGEST_LABEL, LONGEST_VALUE = 40, 80
ABOVE = 200
"""Elements before the heading that may be about the product; earlier ones are menus."""
MANY_CODES = 3
"""With more codes, they belong to the entries of a list."""
SHOWN = 0.96
"""Higher than the confidence of the same value in markup."""
FIELDS = {name: field for field, names in LABELS.items() for name in names.split("|")}
BEGINNINGS = frozenset(
    begin
    for label in FIELDS
    for begin in (label[:2], label[:2].upper(), label[:2].capitalize(), *(mark + label[0] for mark in "〈【[("))
)
"""Beginnings of labels; a shop's name before them is accepted only if a colon follows."""
ATTRIBUTES = ("color", "material", "size", "weight", "dimensions")
MARKS = re.compile(r"[\s.:：#№\-]+")
ENDS = " \t:：#.*-–№〈<>【】[]()"
INSIDE = re.compile(r"^[〈【\[(]?\s*([^\d:：#|]{2,40}?)\s*(?:[:：#|]|\s(?=\S*\d))\s*#?\s*(\S[^|]{0,79}?)\s*[〉】\])]?$")
"""Label and value in one text."""
CODE = re.compile(r"[A-Za-z]{0,6}[\w./\-]*\d[\w./\-]*(?: [A-Z\d][A-Z\d./\-]*){0,3}(?![\w/])")
LONGEST_CODE = 40
DATE_OR_PRICE = re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,4}[.,]\d{2}|\d+%|[a-z]+-\d{1,2}")


def claims_of_labels(view: View) -> Iterator[Claim]:
    """Yields the labelled values in page order; codes of other products on the page are skipped."""
    found: dict[str, list[tuple[str, str]]] = {}
    attributes: dict[str, str] = {}
    for field, label, value, owner in _find_labels(view):
        if field in ATTRIBUTES:
            if field not in attributes and not is_outside_product(view, owner):
                attributes[field] = value
        elif (read := _read(field, value)) and not is_outside_product(view, owner):
            found.setdefault(field, []).append((read, label))
    for field, values in found.items():
        if field == "sku" and len({value for value, _ in values}) > MANY_CODES:
            continue
        value, label = values[0]
        yield Claim(field, value, SHOWN if field == "sku" else 0.7, f"label {label}")
    if attributes:
        yield Claim("attributes", attributes, 0.6, "label " + ", ".join(attributes))


def _find_labels(view: View) -> Iterator[tuple[str, str, str, int]]:
    """Yields field, label, value, and the element of the value."""
    if view.body_element is None:
        return
    runs = view.tree.runs(view.body_element, MOST_TEXT)
    waiting: tuple[str, str] | None = None
    first = view.heading - ABOVE
    for owner, text in runs:
        if owner < first or len(text) > LONGEST_VALUE + LONGEST_LABEL:
            waiting = None
            continue
        if waiting is not None:
            value = text.lstrip(ENDS)
            if not value:
                continue
            label, waiting = waiting, None
            if len(value) <= LONGEST_VALUE and _field_of(text) is None:
                yield *label, value.rstrip(" ,;"), owner
                continue
        if text[:2] not in BEGINNINGS and text[-1:] not in ":：":
            continue
        if len(text) <= LONGEST_LABEL and (field := _field_of(text)) is not None:
            waiting = (field, text.strip(ENDS))
        elif (
            _is_pair_candidate(text)
            and (pair := INSIDE.match(text)) is not None
            and (field := _field_of(pair[1])) is not None
        ):
            yield field, pair[1], pair[2], owner


def _is_pair_candidate(text: str) -> bool:
    return ":" in text or "：" in text or "#" in text or text[-1:].isdigit() or text[-2:-1].isdigit()


@lru_cache(8192)
def _field_of(label: str) -> str | None:
    """Returns the field of a label, which the shop's own name may precede or follow."""
    plain = MARKS.sub(" ", label.casefold()).strip(" 〈【[(*")
    field = FIELDS.get(plain)
    if field is not None or plain.count(" ") != 2 or any(map(str.isdigit, plain)):
        return field
    return FIELDS.get(plain.partition(" ")[2]) or FIELDS.get(plain.rpartition(" ")[0])


def _read(field: str, value: str) -> str | None:
    if field == "gtin":
        return read_gtin(value.partition(",")[0].strip(" ."))
    if field == "brand":
        return clean_field("brand", value) if len(value) <= 60 and not value.isdigit() and "://" not in value else None
    value = value.strip(ENDS)
    found = CODE.fullmatch(value) or (CODE.match(value) if field == "sku" else None)
    if found is None or len(found[0]) > LONGEST_CODE or len(found[0]) < 3 or DATE_OR_PRICE.fullmatch(found[0]):
        return None
    return found[0].strip(ENDS)


# Elements called so -------------------------------------------------------------------------------------------------

CODE_NAMES = (
    *("product-ref", "productref", "product-code", "productcode", "prd-code", "product-number", "productnumber"),
    *("article-number", "articlenumber", "item-number", "itemnumber", "product-sku", "productsku", "catnumber"),
)
CODE_ATTRIBUTES = ("class", "id", "data-qa-qualifier", "data-qa", "data-test", "data-testid")


def claims_of_names(view: View) -> Iterator[Claim]:
    """Yields a short code from an element named as product code."""
    for number in view.tree.find(CODE_ATTRIBUTES, CODE_NAMES)[:MOST_NAMED]:
        text = view.tree.text(number)
        if len(text) <= LONGEST_CODE and not is_outside_product(view, number) and (code := _read("sku", text)):
            yield Claim("sku", code, 0.6, f"css {view.tree.tag(number)}")
            return


MOST_NAMED = 10


# The address --------------------------------------------------------------------------------------------------------

NAMED = re.compile(
    r"[?&](?:sku|pid|productid|product_id|itemid|item_id|artikel|artnr|id|product|item)=([\w\-]{4,20})", re.I
)
NUMBERED = re.compile(r"(?<![\d])([A-Za-z]{0,2}\d{5,14})(?![\d])")


def claims_of_address(view: View) -> Iterator[Claim]:
    """Yields a number of the URL that also occurs by itself in the page: in a form, in data, in visible text."""
    address = view.url.partition("://")[2].partition("#")[0]
    path = address.partition("?")[0].partition("/")[2]
    given = [match[1] for match in NAMED.finditer(address)]
    given += [match[1] for match in reversed(list(NUMBERED.finditer(path)))]
    for number in dict.fromkeys(given[:MANY_CODES]):
        if any(map(str.isdigit, number)) and _is_standalone(number.encode(), view.body):
            yield Claim("sku", number, 0.5, "url")
            return


def _is_standalone(number: bytes, body: bytes) -> bool:
    """Whether the number is in quotes or between tags, not part of a URL."""
    place = body.find(number)
    for _ in range(MOST_PLACES):
        if place < 0:
            return False
        before, after = body[place - 1 : place], body[place + len(number) : place + len(number) + 1]
        if before in BEFORE_NUMBER and after in BEHIND_NUMBER:
            return True
        place = body.find(number, place + 1)
    return False


MOST_PLACES = 50
BEFORE_NUMBER = frozenset(b"%c" % sign for sign in b"\"'>: #\n\t(")
BEHIND_NUMBER = frozenset(b"%c" % sign for sign in b"\"'<, ;)\n\r\t.}")
