"""What a piece of a list says of pages and of domains."""

from forager.seeds.found import Seed
from forager.seeds.load import sort_seeds


def test_seeds_are_sorted_by_page_and_domain() -> None:
    links, seeded = sort_seeds(
        [Seed("https://a.example/", None), Seed("https://a.example/", 5), Seed("https://www.a.example/", 9)]
    )
    assert [link.url for link in links.values()] == ["https://a.example/", "https://www.a.example/"]
    assert [(name, d.rank, d.pages) for name, d in seeded.items()] == [("a.example", 5, 2)]
