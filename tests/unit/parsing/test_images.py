"""Images are found as pages write them: the largest of several, none that only counts visits, and soon."""

import time
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_fetched

from forager.parsing.images import LAZY, MOST_IMAGES, SETS, SUSPECT, images_in_python, select_srcset
from forager.parsing.links import clean_href
from forager.parsing.models import FoundImage
from forager.parsing.page import read
from forager.parsing.tree import parse


def images(html: str) -> list[FoundImage]:
    body = html.encode()
    found = read(a_fetched(200, body, content_type="text/html; charset=utf-8"), keyword_words=10).images
    return list(found)


def one(html: str) -> FoundImage:
    (image,) = images(html)
    return image


def sources(html: str) -> list[tuple[str, str]]:
    return [(image.src, image.discovery_type) for image in images(html)]


def test_an_image_with_all_a_page_says_of_it() -> None:
    image = one('<img src="/a.jpg" alt="  A   sky\nover hills " width="640" height=480px>')
    assert image == FoundImage("/a.jpg", "img", "primary", "A sky over hills", 640, 480)


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<img src=a.jpg srcset="s.jpg 320w, l.jpg 1280w, m.jpg 640w">', ("l.jpg", "srcset")),
        ('<img src=a.jpg srcset="a.jpg, b.jpg 2x">', ("b.jpg", "srcset")),
        ('<img src=a.jpg srcset="a.jpg 1x,b.jpg 3x,c.jpg 2x">', ("b.jpg", "srcset")),
        ('<img src=a.jpg srcset="/w_300,h_200/a.jpg 300w, /w_900,h_600/a.jpg 900w">', ("/w_900,h_600/a.jpg", "srcset")),
        ('<img src="data:image/gif;base64,R0" data-src="late.jpg">', ("late.jpg", "lazy")),
        ('<img src="tiny.jpg" data-original="full.jpg">', ("full.jpg", "lazy")),
        ('<img class=lazy data-srcset="s.jpg 100w, l.jpg 900w">', ("l.jpg", "lazy")),
        ("<picture><source srcset='b.avif 900w'><img src=a.jpg></picture>", ("b.avif", "picture")),
        ("<picture><source srcset='b.webp'><img src=a.jpg></picture>", ("a.jpg", "img")),
        ("<picture><source srcset='b.webp'><img alt=x></picture>", ("b.webp", "picture")),
        ("<div style=\"color:red;background-image: url('b.jpg')\">x</div>", ("b.jpg", "background")),
        ('<div style="background:#fff url(b.jpg) no-repeat">x</div>', ("b.jpg", "background")),
        ("<meta property=og:image content=http://c.example/o.jpg>", ("http://c.example/o.jpg", "og")),
        ("<meta name=twitter:image content=/t.jpg>", ("/t.jpg", "twitter")),
        ("<link rel=image_src href=/l.jpg>", ("/l.jpg", "link")),
    ],
)
def test_ways_to_name_an_image(html: str, found: tuple[str, str]) -> None:
    assert sources(html) == [found]


@pytest.mark.parametrize(
    "html",
    [
        "<img>",
        '<img src="">',
        "<img src=data:image/png;base64,AAAA>",
        "<img src=javascript:x>",
        "<img src=t.gif width=1 height=1>",
        "<img src=t.gif width=0 height=0>",
        "<img src=i.png width=16 height=16>",
        "<img src=/static/favicon.png>",
        "<img src=/i/icon-cart.svg?v=3>",
        "<img src=/i/spacer.gif>",
        '<div style="background-image:url(data:image/png;base64,AA)">x</div>',
        '<div style="width:100px">x</div>',
        "<svg><image href=a.png></svg>",
    ],
)
def test_what_is_no_picture_to_keep(html: str) -> None:
    assert images(html) == []


def test_what_a_page_calls_its_picture_is_the_primary_one() -> None:
    html = "<meta property=og:image content=/hero.jpg><img src=/first.jpg><img src=/hero.jpg alt=Hero height=600>"
    hero, first = images(html)
    assert (hero.src, hero.image_type, hero.discovery_type, hero.alt, hero.height) == (
        "/hero.jpg",
        "primary",
        "og",
        "Hero",
        600,
    )
    assert (first.src, first.image_type) == ("/first.jpg", "gallery")


def test_without_a_name_the_first_that_is_not_small_is_primary() -> None:
    html = "<img src=/s.jpg width=96 height=64><img src=/thumbs/b.jpg><img src=/c.jpg><img src=/d.jpg>"
    assert [image.image_type for image in images(html)] == ["thumbnail", "thumbnail", "primary", "gallery"]


@pytest.mark.parametrize(
    "data",
    [
        '{"@type":"Product","image":"/p.jpg"}',
        '{"@type":"Product","image":["/p.jpg"]}',
        '{"@graph":[{"@type":"WebPage"},{"@type":"Product","image":{"@type":"ImageObject","url":"/p.jpg"}}]}',
        '[{"@type":"Article","image":[{"contentUrl":"/p.jpg"}]}]',
    ],
)
def test_structured_data_names_images_where_the_head_does_not(data: str) -> None:
    html = f'<script type="application/ld+json">{data}</script><img src=/other.jpg>'
    assert sources(html) == [("/p.jpg", "jsonld"), ("/other.jpg", "img")]


