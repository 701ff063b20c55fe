"""Prices read from older versions of pages: which rows the history of a product lacks. Pure but for the statements.

Rows of the history never change, so what is read later is added beside them: a row has the time of its visit and is
marked, the rows after it keep what was known when they were written.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from forager.db import statements
from forager.db.query import BulkCommand, Query
from forager.db.types import Connection

SQL = statements.load("forager.products", "backfill.sql")
CENTS = Decimal("0.0001")
HIGHEST = Decimal(10) ** 15
"""Prices from this value on are discarded."""


class Offer(NamedTuple):
    """What a product costs; None: not known."""

    price: Decimal | None
    currency: str | None
    availability: str | None


NOTHING = Offer(None, None, None)


@dataclass(frozen=True, slots=True)
class PastVisit:
    """What an older version of a product's page says."""

    page_id: int
    task_id: int
    seen_at: datetime
    offer: Offer


class KnownPrice(NamedTuple):
    """A row of the history."""

    product_id: int
    task_id: int | None
    seen_at: datetime
    price: Decimal | None
    currency: str | None
    availability: str | None

    @property
    def offer(self) -> Offer:
        return Offer(self.price, self.currency, self.availability)


class Held(NamedTuple):
    """A product under lock."""

    id: int
    domain_id: int
    page_id: int
    task_id: int | None
    last_seen_at: datetime
    price: Decimal | None
    currency: str | None
    availability: str | None

    @property
    def offer(self) -> Offer:
        return Offer(self.price, self.currency, self.availability)


class PriceColumns(NamedTuple):
    """The columns of `add_past_prices`."""

    domain_id: list[int]
    product_id: list[int]
    task_id: list[int | None]
    seen_at: list[datetime]
    price: list[Decimal | None]
    currency: list[str | None]
    availability: list[str | None]
    is_correction: list[bool]
    old_price: list[Decimal | None]
    old_currency: list[str | None]
    old_availability: list[str | None]


class PastPrice(NamedTuple):
    """A row to be added."""

    task_id: int | None
    seen_at: datetime
    offer: Offer
    old: Offer
    is_correction: bool
    """The visit has a row already, which says something else."""


HOLD_PRODUCTS = Query(SQL["hold_products"], Held)
KNOWN_PRICES = Query(SQL["known_prices"], KnownPrice)
ADD_PAST_PRICES = BulkCommand(SQL["add_past_prices"], PriceColumns)


def missing_prices(product: Held, history: Sequence[KnownPrice], visits: Sequence[PastVisit]) -> list[PastPrice]:
    """Returns the rows that the history lacks: where a visit saw something else than the row in force then says. The
    last one restores what the newest visit saw, if the rows added would leave something else in force."""
    timeline = sorted([(row.seen_at, row.offer) for row in history], key=lambda entry: entry[0])
    known = {row.task_id for row in history}
    found: list[PastPrice] = []

    def add(task_id: int | None, seen_at: datetime, offer: Offer) -> None:
        at = next((at for at in range(len(timeline), 0, -1) if timeline[at - 1][0] <= seen_at), 0)
        old = timeline[at - 1][1] if at else NOTHING
        offer = Offer(
            old.price if offer.price is None else offer.price,
            old.currency if offer.currency is None else offer.currency,
            old.availability if offer.availability is None else offer.availability,
        )
        if offer != old:
            timeline.insert(at, (seen_at, offer))
            found.append(PastPrice(task_id, seen_at, offer, old, task_id in known))

    for visit in sorted(visits, key=lambda visit: (visit.seen_at, visit.task_id)):
        add(visit.task_id, visit.seen_at, rounded(visit.offer))
    if found:
        add(product.task_id, product.last_seen_at, product.offer)
    return found


def rounded(offer: Offer) -> Offer:
    """Returns an offer as the columns hold it."""
    price = offer.price
    if price is None or not price.is_finite() or not 0 <= price < HIGHEST:
        return offer._replace(price=None)
    return offer._replace(price=price.quantize(CENTS))


async def add_past(conn: Connection, visits: Sequence[PastVisit]) -> int:
    """Adds to the history what older versions say, and returns the number of rows. Products themselves stay as the
    newest visit saw them; pages without a product are left out."""
    by_page: dict[int, list[PastVisit]] = defaultdict(list)
    for visit in visits:
        by_page[visit.page_id].append(visit)
    held = await HOLD_PRODUCTS.fetch(conn, list(by_page))
    known: dict[int, list[KnownPrice]] = defaultdict(list)
    for row in await KNOWN_PRICES.fetch(conn, [each.domain_id for each in held], [each.id for each in held]):
        known[row.product_id].append(row)
    rows = [(each, row) for each in held for row in missing_prices(each, known[each.id], by_page[each.page_id])]
    if rows:
        await ADD_PAST_PRICES.execute(conn, _columns(rows))
    return len(rows)


def _columns(rows: Sequence[tuple[Held, PastPrice]]) -> PriceColumns:
    return PriceColumns(
        domain_id=[product.domain_id for product, _ in rows],
        product_id=[product.id for product, _ in rows],
        task_id=[row.task_id for _, row in rows],
        seen_at=[row.seen_at for _, row in rows],
        price=[row.offer.price for _, row in rows],
        currency=[row.offer.currency for _, row in rows],
        availability=[row.offer.availability for _, row in rows],
        is_correction=[row.is_correction for _, row in rows],
        old_price=[row.old.price for _, row in rows],
        old_currency=[row.old.currency for _, row in rows],
        old_availability=[row.old.availability for _, row in rows],
    )
