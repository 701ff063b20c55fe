"""Site name, section, keywords and ratings, as pages say them."""

import json
from decimal import Decimal

import pytest
from tests.unit.parsing.pages import reading


def data(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


@pytest.mark.parametrize(
    "html",
    [
        '<meta property="og:site_name" content="The Site">',
        '<meta name="application-name" content="The Site">',
        data({"@type": "WebSite", "name": "The Site"}),
        data({"@type": "Article", "isPartOf": {"@type": "WebSite", "name": "The Site"}}),
        data({"@type": "Article", "publisher": {"@type": "Organization", "name": "The Site"}}),
        data({"@type": "WebSite", "name": "The Site - all there is"})
        + '<meta property=og:site_name content="The Site">',
        "<title>Ships | The Site</title>",
        "<title>The Site: Ships - and more</title>",
        "<title>All about ships from The Site</title>",
    ],
)
def test_the_name_of_the_site(html: str) -> None:
    assert reading(html, url="https://www.thesite.example/x").site_name == "The Site"


@pytest.mark.parametrize(
    "html", ["<title>Ships | Boats</title>", '<meta property="og:site_name" content="https://x.example/">', "<p>x"]
)
def test_no_name_of_the_site(html: str) -> None:
    assert reading(html, url="https://www.thesite.example/x").site_name is None


@pytest.mark.parametrize(
    "html",
    [
        '<meta property="article:section" content=" Harbour  News ">',
        data({"@type": "NewsArticle", "articleSection": ["Harbour News", "Ships"]}),
    ],
)
def test_the_section(html: str) -> None:
    assert reading(html).section == "Harbour News"


@pytest.mark.parametrize(
    "html",
    [
        '<meta name="keywords" content="Ships, lighthouse ,ships,">',
        '<meta property="article:tag" content="Ships"><meta property="article:tag" content="lighthouse">',
        data({"@type": "Article", "keywords": ["Ships", "lighthouse"]}),
        data({"@type": "Article", "keywords": "Ships;lighthouse"}),
    ],
)
def test_keywords(html: str) -> None:
    assert reading(html).tags == ("Ships", "lighthouse")


@pytest.mark.parametrize(
    ("rating", "found"),
    [
        ({"ratingValue": "4.5", "ratingCount": 12}, ("4.5", 12)),
        ({"ratingValue": "4,5", "reviewCount": "12 reviews"}, ("4.5", 12)),
        ({"ratingValue": 9, "bestRating": 10, "ratingCount": 3}, ("4.5", 3)),
        ({"ratingValue": 90, "bestRating": "100"}, ("4.5", None)),
        ({"ratingValue": 0, "ratingCount": 0}, (None, None)),
        ({"ratingValue": 7, "bestRating": 5}, (None, None)),
        ({"ratingValue": "many"}, (None, None)),
    ],
)
@pytest.mark.parametrize("kind", ["Recipe", "Book", "Product", "LocalBusiness"])
def test_ratings_of_anything_from_0_to_5(kind: str, rating: object, found: tuple[str | None, int | None]) -> None:
    page = reading(data({"@type": kind, "name": "x", "aggregateRating": rating}))
    assert page.rating == (Decimal(found[0]) if found[0] else None)
    assert page.rating_count == found[1]


def test_a_rating_in_microdata() -> None:
    page = reading(
        '<div itemscope itemtype="https://schema.org/Recipe"><div itemprop="aggregateRating" itemscope>'
        '<span itemprop="ratingValue">4.5</span> of 5 by <span itemprop="ratingCount">1</span></div></div>'
    )
    assert (page.rating, page.rating_count) == (Decimal("4.5"), 1)
