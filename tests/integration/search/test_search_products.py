"""Products are found by name, brand, category and description; with facets, and within prices."""

from datetime import timedelta
from typing import Any

import pytest
from tests.integration.search.conftest import IN_POSTGRES

from forager import clock
from forager.search import products

pytestmark = pytest.mark.both_servers


@pytest.fixture
async def shop(library: Any) -> Any:
    facts = {"currency": "EUR", "availability": "in_stock", "category": "Kitchen"}
    await library.a_product("http://a.example/1", "Blue kettle", "Boils water.", brand="Tansu", price=19.9, **facts)
    await library.a_product("http://a.example/2", "Red kettle", "For tea.", brand="Norrby", price=49, **facts)
    await library.a_product(
        "http://b.example/3",
        "Oak chair",
        "Goes well with a kettle.",
        brand="O'Neill \\ Söhne",
        price=120,
        currency="USD",
    )
    await library.index()
    return library


def urls(page: Any) -> list[str]:
    return [hit.url.removeprefix("http://") for hit in page.hits]


async def test_names_weigh_more_than_descriptions(shop: Any) -> None:
    page = await shop.search_products("kettles")
    assert urls(page)[2] == "b.example/3"
    assert page.total == 3
    assert urls(await shop.search_products("tansu kettle")) == ["a.example/1"]
    assert urls(await shop.search_products('"goes well"')) == ["b.example/3"]


async def test_facets(shop: Any) -> None:
    facets = (await shop.search_products("kettle")).facets
    assert facets["brand"] == {"Tansu": 1, "Norrby": 1, "O'Neill \\ Söhne": 1}
    assert facets["category"] == {"Kitchen": 2}
    assert facets["availability"] == {"in_stock": 2}
    assert facets["price"] == {"10–25 EUR": 1, "25–50 EUR": 1, "100–250 USD": 1}


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"brand": "tansu"}, ["a.example/1"]),
        ({"brand": "o'neill \\ söhne"}, ["b.example/3"]),
        ({"brand": "'; DROP TABLE products; --\0"}, []),
        ({"category": "kitchen", "lowest_price": 20.0}, ["a.example/2"]),
        ({"highest_price": 20.0}, ["a.example/1"]),
        ({"availability": "in_stock", "currency": "USD"}, []),
        ({"currency": "usd"}, ["b.example/3"]),
        ({"domain": "b.example"}, ["b.example/3"]),
        ({"domain": "unknown.example"}, []),
        ({"language": "de"}, []),
    ],
)
async def test_filters(shop: Any, filters: dict[str, Any], found: list[str]) -> None:
    assert urls(await shop.search_products("kettle", **filters)) == found


async def test_a_hit_tells_the_facts(shop: Any) -> None:
    hit = (await shop.search_products("blue")).hits[0]
    assert hit.details["price"] == 19.9
    assert (hit.details["brand"], hit.details["availability"]) == ("Tansu", "in_stock")
    assert hit.title.text == "Blue kettle"


async def test_a_product_that_changed_is_found_by_its_new_name(shop: Any) -> None:
    """Also where the page's own text is the same as before."""
    await shop.conn.execute(
        "UPDATE products SET product_name = 'Green jug', updated_at = now() + interval '1 second'"
        " WHERE url = 'http://a.example/1'"
    )
    await shop.conn.execute("UPDATE pages SET fetched_at = now() WHERE url = 'http://a.example/1'")
    await shop.index()
    assert urls(await shop.search_products("jug")) == ["a.example/1"]
    assert urls(await shop.search_products("blue")) == []


async def test_a_hit_has_the_number_of_an_image_with_a_thumbnail(shop: Any) -> None:
    """The dashboard shows it. An image that was only seen has none."""
    page = await shop.conn.fetchrow("SELECT id, domain_id FROM pages WHERE url = 'http://a.example/1'")
    seen, kept = [
        await shop.conn.fetchval(
            "INSERT INTO images (url_hash, url, domain_id, thumbnail_ref) VALUES ($1, 'http://a.example/i', $2, $3)"
            " RETURNING id",
            number.to_bytes(16),
            page["domain_id"],
            thumbnail,
        )
        for number, thumbnail in ((1, None), (2, "thumbnail"))
    ]
    for image in (seen, kept):
        await shop.conn.execute(
            "INSERT INTO page_images (domain_id, page_id, image_id, position, discovery_type, image_type, alt_text)"
            " VALUES ($1, $2, $3, 0, 'img', 'primary', '')",
            page["domain_id"],
            page["id"],
            image,
        )
    found = {hit.title.text: hit.details["image_id"] for hit in (await shop.search_products("kettle")).hits}
    assert found == {"Blue kettle": kept, "Red kettle": None, "Oak chair": None}


@pytest.fixture
async def market(library: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """More than are ranked, and the best of them was read last."""
    monkeypatch.setattr(products, "MOST_RANKED", 5)
    for number in range(12):
        await library.a_product(
            f"http://a.example/{number}", f"Pot {number}", "China for a teapot.", price=5 + 20 * number
        )
    await library.a_product("http://a.example/best", "Teapot", "Of china.", price=300, currency="EUR")
    await library.index()
    await library.conn.execute("ANALYZE indexed_products")
    return library


@IN_POSTGRES
async def test_of_more_than_are_ranked_those_with_the_words_in_their_name_are(market: Any) -> None:
    page = await market.search_products("teapot")
    assert urls(page)[0] == "a.example/best"
    assert (page.is_estimate, page.looked_at, len(page.hits)) == (True, 5, 5)


async def test_a_range_of_prices_is_looked_for_among_all(market: Any) -> None:
    """Not only among those that would have been ranked without it."""
    page = await market.search_products("teapot", lowest_price=250.0)
    assert (urls(page), page.total, page.looked_at) == (["a.example/best"], 1, None)
    page = await market.search_products("teapot", lowest_price=40.0, highest_price=70.0)
    assert sorted(urls(page)) == ["a.example/2", "a.example/3"]
    assert (await market.search_products("teapot", lowest_price=20.0, highest_price=10.0)).total == 0


@IN_POSTGRES
async def test_what_was_cut_off_is_told_also_where_nothing_is_left(market: Any) -> None:
    page = await market.search_products('"teapot china"')
    assert (page.hits, page.total, page.is_estimate, page.looked_at) == ([], 0, True, 5)


async def test_products_that_changed_lately(market: Any) -> None:
    await market.conn.execute(
        "UPDATE products SET updated_at = now() - interval '40 days' WHERE url <> 'http://a.example/3'"
    )
    await market.conn.execute("UPDATE pages SET fetched_at = now()")
    await market.index()
    page = await market.search_products("teapot", since=clock.now() - timedelta(days=1))
    assert (urls(page), page.looked_at) == (["a.example/3"], None)


async def test_products_page_by_page(shop: Any) -> None:
    first = await shop.search_products("kettle", limit=2)
    rest = await shop.search_products("kettle", limit=2, after=first.next_after)
    assert len({*urls(first), *urls(rest)}) == 3
    assert rest.next_after is None
