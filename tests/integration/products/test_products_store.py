"""What is written of products: once when seen, again when something changed, never by a late or repeated record."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import asyncpg
import pytest
from tests.ground import Ground

from forager.errors import NotFoundError
from forager.products import queries as control
from forager.products.models import Evidence, Product, Variant
from forager.products.store import ProductVisit, store

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
KETTLE = Product(
    name="Kettle",
    price=Decimal("19.99"),
    currency="EUR",
    availability="in_stock",
    rating=Decimal("4.50"),
    review_count=12,
    brand="Acme",
    image_urls=("https://a.example/1.jpg",),
    variants=(Variant(name="red", price=Decimal(20)),),
    content_hash=bytes(16),
    confidence=0.9,
    evidence={"name": (Evidence("Kettle", "jsonld $.name", 0.95),)},
)


class Shop:
    """One domain with pages, and what visits to them saw."""

    def __init__(self, conn: Any, domain: int, pages: list[int]) -> None:
        self.conn, self.domain, self.pages = conn, domain, pages
        self.visits = 0

    def sight(
        self,
        product: Product | None,
        *,
        page: int = 0,
        at: datetime | None = None,
        task: int | None = None,
        **more: Any,
    ) -> ProductVisit:
        self.visits += 1
        url = f"http://shop.example/{page + 1}"
        return ProductVisit(
            self.domain,
            self.pages[page],
            task or self.visits,
            url,
            product,
            at or NOON + timedelta(hours=self.visits),
            **more,
        )

    async def sees(self, product: Product | None, **more: Any) -> int:
        return await store(self.conn, [self.sight(product, **more)])

    async def product(self) -> Any:
        return await self.conn.fetchrow("SELECT * FROM products WHERE page_id = $1", self.pages[0])

    async def prices(self) -> list[tuple[Any, ...]]:
        rows = await self.conn.fetch("SELECT price, availability FROM product_prices ORDER BY id")
        return [(row["price"], row["availability"]) for row in rows]

    async def days(self) -> tuple[int | None, ...]:
        return tuple(
            await self.conn.fetchrow("SELECT sum(attempts)::int, sum(found)::int, sum(valid)::int FROM product_days")
        )


@pytest.fixture
async def shop(ground: Ground) -> Shop:
    domain = await ground.a_domain("shop.example", pages=3)
    rows = await ground.conn.fetch("SELECT id FROM pages WHERE domain_id = $1 ORDER BY id", domain)
    return Shop(ground.conn, domain, [row["id"] for row in rows])


def costs(price: str, **more: Any) -> Product:
    return replace(KETTLE, price=Decimal(price), content_hash=price.encode().ljust(16, b"."), **more)


async def test_the_first_sight_is_the_first_row_of_prices(shop: Shop) -> None:
    assert await shop.sees(KETTLE) == 0
    assert await shop.prices() == [(Decimal("19.99"), "in_stock")]
    row = await shop.product()
    assert (row["product_name"], row["price"], row["created_at"]) == ("Kettle", Decimal("19.99"), row["updated_at"])


async def test_the_same_again_moves_only_when_it_was_seen(shop: Shop) -> None:
    await shop.sees(KETTLE)
    before = await shop.product()
    assert await shop.sees(KETTLE) == 0
    after = await shop.product()
    assert len(await shop.prices()) == 1
    assert after["updated_at"] == before["updated_at"]
    assert after["last_seen_at"] > before["last_seen_at"]


async def test_another_price_is_a_row_with_what_was_before(shop: Shop) -> None:
    await shop.sees(KETTLE)
    assert await shop.sees(costs("24.99")) == 1
    row = await shop.conn.fetchrow("SELECT * FROM product_prices ORDER BY id DESC LIMIT 1")
    assert (row["old_price"], row["price"], row["is_first"], row["is_correction"]) == (
        Decimal("19.99"),
        Decimal("24.99"),
        False,
        False,
    )
    product = await shop.product()
    assert product["updated_at"] == product["last_seen_at"] > product["created_at"]


async def test_sold_out_is_a_row_too(shop: Shop) -> None:
    await shop.sees(KETTLE)
    await shop.sees(replace(KETTLE, availability="out_of_stock"))
    assert await shop.prices() == [(Decimal("19.99"), "in_stock"), (Decimal("19.99"), "out_of_stock")]


async def test_a_page_that_names_no_price_any_more_is_no_change_of_it(shop: Shop) -> None:
    await shop.sees(KETTLE)
    assert await shop.sees(replace(KETTLE, price=None, currency=None, problems=("no_price",))) == 0
    row = await shop.product()
    assert (row["price"], row["problems"], row["is_valid"]) == (Decimal("19.99"), ["no_price"], False)


async def test_what_else_a_page_says_is_kept_and_follows_it(shop: Shop) -> None:
    told = replace(
        KETTLE,
        mpn="K-1",
        regular_price=Decimal("29.99"),
        unit_price=Decimal("4.20"),
        unit="kg",
        seller="Acme Shop",
        condition="used",
        shipping=Decimal("4.90"),
        attributes={"color": "blue", "material": "steel"},
    )
    await shop.sees(told)
    product = await control.find_product(shop.conn, (await shop.product())["url"])
    assert (product["mpn"], product["seller"], product["condition"]) == ("K-1", "Acme Shop", "used")
    assert (product["regular_price"], product["shipping"]) == (Decimal("29.99"), Decimal("4.90"))
    assert (product["unit_price"], product["unit"]) == (Decimal("4.20"), "kg")
    assert product["attributes"] == {"color": "blue", "material": "steel"}
    await shop.sees(replace(told, regular_price=None, attributes={}))
    product = await control.find_product(shop.conn, product["url"])
    assert (product["regular_price"], product["attributes"], product["mpn"]) == (None, {}, "K-1")
    assert len(await shop.prices()) == 1


async def test_an_amount_that_is_none_fails_no_batch(shop: Shop) -> None:
    odd = replace(KETTLE, regular_price=Decimal("NaN"), shipping=Decimal(-1), unit_price=Decimal("1e30"))
    await shop.sees(replace(odd, seller="x" * 1000, attributes={str(number): "y" * 1000 for number in range(1000)}))
    row = await shop.product()
    assert (row["regular_price"], row["shipping"], row["unit_price"]) == (None, None, None)
    assert len(row["seller"]) == 255


async def test_a_late_record_writes_nothing(shop: Shop) -> None:
    await shop.sees(KETTLE)
    await shop.sees(costs("24.99"))
    assert await shop.sees(costs("5.00"), at=NOON) == 0
    assert (await shop.product())["price"] == Decimal("24.99")
    assert len(await shop.prices()) == 2


async def test_the_same_visit_read_again_is_a_correction_and_no_change_of_the_shop(shop: Shop) -> None:
    first = shop.sight(KETTLE)
    await store(shop.conn, [first])
    assert await store(shop.conn, [first]) == 0
    await store(shop.conn, [replace(first, product=costs("18.00"))])
    rows = await shop.conn.fetch("SELECT price, is_correction FROM product_prices ORDER BY id")
    assert [tuple(row) for row in rows] == [(Decimal("19.9900"), False), (Decimal("18.0000"), True)]
    assert await control.list_changes(shop.conn) == []


async def test_two_at_once_write_one_row(shop: Shop, pool: asyncpg.Pool) -> None:
    async def record(sight: ProductVisit) -> None:
        async with pool.acquire() as conn, conn.transaction():
            await store(conn, [sight])

    sights = [shop.sight(KETTLE, at=NOON) for _ in range(6)]
    await asyncio.gather(*map(record, sights))
    assert await shop.prices() == [(Decimal("19.99"), "in_stock")]
    dearer = [shop.sight(costs("30.00"), at=NOON + timedelta(hours=1)) for _ in range(6)]
    await asyncio.gather(*map(record, dearer))
    assert [price for price, _ in await shop.prices()] == [Decimal("19.99"), Decimal("30.00")]


async def test_what_a_rolled_back_transaction_saw_was_never_seen(shop: Shop) -> None:
    transaction = shop.conn.transaction()
    await transaction.start()
    await shop.sees(KETTLE)
    await transaction.rollback()
    assert await shop.product() is None
    assert await shop.prices() == []


async def test_prices_of_all_currencies_fit(shop: Shop) -> None:
    await store(
        shop.conn,
        [shop.sight(costs("12500000000.00", currency="IDR")), shop.sight(costs("1.2505", currency="KWD"), page=1)],
    )
    rows = await shop.conn.fetch("SELECT price FROM products ORDER BY id")
    assert [row["price"] for row in rows] == [Decimal("12500000000"), Decimal("1.2505")]


async def test_a_product_that_is_missed_counts_as_tried_in_vain(shop: Shop) -> None:
    await shop.sees(KETTLE)
    await shop.sees(None, is_revisit=True)
    await shop.sees(None, page=1, is_revisit=True)
    assert await shop.days() == (2, 1, 1)


async def test_a_page_that_did_not_change_still_sells_it(shop: Shop) -> None:
    await shop.sees(KETTLE)
    await shop.sees(None, is_revisit=True, is_unchanged=True)
    row = await shop.product()
    assert row["last_seen_at"] > row["created_at"]
    assert await shop.days() == (1, 1, 1)


async def test_a_drop_of_the_success_rate_shows(shop: Shop) -> None:
    await shop.conn.execute(
        "INSERT INTO product_days SELECT $1, current_date - 3, 'generic', 1, 100, 100, 95", shop.domain
    )
    for _ in range(6):
        await shop.sees(replace(KETTLE, problems=("no_price",)))
    (row,) = await control.list_parsers(shop.conn)
    assert (row["attempts"], row["valid"], row["has_dropped"]) == (6, 0, True)


async def test_products_are_found_and_listed_as_asked(shop: Shop) -> None:
    await store(
        shop.conn, [shop.sight(KETTLE), shop.sight(costs("5.00", name="Cup", availability="out_of_stock"), page=1)]
    )
    await shop.sees(costs("24.99"))
    assert [
        row["product_name"] for row in await control.list_seen_products(shop.conn, availability="out_of_stock")
    ] == ["Cup"]
    assert [row["product_name"] for row in await control.list_seen_products(shop.conn, change="up")] == ["Kettle"]
    assert await control.list_seen_products(shop.conn, change="down") == []
    product, prices = await control.list_prices(shop.conn, "http://shop.example/1")
    assert product["evidence"]["name"][0] == ["Kettle", "jsonld $.name", 0.95]
    assert [row["price"] for row in prices] == [Decimal("19.99"), Decimal("24.99")]
    (change,) = await control.list_changes(shop.conn, of="price")
    assert (change["old_price"], change["price"]) == (Decimal("19.99"), Decimal("24.99"))
    with pytest.raises(NotFoundError):
        await control.find_product(shop.conn, "99999")


async def test_a_list_brings_a_product_whose_page_nobody_read(shop: Shop) -> None:
    await shop.sees(KETTLE, is_listed=True)
    row = await shop.product()
    assert (row["product_name"], row["is_listed"]) == ("Kettle", True)
    assert await shop.prices() == [(Decimal("19.99"), "in_stock")]
    assert await shop.days() == (None, None, None)  # no parser was tried at its page


async def test_lists_may_change_what_lists_said(shop: Shop) -> None:
    await shop.sees(KETTLE, is_listed=True)
    assert await shop.sees(costs("24.99"), is_listed=True) == 1
    assert (await shop.product())["price"] == Decimal("24.99")


async def test_the_own_page_has_the_last_word(shop: Shop) -> None:
    await shop.sees(KETTLE, is_listed=True)
    assert await shop.sees(costs("22.00")) == 1
    assert await shop.sees(costs("24.99"), is_listed=True) == 0
    row = await shop.product()
    assert (row["price"], row["is_listed"]) == (Decimal("22.00"), False)
    last = await shop.conn.fetchrow("SELECT * FROM product_prices ORDER BY id DESC LIMIT 1")
    assert (last["price"], last["is_correction"]) == (Decimal("22.00"), True), "no event: the shop changed nothing"


async def test_a_page_and_a_list_in_one_batch_are_one_sight(shop: Shop) -> None:
    own, listed = shop.sight(costs("22.00")), shop.sight(KETTLE, is_listed=True)
    await store(shop.conn, [own, listed])
    assert (await shop.product())["price"] == Decimal("22.00")


async def test_a_page_that_never_gave_its_listed_product_is_not_tried_in_vain(shop: Shop) -> None:
    await shop.sees(KETTLE, is_listed=True)
    await shop.sees(None, is_revisit=True)
    assert await shop.days() == (None, None, None)


async def shown(shop: Shop) -> tuple[bool, datetime | None]:
    """Whether the list says that the price is on the page, and when it was last read."""
    [row] = await control.list_seen_products(shop.conn)
    return row["is_price_current"], row["price_seen_at"]


async def test_a_price_that_left_the_page_says_when_it_was_last_seen(shop: Shop) -> None:
    await shop.sees(KETTLE)
    first = (await shop.product())["last_seen_at"]
    assert await shown(shop) == (True, first)
    await shop.sees(replace(KETTLE, price=None, currency=None, problems=("no_price",), content_hash=bytes([1] * 16)))
    row = await shop.product()
    assert (row["price"], row["last_seen_at"] > first) == (Decimal("19.99"), True)
    assert await shown(shop) == (False, first)
    found = await control.find_product(shop.conn, str(row["id"]))
    assert (found["is_price_current"], found["price_seen_at"]) == (False, first)
    await shop.sees(costs("24.99"))
    assert await shown(shop) == (True, (await shop.product())["last_seen_at"])


async def test_a_page_that_did_not_change_says_nothing_new_of_a_price_it_did_not_name(shop: Shop) -> None:
    await shop.sees(KETTLE)
    seen = (await shop.product())["last_seen_at"]
    await shop.sees(replace(KETTLE, price=None, problems=("no_price",)))
    await shop.sees(None, is_revisit=True, is_unchanged=True)
    assert await shown(shop) == (False, seen)


async def test_a_page_that_did_not_change_still_names_its_price(shop: Shop) -> None:
    await shop.sees(KETTLE)
    await shop.sees(None, is_revisit=True, is_unchanged=True)
    assert await shown(shop) == (True, (await shop.product())["last_seen_at"])


async def test_a_page_without_its_product_says_since_when_also_if_it_is_unchanged_then(shop: Shop) -> None:
    await shop.sees(KETTLE)
    seen = (await shop.product())["last_seen_at"]
    await shop.sees(None, is_revisit=True)
    missing = (await shop.product())["missing_since"]
    assert missing > seen
    await shop.sees(None, is_revisit=True, is_unchanged=True)
    await shop.sees(None, is_revisit=True)
    row = await shop.product()
    assert (row["last_seen_at"], row["missing_since"], row["is_price_current"]) == (seen, missing, False)
    await shop.sees(KETTLE)
    row = await shop.product()
    assert (row["missing_since"], row["is_price_current"]) == (None, True)


async def test_the_price_of_a_page_that_is_gone_is_not_current(shop: Shop) -> None:
    await shop.sees(KETTLE)
    await shop.conn.execute("UPDATE pages SET status = 'gone' WHERE id = $1", shop.pages[0])
    assert (await shown(shop))[0] is False
