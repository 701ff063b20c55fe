"""What older versions add to a history: in its place, once, and without changing what is in force now."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from forager.products.backfill import Held, KnownPrice, Offer, PastPrice, PastVisit, missing_prices

START = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def offer(price: str | None) -> Offer:
    return Offer(None if price is None else Decimal(price), "EUR", "in_stock")


def known(number: int, price: str) -> KnownPrice:
    return KnownPrice(1, number, day(number), *offer(price))


def visit(number: int, price: str | None) -> PastVisit:
    return PastVisit(1, number, day(number), offer(price))


def product(price: str, last: int = 10) -> Held:
    return Held(1, 1, 1, last, day(last), *offer(price))


def added(found: list[PastPrice]) -> list[tuple[int | None, str, bool]]:
    return [(row.task_id, str(row.offer.price), row.is_correction) for row in found]


def test_changes_between_known_ones_are_found() -> None:
    found = missing_prices(product("12"), [known(1, "10"), known(5, "12")], [visit(3, "11"), visit(2, "10")])
    assert added(found) == [(3, "11.0000", False)]
    assert found[0].old == offer("10")


def test_what_was_before_the_first_is_found() -> None:
    found = missing_prices(product("12"), [known(5, "12")], [visit(1, "10"), visit(2, "10"), visit(3, "11")])
    assert added(found) == [(1, "10.0000", False), (3, "11.0000", False)]
    assert found[0].old == Offer(None, None, None)


def test_nothing_is_added_twice() -> None:
    history = [known(1, "10"), known(5, "12")]
    visits = [visit(3, "11"), visit(4, "11.00"), visit(7, "12")]
    found = missing_prices(product("12"), history, visits)
    assert added(found) == [(3, "11.0000", False)]
    history += [KnownPrice(1, row.task_id, row.seen_at, *row.offer) for row in found]
    assert missing_prices(product("12"), history, visits) == []


def test_the_newest_visit_stays_in_force() -> None:
    """A better parser reads a sale that nobody saw then, between the last change and the newest visit."""
    found = missing_prices(product("12"), [known(1, "12")], [visit(4, "9")])
    assert added(found) == [(4, "9.0000", False), (10, "12", False)]


def test_a_visit_that_is_known_otherwise_is_corrected() -> None:
    found = missing_prices(product("12"), [known(1, "10"), known(5, "12")], [visit(1, "11")])
    assert added(found) == [(1, "11.0000", True)]


def test_what_a_version_does_not_say_is_what_was_known() -> None:
    history = [known(1, "10"), known(5, "12")]
    assert missing_prices(product("12"), history, [visit(3, None)]) == []
    assert missing_prices(product("12"), history, [PastVisit(1, 3, day(3), Offer(Decimal("NaN"), None, None))]) == []
    assert missing_prices(product("12"), [], [PastVisit(1, 3, day(3), Offer(None, None, None))]) == []
