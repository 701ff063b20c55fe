import pickle
from dataclasses import fields, replace
from datetime import UTC, date, datetime
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from forager.engine.parser_protocol import pack, unpack
from forager.parsing.link_columns import LinkColumns
from forager.parsing.models import FoundImage, FoundLink, Listing, Reading
from forager.plugins.models import PluginError
from forager.products.models import Listed, Product
from forager.records.models import FoundRecord

TEXTS = st.text(st.characters(codec=None), max_size=8)
LINKS = st.lists(st.builds(FoundLink, TEXTS, TEXTS, st.sampled_from(["a", "a nofollow", "feed", "canonical"])))
PRODUCT = Product(
    name="Kettle",
    price=Decimal("12.50"),
    content_hash=b"0123456789abcdef",
    confidence=0.9,
    evidence={},
    problems=(),
    parser_name="generic",
    parser_version=1,
)
READING = Reading(
    listing=Listing("sitemap", 3600.0, "cut", 3),
    title="Kettles",
    description="All of them",
    canonical="https://a.example/kettles",
    language="en",
    headings="Kettles",
    text="Copper and tin",
    content_hash=b"fedcba9876543210",
    links=[FoundLink("/a", "One", "a"), FoundLink("/b", "", "a nofollow")],
    base_url="https://a.example/",
    is_noindex=True,
    is_nofollow=True,
    has_password_form=True,
    flags=("nul", "truncated"),
    simhash=-5,
    product=PRODUCT,
    images=[FoundImage("/k.png", "img", "primary", "A kettle", 640, 480)],
    author="Ann",
    published_at=datetime(2024, 3, 5, tzinfo=UTC),
    modified_at=datetime(2024, 3, 6, tzinfo=UTC),
    listed=(Listed("https://a.example/kettle", PRODUCT),),
    headline="Kettles of copper",
    site_name="Kettle shop",
    section="Kitchen",
    tags=("copper", "tin"),
    rating=Decimal("4.5"),
    rating_count=12,
    published_on=date(2024, 3, 5),
    modified_on=date(2024, 3, 6),
    structured_data=b"[{}]",
    challenge="captcha",
    markdown="# Kettles",
    records=(
        FoundRecord("kettles", "kettle", "K-1", {"name": "Kettle"}, {"name": "css h1: Kettle"}, ("missing:price",)),
    ),
    extractors=("kettles",),
    extractor_problems=("pots: too_slow",),
    plugin_errors=(PluginError("kettles", "extract_records", "KeyError: 'price'"),),
)


def send(reading: Reading) -> Reading:
    return unpack(pickle.loads(pickle.dumps(pack(reading), protocol=5)))


def test_a_reading_arrives_as_it_was_sent() -> None:
    assert all(getattr(READING, field.name) for field in fields(READING)), "every field is tried"
    assert send(READING) == READING


@given(LINKS)
@settings(max_examples=200, deadline=None)
def test_links_arrive_whatever_their_words_are(links: list[FoundLink]) -> None:
    arrived = send(replace(READING, links=links)).links
    assert list(arrived) == links
    assert all(isinstance(link, FoundLink) for link in arrived)


def test_no_links_and_one_without_words_are_not_the_same() -> None:
    assert list(send(replace(READING, links=[])).links) == []
    nameless = [FoundLink("", "", "a")]
    assert list(send(replace(READING, links=nameless)).links) == nameless


def test_columns_are_a_sequence_of_links() -> None:
    links = [FoundLink("/a", "One", "a"), FoundLink("/b", "Two", "feed"), FoundLink("/c", "", "a")]
    columns = LinkColumns.of(links)
    assert columns == links
    assert links == columns
    assert columns != links[:2]
    assert (len(columns), columns[1], columns[-1], columns[:2]) == (3, links[1], links[2], links[:2])
    assert [link.href for link in columns] == ["/a", "/b", "/c"]
    assert links[1] in columns
    assert repr(columns) == repr(links)
    assert LinkColumns.of(columns) is columns
