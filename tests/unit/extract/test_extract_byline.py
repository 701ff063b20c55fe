"""Authors and dates, where a page says them for machines."""

import json
from datetime import UTC, datetime

import pytest
from tests.unit.extract.pages import reading

DAY = datetime(2024, 3, 5, 9, 30, tzinfo=UTC)


def data(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


PERSON = {"@type": "Person", "@id": "#ann", "name": "Ann Lee"}


@pytest.mark.parametrize(
    "html",
    [
        '<meta name="author" content="Ann Lee">',
        '<meta name="author" content="by Ann Lee">',
        '<meta property="article:author" content="https://x.example/ann"><meta name="dc.creator" content="Ann Lee">',
        data({"@type": "NewsArticle", "author": {"@type": "Person", "name": "Ann Lee"}}),
        data({"@type": ["Article", "Thing"], "author": "Ann Lee"}),
        data([{"@type": "WebSite", "name": "X"}, {"@type": "BlogPosting", "author": [PERSON]}]),
        data({"@graph": [PERSON, {"@type": "Article", "author": {"@id": "#ann"}}]}),
        '<body itemscope><div itemprop="author" itemscope><span itemprop="name">Ann Lee</span></div>',
        '<article><time datetime="2024-03-05"></time><a rel="author" href="/ann"> Ann Lee </a></article>',
    ],
)
def test_an_author(html: str) -> None:
    assert reading(html).author == "Ann Lee"


@pytest.mark.parametrize(
    "html",
    [
        "<p>by Ann Lee",
        '<meta name="author" content="@ann">',
        data({"@type": "Product", "review": {"@type": "Review", "author": "Ann Lee"}}),
        '<script type="application/ld+json">{"@type": "Article", "author": </script>',
        '<script type="application/ld+json">' + "[" * 100_000 + "</script>",
        data({"@type": "Article", "author": [7, None, True, {}, {"name": {}}]}),
    ],
)
def test_no_author(html: str) -> None:
    assert reading(html).author is None


def test_several_authors() -> None:
    both = {"@type": "Article", "author": [{"name": "Ann"}, {"name": "Bo"}, {"name": "Ann"}]}
    assert reading(data(both)).author == "Ann, Bo"


@pytest.mark.parametrize(
    "html",
    [
        '<meta property="article:published_time" content="2024-03-05T10:30:00+01:00">',
        data({"@type": "Article", "datePublished": "2024-03-05T09:30:00Z"}),
        '<p><time datetime="2024-03-05T09:30:00Z">5 March</time>',
        '<article itemscope><meta itemprop="datePublished" content="2024-03-05T09:30Z"></article>',
        '<time>yesterday</time><time datetime="2024-03-05 09:30">x</time>',
    ],
)
def test_when_it_was_published(html: str) -> None:
    assert reading(html).published_at == DAY


def test_the_address_tells_where_nothing_else_does() -> None:
    page = reading("<p>x", url="https://a.example/2024/03/05/x")
    assert page.published_at == datetime(2024, 3, 5, tzinfo=UTC)
    assert reading("<p>x").published_at is None


def test_when_it_was_changed() -> None:
    assert reading('<meta property="article:modified_time" content="2024-03-05T09:30Z">').modified_at == DAY
    assert reading(data({"@type": "WebPage", "dateModified": "2024-03-05T09:30Z"})).modified_at == DAY