@pytest.mark.parametrize("data", ["", "{", '{"image":' * 2000, '{"image":7}', '{"image":{"url":[]}}', '"image"'])
def test_structured_data_that_is_none(data: str) -> None:
    html = f'<script type="application/ld+json">{data}</script><img src=/other.jpg>'
    assert sources(html) == [("/other.jpg", "img")]


def test_an_image_shown_twice_counts_once() -> None:
    assert sources("<img src=/a.jpg><img src=/a.jpg>") == [("/a.jpg", "img")]


def test_there_is_an_end() -> None:
    assert len(images("".join(f"<img src=/{number}.jpg>" for number in range(500)))) == MOST_IMAGES
    assert len(images("".join(f"<meta property=og:image content=/{n}.jpg>" for n in range(500)))) == MOST_IMAGES
    assert len(one("<img src=a.jpg alt='" + "x" * 5000 + "'>").alt) == 512


@pytest.mark.parametrize(
    "html",
    [
        '<img src=x srcset="' + "a," * 200_000 + '">',
        '<img src=x srcset="' + "a 1x " * 100_000 + '">',
        '<div style="background:' + "url(" * 100_000 + '">',
        '<div style="' + "background:" * 100_000 + '">',
        "<picture>" + "<source srcset=a>" * 20_000 + "<img src=b></picture>",
    ],
)
def test_hostile_pages_end_soon(html: str) -> None:
    before = time.process_time()
    images(html)
    assert time.process_time() - before < 2.0


@given(st.text(max_size=200))
def test_any_srcset_gives_a_candidate_of_its_own_or_none(srcset: str) -> None:
    widest = select_srcset(srcset)
    assert widest is None or widest[1] in srcset


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=20))
def test_any_attributes_are_read(src: str, srcset: str, width: str) -> None:
    for image in images(f'<img src="{src}" srcset="{srcset}" width="{width}" style="background:url({src})">'):
        assert image.src
        assert image.width is None or 0 <= image.width < 100_000


def test_a_picture_named_twice_stays_the_primary_one() -> None:
    html = "<meta property=og:image content=/hero.jpg><meta name=twitter:image content=/hero.jpg><img src=/a.jpg>"
    assert [(image.src, image.image_type) for image in images(html)] == [
        ("/hero.jpg", "primary"),
        ("/a.jpg", "gallery"),
    ]


def test_the_one_picture_of_a_recipe_before_the_cut_out_for_social_networks() -> None:
    data = '<script type="application/ld+json">{"@type":"Recipe","image":"/soup.jpg"}</script>'
    assert sources(data + "<meta property=og:image content=/crop.jpg>") == [
        ("/soup.jpg", "jsonld"),
        ("/crop.jpg", "og"),
    ]


def test_the_logo_of_the_publisher_is_not_the_picture() -> None:
    data = '{"@graph":[{"@type":"Organization","image":"/mark.png"},{"@type":"Article","image":"/photo.jpg"}]}'
    html = f'<script type="application/ld+json">{data}</script>'
    assert sources(html) == [("/photo.jpg", "jsonld")]


def test_without_a_name_a_picture_of_the_article_before_logos() -> None:
    html = "<img src=/logo.png><img src=/top.jpg><article><img src=/inside.jpg></article>"
    assert [image.src for image in images(html) if image.image_type == "primary"] == ["/inside.jpg"]


@pytest.mark.parametrize("src", ["/ice-cream-1x1-1200.jpg", "/crystal-clear-lake.jpg", "/a/icons-of-rock/band.jpg"])
def test_a_word_in_the_name_makes_no_noise(src: str) -> None:
    assert sources(f"<img src={src}>") == [(src, "img")]


ATTRIBUTES = st.lists(
    st.tuples(
        st.sampled_from(
            ["src", "srcset", "data-src", "data-srcset", "data-original", "alt", "title", "width", "style"]
        ),
        st.text(max_size=12)
        | st.sampled_from(
            [
                "/a.jpg 2x, /b.jpg 1.5x",
                "/a,b.jpg 10w,/c.jpg 20w",
                "data:x",
                "java\tscript:x",
                "/icon.png",
                "640.5 px",
                "url(/b.jpg)",
                " /a.jpg\n",
                "a&amp;b",
                ",,a 3w,",
                "12345px",
                "a 1x b 2x",
            ]
        ),
    ),
    max_size=5,
)


@given(st.lists(st.tuples(st.sampled_from(["img", "source", "picture", "p"]), ATTRIBUTES), max_size=5))
def test_native_and_python_choose_the_same(elements: list[tuple[str, list[tuple[str, str]]]]) -> None:
    html = "".join(
        "<" + tag + "".join(f' {name}="{escape(value)}"' for name, value in given) + ">" for tag, given in elements
    )
    tree = parse(html)
    asked = (SETS, LAZY, SUSPECT)
    assert tree.pictures(*asked, clean_href, 10, True) == images_in_python(tree, *asked, 10, with_styles=True)
