"""A folder of saved pages as a web."""

from pathlib import Path

import pytest
from bench.saved import BASE, add_base, find_pages, saved_sites

from forager_playground import make_key


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "below").mkdir()
    for number in range(10):
        name = f"below/{number}.html" if number % 2 else f"{number}.html"
        (tmp_path / name).write_text(f"<html><head><title>{number}</title></head>" + "x" * 1000 * number)
    (tmp_path / "1.expected.html").write_text("what should be read")
    (tmp_path / "notes.txt").write_text("no page")
    return tmp_path


def test_pages_are_found_at_every_depth_and_expectations_are_none(folder: Path) -> None:
    assert [path.stem for path in find_pages(folder)] == ["0", "2", "4", "6", "8", "1", "3", "5", "7", "9"]


def test_every_page_is_on_one_site_and_linked_from_its_index(folder: Path) -> None:
    sites = saved_sites(folder, 3)
    key = make_key({f"http://127.0.3.{site.number}:80": site for site in sites}, 1)
    assert len(key.expected_success()) == 10 + 3
    assert sorted(path.stem for site in sites for path in site.files) == [str(number) for number in range(10)]


def test_sites_have_about_the_same_mix_of_sizes(folder: Path) -> None:
    means = [sum(path.stat().st_size for path in site.files) / len(site.files) for site in saved_sites(folder, 2)]
    assert max(means) - min(means) <= 1000


def test_a_folder_of_few_pages_has_as_many_sites(folder: Path) -> None:
    assert len(saved_sites(folder, 100)) == 10


def test_pages_keep_their_bytes_but_for_the_base(folder: Path) -> None:
    site = saved_sites(folder, 1)[0]
    answer = site.answer("/p/3", "")
    assert answer.body.replace(BASE, b"") == site.files[2].read_bytes()
    assert answer.content_type == "text/html"


@pytest.mark.parametrize("target", ["/p/11", "/p/0", "/p/01", "/other", "/p/1?x=1"])
def test_what_was_not_saved_is_missing(folder: Path, target: str) -> None:
    path, _, query = target.partition("?")
    assert saved_sites(folder, 1)[0].answer(path, query).status == 404


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<html><HEAD lang=en><base href=/a>", b"<html><HEAD lang=en>" + BASE + b"<base href=/a>"),
        (b"<!DOCTYPE html><header>", b"<!DOCTYPE html>" + BASE + b"<header>"),
        (b"just text", BASE + b"just text"),
    ],
)
def test_the_base_comes_first_in_the_head(body: bytes, expected: bytes) -> None:
    assert add_base(body) == expected
