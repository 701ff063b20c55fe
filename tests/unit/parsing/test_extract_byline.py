"""Authors and dates, where a page says them for machines."""

import json
from datetime import UTC, date, datetime

import pytest
from tests.unit.parsing.pages import reading

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
        '<p class="byline">By Ann Lee</p>',
        '<p class="byline">By <a href="/ann">Ann Lee</a> Games Editor</p>',
        '<div class="post-author">Posted by Ann Lee May 13, 2019</div>',
        '<span class="author-name">Ann Lee | The Site</span>',
        '<div class="comments"><span class=author>Bo</span></div><span class="author">Ann Lee</span>',
        '<meta name="twitter:label1" content="Written by"><meta name="twitter:data1" content="Ann Lee">',
        '<meta property="dc:creator twitter:x" content="Ann Lee"><meta name="author" content="Bo">',
        data([{"@type": "Article", "author": "The Site"}, {"@type": "Recipe", "author": "Ann Lee"}]),
        data({"@type": "Article", "author": {"@type": "Organization", "name": "X"}}) + "<b class=byline>Ann Lee</b>",
        data({"@type": "Article", "publisher": {"@type": "Organization", "name": "Ann Lee"}}),
        '<script type="application/ld+json">{"@type": "Article", // who\n"author": "Ann Lee",}</script>',
    ],
)
def test_an_author(html: str) -> None:
    assert reading(html).author == "Ann Lee"


@pytest.mark.parametrize(
    "name",
    ["Ursula K. Le Guin", "John le Carré", "Kim Il Sung", "Le Thi Hoa", "Le Mai Anh", "Da Chen", "Von Miller"],
)
def test_a_name_with_words_that_stand_before_dates_or_names(name: str) -> None:
    assert reading(f'<p class="byline">By {name}</p>').author == name
    assert reading(f'<p class="byline">{name}</p>').author == name
    assert reading(data({"@type": "Article", "author": {"@type": "Person", "name": name}})).author == name


@pytest.mark.parametrize(
    ("told", "name"), [("Da Wei Zhang", "Da Wei Zhang"), ("Von Ann Lee", "Ann Lee"), ("Por Ann", "Ann")]
)
def test_the_name_of_a_person_in_markup(told: str, name: str) -> None:
    assert reading(data({"@type": "Article", "author": {"@type": "Person", "name": told}})).author == name


@pytest.mark.parametrize(
    "text",
    [
        "Ann Lee on May 5", "Ann Lee On Friday", "Ann Lee in News", "Par Ann Lee le 5 mars", "Von Ann Lee am Montag",
        "von Ann Lee", "Di: Ann Lee", "VON Ann Lee", "Ann Lee le lundi 5 mars",
    ],
)  # fmt: skip
def test_a_name_without_what_stands_around_it(text: str) -> None:
    assert reading(f'<p class="byline">{text}</p>').author == "Ann Lee"


@pytest.mark.parametrize(
    "html",
    [
        "<p>by Ann Lee",
        '<meta name="author" content="@ann">',
        '<meta name="author" content="admin">',
        '<meta name="twitter:label1" content="Est. reading time"><meta name="twitter:data1" content="1 minute">',
        '<div class="author">Follow</div><div class="authority-control">Authority control</div>',
        data({"@type": "Product", "review": {"@type": "Review", "author": "Ann Lee"}}),
        '<script type="application/ld+json">{"@type": "Article", "author": </script>',
        '<script type="application/ld+json">' + "[" * 100_000 + "</script>",
        data({"@type": "Article", "author": [7, None, True, {}, {"name": {}}]}),
    ],
)
def test_no_author(html: str) -> None:
    assert reading(html).author is None


@pytest.mark.parametrize("kind", ["Question", "Answer", "Review", "UserReview", "Comment"])
@pytest.mark.parametrize("subject", ["Product", "Article"])
def test_who_writes_below_a_product_or_an_article_is_not_its_author(kind: str, subject: str) -> None:
    remark = {"@type": kind, "author": {"@type": "Person", "name": "Ann Lee"}}
    assert reading(data([{"@type": subject, "name": "A kettle"}, remark])).author is None
    name = "<p itemscope itemtype='https://schema.org/Person'><span itemprop=author>Ann Lee</span></p>"
    item = f"<div itemscope itemtype='https://schema.org/{kind}'>{name}</div>"
    assert reading(f"<div itemscope itemtype='https://schema.org/{subject}'>{item}</div>").author is None


@pytest.mark.parametrize("kind", ["Question", "Review"])
def test_a_page_of_one_question_or_review_is_by_who_wrote_it(kind: str) -> None:
    page = {"@type": "QAPage", "mainEntity": {"@type": kind, "author": {"@type": "Person", "name": "Ann Lee"}}}
    assert reading(data(page)).author == "Ann Lee"
    item = f"<div itemscope itemtype='http://data-vocabulary.org/{kind}'><p><span itemprop=author>Ann Lee</span></div>"
    assert reading(item).author == "Ann Lee"


def test_who_reviews_a_product_is_not_its_author() -> None:
    shown = '<div class="reviewerInfo"><span class="author">Ann Lee</span></div>'
    assert reading(data({"@type": "Product", "name": "A kettle"}) + shown).author is None
    assert reading(shown).author == "Ann Lee"


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


@pytest.mark.parametrize(
    "html",
    [
        '<meta property="article:published_time" content="2024-03-05T23:30:00-05:00">',
        '<meta itemprop="datePublished" content="2024-03-05T23:30:00-05:00">',
        data({"@type": "Article", "datePublished": "2024-03-05T23:30:00-05:00"}),
        '<p><time datetime="2024-03-05T23:30:00-05:00">5 March</time>',
    ],
)
def test_the_day_is_that_of_the_page(html: str) -> None:
    page = reading(html)
    assert page.published_on == date(2024, 3, 5)
    assert page.published_at == datetime(2024, 3, 6, 4, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        *("March 5, 2024", "Published on 5th March 2024", "5 Mar 2024", "Mar. 5, 2024 at 10:00"),
        *("5. März 2024", "5 mars 2024", "5 de marzo de 2024", "5 marzo 2024", "5 de março de 2024"),
        *("5 maart 2024", "5 marca 2024", "5 марта 2024", "5 Mart 2024", "2024年3月5日", "2024년 3월 5일"),
        *("05.03.2024", "2024-03-05", "2024/3/5"),
    ],
)
def test_a_day_for_people(text: str) -> None:
    assert reading(f'<p>x</p><span class="entry-date">{text}</span>').published_on == date(2024, 3, 5)


@pytest.mark.parametrize("text", ["03/05/2024", "5 Foo 2024", "32 March 2024", "2024", "5 March", "1.2.3"])
def test_no_day_for_people(text: str) -> None:
    assert reading(f'<p>x</p><span class="entry-date">{text}</span>').published_on is None


def test_dates_of_comments_and_events_are_not_the_page_s() -> None:
    html = '<div class=comments><time datetime="2020-01-01">x</time></div><p class="event-date">5 March 2024</p>'
    assert reading(html).published_on is None
