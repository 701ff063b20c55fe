"""The headline of a page: what it is called, without the site's name."""

import pytest

from forager.parsing.head import read_head
from forager.parsing.headline import find_headline
from forager.parsing.tree import parse


def headline(html: str, site: str | None = None) -> str | None:
    tree = parse(html)
    return find_headline(tree, read_head(tree), site)


def page(title: str, *headings: str, shared: str = "") -> str:
    meta = f'<meta property="og:title" content="{shared}">' if shared else ""
    return f"<title>{title}</title>{meta}" + "".join(f"<h1>{heading}</h1>" for heading in headings)


def test_a_heading_that_is_part_of_a_title_is_it() -> None:
    assert headline(page("How to boil water (with pictures) - Acme", "How to Boil Water")) == "How to Boil Water"
    assert headline(page("Kettles | Acme", "How to boil water", shared="Kettles tested")) == "Kettles tested"
    assert headline(page("お湯の沸かし方のコツ | 台所", "お湯の沸かし方")) == "お湯の沸かし方"


def test_of_several_headings_the_one_that_the_title_begins_with_is_it() -> None:
    title = "Boiling water — the Acme handbook"
    assert headline(page(title, "the Acme handbook", "Boiling water¶")) == "Boiling water"


@pytest.mark.parametrize("site", ["Acme", "acme.com", "ACME - everything you need", None])
def test_the_name_of_the_site_is_no_headline(site: str | None) -> None:
    assert headline(page("How to boil water | Acme", "Acme"), site) == "How to boil water"


def test_a_heading_beside_the_headline_names_the_site() -> None:
    html = page("Silver Kettle: How to boil water", "Silver Kettle", shared="How to boil water")
    assert headline(html) == "How to boil water"


@pytest.mark.parametrize(
    ("title", "site", "expected"),
    [
        ("Water - and how to boil it - Acme", "Acme", "Water - and how to boil it"),
        ("Acme: Water", "Acme", "Acme: Water"),
        ("Acme | Water", "Acme", "Water"),
        ("How to boil water | Acme Kitchen", None, "How to boil water"),
        ("Acme - the site for boiling water at home", None, "Acme - the site for boiling water at home"),
        ("Twenty-one kettles", None, "Twenty-one kettles"),
        ("Acme", "Acme", "Acme"),
        ("烧水的方法_厨房网", "厨房网", "烧水的方法"),
    ],
)
def test_a_title_is_cut(title: str, site: str | None, expected: str) -> None:
    assert headline(page(title), site) == expected


def test_a_shared_title_goes_before_the_title() -> None:
    assert headline(page("Water, kettles and more", shared="How to boil water - Acme"), "Acme") == "How to boil water"
    assert headline(page("Acme - How to boil water", shared="Acme"), "Acme") == "How to boil water"


def test_without_any_title_a_heading_is_it() -> None:
    assert headline("<h1></h1><h1>Boats</h1>") == "Boats"
    assert headline("<p>x") is None
