"""Products are found by name, brand, category and description; with facets, and within prices."""

from typing import Any

import pytest

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


async def test_products_page_by_page(shop: Any) -> None:
    first = await shop.search_products("kettle", limit=2)
    rest = await shop.search_products("kettle", limit=2, after=first.next_after)
    assert len({*urls(first), *urls(rest)}) == 3
    assert rest.next_after is None
