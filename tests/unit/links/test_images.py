"""Sightings: normalised, each once, wherever the image lies; only what a run excludes by name is left out."""

from tests.builders import a_reading, a_spec, a_target

from forager.links.images import collect_images
from forager.links.scope import CrawlScope
from forager.parsing.models import FoundImage


def shown(*sources: str, exclude: tuple[str, ...] = ()) -> list[str]:
    found = [FoundImage(src, "img", "gallery", "") for src in sources]
    reach = CrawlScope.of(a_spec(exclude=exclude))
    return [each.url for each in collect_images(a_reading(images=found), a_target(), reach)]


def test_images_are_resolved_and_normalised() -> None:
    assert shown("b.jpg#x", "/c.jpg?utm_source=y", "//CDN.example/d.jpg") == [
        "http://a.example/b.jpg",
        "http://a.example/c.jpg",
        "http://cdn.example/d.jpg",
    ]


def test_one_image_in_two_spellings_is_one_and_keeps_what_both_say() -> None:
    found = [
        FoundImage("http://a.example/b.jpg", "og", "primary", ""),
        FoundImage("/b.jpg", "img", "gallery", "B", 9, 8),
    ]
    (each,) = collect_images(a_reading(images=found), a_target())
    assert each.image == FoundImage("http://a.example/b.jpg", "og", "primary", "B", 9, 8)


def test_what_is_no_web_address_or_the_page_itself_is_left_out() -> None:
    assert shown("ftp://a.example/b.jpg", "http://", "http://a.example/") == []


def test_excluded_images_are_left_out_and_others_need_no_scope() -> None:
    urls = ("/b.jpg", "http://elsewhere.example/c.png")
    assert shown(*urls, exclude=("*.png",)) == ["http://a.example/b.jpg"]
    assert len(shown(*urls)) == 2
